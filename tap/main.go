// Command tap stands between kube-scheduler and an extender: it relays bytes, writes down what was said, and spoils
// replies on request.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// options is what the command line says.
type options struct {
	listen, upstream, control                                string
	certificate, key                                         string
	upstreamCA, upstreamCertificate, upstreamKey, serverName string
	insecure                                                 bool
}

func main() {
	// Almost nothing lives long here, so the heap stays small anyway; collecting less often is time for calls.
	debug.SetGCPercent(200)
	if err := run(parse()); err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		os.Exit(1)
	}
}

func parse() options {
	var o options
	flag.StringVar(&o.listen, "listen", "", "loopback address to listen on, host:port")
	flag.StringVar(&o.upstream, "upstream", "", "where the extender is, http://host:port or https://host:port")
	flag.StringVar(&o.control, "control", "", "path of the unix socket that takes orders")
	flag.StringVar(&o.certificate, "tls-cert", "", "serve TLS with this certificate")
	flag.StringVar(&o.key, "tls-key", "", "key of --tls-cert")
	flag.StringVar(&o.upstreamCA, "upstream-ca", "", "authority that vouches for the extender; else the system's")
	flag.StringVar(&o.upstreamCertificate, "upstream-cert", "", "certificate to show to the extender")
	flag.StringVar(&o.upstreamKey, "upstream-key", "", "key of --upstream-cert")
	flag.StringVar(&o.serverName, "upstream-name", "", "name expected in the extender's certificate")
	flag.BoolVar(&o.insecure, "upstream-insecure", false, "do not verify the extender's certificate")
	flag.Parse()
	return o
}

func run(o options) error {
	if o.listen == "" || o.upstream == "" || o.control == "" {
		return errors.New("--listen, --upstream and --control are needed")
	}
	target, err := url.Parse(o.upstream)
	if err != nil {
		return err
	}
	if (target.Scheme != "http" && target.Scheme != "https") || target.Host == "" {
		return fmt.Errorf("--upstream %q: http://host:port or https://host:port expected", o.upstream)
	}
	upstream, err := newUpstream(target, o)
	if err != nil {
		return err
	}
	serving, err := servingTLS(o.certificate, o.key)
	if err != nil {
		return err
	}
	// A limit on file sizes must fail a write, not end the process.
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGPIPE)
	t := newTap(upstream, serving)
	t.gate = newGate(o.listen, upstream.probe, t.accept)
	if err := serveControl(t, o.control); err != nil {
		return err
	}
	go t.gate.watch()
	waitForEnd()
	t.archive.drain()
	return nil
}

// waitForEnd returns when the starter is gone or asks for the end. The starter holds the writing end of our standard
// input, which the kernel closes even after kill -9.
func waitForEnd() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	select {
	case <-asked:
	case <-gone:
	}
}
