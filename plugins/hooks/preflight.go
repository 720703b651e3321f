//go:build !kubernetes1.34 && !kubernetes1.35

package runtime

import (
	"context"
	"time"

	"harness.test/trace"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

func (f *frameworkImpl) runPreBindPreFlight(ctx context.Context, pl tracedPreBindPlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	if trace.Current == nil {
		return f.untracedRunPreBindPreFlight(ctx, pl, state, pod, nodeName)
	}
	start := time.Now()
	result, status := f.untracedRunPreBindPreFlight(ctx, pl, state, pod, nodeName)
	traceCall("PreBindPreFlight", pl.Name(), pod, nodeName, status, start)
	return result, status
}
