package runtime

import (
	"context"
	"time"

	"harness.test/trace"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

func (f *frameworkImpl) runReservePluginReserve(ctx context.Context, pl tracedReservePlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunReservePluginReserve(ctx, pl, state, pod, nodeName)
	}
	start := time.Now()
	status := f.untracedRunReservePluginReserve(ctx, pl, state, pod, nodeName)
	traceCall("Reserve", pl.Name(), pod, nodeName, status, start)
	return status
}

func (f *frameworkImpl) runReservePluginUnreserve(ctx context.Context, pl tracedReservePlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) {
	if trace.Current == nil {
		f.untracedRunReservePluginUnreserve(ctx, pl, state, pod, nodeName)
		return
	}
	start := time.Now()
	f.untracedRunReservePluginUnreserve(ctx, pl, state, pod, nodeName)
	traceCall("Unreserve", pl.Name(), pod, nodeName, nil, start)
}

func (f *frameworkImpl) runPermitPlugin(ctx context.Context, pl tracedPermitPlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) (*fwk.Status, time.Duration) {
	if trace.Current == nil {
		return f.untracedRunPermitPlugin(ctx, pl, state, pod, nodeName)
	}
	start := time.Now()
	status, timeout := f.untracedRunPermitPlugin(ctx, pl, state, pod, nodeName)
	traceCall("Permit", pl.Name(), pod, nodeName, status, start)
	return status, timeout
}

// WaitOnPermit waits, if a plugin made the pod wait, until all have allowed it or one has rejected it.
func (f *frameworkImpl) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if trace.Current == nil {
		return f.untracedWaitOnPermit(ctx, pod)
	}
	waiting := f.GetWaitingPod(pod.UID)
	if waiting == nil {
		return f.untracedWaitOnPermit(ctx, pod)
	}
	asked := waiting.GetPendingPlugins()
	start := time.Now()
	status := f.untracedWaitOnPermit(ctx, pod)
	plugin := ""
	if !status.IsSuccess() {
		plugin = status.Plugin()
	} else if len(asked) == 1 {
		plugin = asked[0]
	}
	traceCall("WaitOnPermit", plugin, pod, "", status, start)
	return status
}

func (f *frameworkImpl) runPreBindPlugin(ctx context.Context, pl tracedPreBindPlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunPreBindPlugin(ctx, pl, state, pod, nodeName)
	}
	start := time.Now()
	status := f.untracedRunPreBindPlugin(ctx, pl, state, pod, nodeName)
	traceCall("PreBind", pl.Name(), pod, nodeName, status, start)
	return status
}

func (f *frameworkImpl) runBindPlugin(ctx context.Context, pl tracedBindPlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunBindPlugin(ctx, pl, state, pod, nodeName)
	}
	start := time.Now()
	status := f.untracedRunBindPlugin(ctx, pl, state, pod, nodeName)
	traceCall("Bind", pl.Name(), pod, nodeName, status, start)
	return status
}

func (f *frameworkImpl) runPostBindPlugin(ctx context.Context, pl tracedPostBindPlugin, state fwk.CycleState, pod *v1.Pod, nodeName string) {
	if trace.Current == nil {
		f.untracedRunPostBindPlugin(ctx, pl, state, pod, nodeName)
		return
	}
	start := time.Now()
	f.untracedRunPostBindPlugin(ctx, pl, state, pod, nodeName)
	traceCall("PostBind", pl.Name(), pod, nodeName, nil, start)
}
