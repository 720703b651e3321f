//go:build !kubernetes1.34

package runtime

import (
	"context"
	"time"

	"harness.test/trace"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// tracedSign stands before a plugin that signs pods, so that alike ones can be scheduled in a batch.
type tracedSign struct {
	fwk.SignPlugin
}

func (p tracedSign) SignPod(ctx context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	start := time.Now()
	fragments, status := p.SignPlugin.SignPod(ctx, pod)
	traceCall("Sign", p.Name(), pod, "", status, start)
	return fragments, status
}

func (f *frameworkImpl) computeBatchablePlugins() {
	f.untracedComputeBatchablePlugins()
	if trace.Current == nil {
		return
	}
	for index, plugin := range f.batchablePlugins {
		f.batchablePlugins[index] = tracedSign{plugin}
	}
}
