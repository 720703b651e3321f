// Command controlplane is every part of an embedded Kubernetes control plane in one binary.
//
// The parts are the upstream ones, compiled from their Go modules. A part is chosen by the name the binary was started
// under (a link called "kube-apiserver" runs kube-apiserver) or by the first argument.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// parts maps a part's name to what runs it; each is given its full argument list and returns an exit code.
var parts = map[string]func(args []string) int{
	"etcd":                    runEtcd,
	"kube-apiserver":          cobraPart(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraPart(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          cobraPart(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kwok":                    runKwok,
	"kwok-stages":             printStages,
}

func main() {
	args := os.Args
	run, found := parts[filepath.Base(args[0])]
	if !found && len(args) > 1 {
		args = args[1:]
		run, found = parts[args[0]]
	}
	if !found {
		fmt.Fprintf(os.Stderr, "usage: controlplane PART [ARGUMENTS]; the parts are: %s\n",
			strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
		os.Exit(2)
	}
	os.Args = args
	holdLifeline()
	os.Exit(run(args))
}

func cobraPart(command func() *cobra.Command) func([]string) int {
	return func([]string) int { return cli.Run(command()) }
}

func runEtcd(args []string) int {
	etcdmain.Main(args)
	return 0
}
