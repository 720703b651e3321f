package runtime

import (
	"context"
	"time"

	"harness.test/trace"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

func (f *frameworkImpl) runPreFilterPlugin(ctx context.Context, pl tracedPreFilterPlugin, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*tracedPreFilterResult, *fwk.Status) {
	if trace.Current == nil {
		return f.untracedRunPreFilterPlugin(ctx, pl, state, pod, nodes)
	}
	start := time.Now()
	result, status := f.untracedRunPreFilterPlugin(ctx, pl, state, pod, nodes)
	traceCall("PreFilter", pl.Name(), pod, "", status, start)
	return result, status
}

func (f *frameworkImpl) runPreFilterExtensionAddPod(ctx context.Context, pl tracedPreFilterPlugin, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, nodeInfo fwk.NodeInfo) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunPreFilterExtensionAddPod(ctx, pl, state, pod, added, nodeInfo)
	}
	start := time.Now()
	status := f.untracedRunPreFilterExtensionAddPod(ctx, pl, state, pod, added, nodeInfo)
	traceNode("PreFilterExtensionAddPod", pl.Name(), pod, nodeInfo, status, start)
	return status
}

func (f *frameworkImpl) runPreFilterExtensionRemovePod(ctx context.Context, pl tracedPreFilterPlugin, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, nodeInfo fwk.NodeInfo) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunPreFilterExtensionRemovePod(ctx, pl, state, pod, removed, nodeInfo)
	}
	start := time.Now()
	status := f.untracedRunPreFilterExtensionRemovePod(ctx, pl, state, pod, removed, nodeInfo)
	traceNode("PreFilterExtensionRemovePod", pl.Name(), pod, nodeInfo, status, start)
	return status
}

func (f *frameworkImpl) runFilterPlugin(ctx context.Context, pl tracedFilterPlugin, state fwk.CycleState, pod *v1.Pod, nodeInfo fwk.NodeInfo) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunFilterPlugin(ctx, pl, state, pod, nodeInfo)
	}
	start := time.Now()
	status := f.untracedRunFilterPlugin(ctx, pl, state, pod, nodeInfo)
	traceNode("Filter", pl.Name(), pod, nodeInfo, status, start)
	return status
}

func (f *frameworkImpl) runPostFilterPlugin(ctx context.Context, pl tracedPostFilterPlugin, state fwk.CycleState, pod *v1.Pod, statuses tracedNodeStatuses) (*tracedPostFilterResult, *fwk.Status) {
	if trace.Current == nil {
		return f.untracedRunPostFilterPlugin(ctx, pl, state, pod, statuses)
	}
	start := time.Now()
	result, status := f.untracedRunPostFilterPlugin(ctx, pl, state, pod, statuses)
	traceCall("PostFilter", pl.Name(), pod, "", status, start)
	return result, status
}

func (f *frameworkImpl) runPreScorePlugin(ctx context.Context, pl tracedPreScorePlugin, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunPreScorePlugin(ctx, pl, state, pod, nodes)
	}
	start := time.Now()
	status := f.untracedRunPreScorePlugin(ctx, pl, state, pod, nodes)
	traceCall("PreScore", pl.Name(), pod, "", status, start)
	return status
}

func (f *frameworkImpl) runScorePlugin(ctx context.Context, pl tracedScorePlugin, state fwk.CycleState, pod *v1.Pod, nodeInfo fwk.NodeInfo) (int64, *fwk.Status) {
	if trace.Current == nil {
		return f.untracedRunScorePlugin(ctx, pl, state, pod, nodeInfo)
	}
	start := time.Now()
	score, status := f.untracedRunScorePlugin(ctx, pl, state, pod, nodeInfo)
	traceNode("Score", pl.Name(), pod, nodeInfo, status, start)
	return score, status
}

func (f *frameworkImpl) runScoreExtension(ctx context.Context, pl tracedScorePlugin, state fwk.CycleState, pod *v1.Pod, scores tracedNodeScoreList) *fwk.Status {
	if trace.Current == nil {
		return f.untracedRunScoreExtension(ctx, pl, state, pod, scores)
	}
	start := time.Now()
	status := f.untracedRunScoreExtension(ctx, pl, state, pod, scores)
	traceCall("NormalizeScore", pl.Name(), pod, "", status, start)
	return status
}
