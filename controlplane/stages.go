package main

import (
	"os"
	"strings"

	node "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

// printStages writes the stages that ship with kwok's module: kwok has none built in and takes them by --config.
func printStages([]string) int {
	stages := []string{
		node.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		pod.DefaultPodReady, pod.DefaultPodComplete, pod.DefaultPodDelete,
	}
	if _, err := os.Stdout.WriteString(strings.Join(stages, "\n---\n")); err != nil {
		return 1
	}
	return 0
}
