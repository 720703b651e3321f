package runtime

import (
	"context"
	"time"

	"harness.test/trace"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// tracedPreEnqueue stands before a plugin that the queue calls by itself.
type tracedPreEnqueue struct {
	tracedPreEnqueuePlugin
}

func (p tracedPreEnqueue) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	start := time.Now()
	status := p.tracedPreEnqueuePlugin.PreEnqueue(ctx, pod)
	traceCall("PreEnqueue", p.Name(), pod, "", status, start)
	return status
}

// PreEnqueuePlugins returns the registered PreEnqueue plugins.
func (f *frameworkImpl) PreEnqueuePlugins() []tracedPreEnqueuePlugin {
	plugins := f.untracedPreEnqueuePlugins()
	if trace.Current == nil {
		return plugins
	}
	traced := make([]tracedPreEnqueuePlugin, 0, len(plugins))
	for _, plugin := range plugins {
		traced = append(traced, tracedPreEnqueue{plugin})
	}
	return traced
}

// podsIn returns the pods that a queue's entry stands for; an entry of a whole group is not told apart.
func podsIn(entry any) []trace.Pod {
	queued, ok := entry.(interface{ GetPodInfo() fwk.PodInfo })
	if !ok {
		return nil
	}
	return []trace.Pod{podOf(queued.GetPodInfo().GetPod())}
}

func traceCompared(plugin string, start time.Time, entries ...any) {
	duration := time.Since(start)
	for _, entry := range entries {
		for _, pod := range podsIn(entry) {
			trace.Current.Compared(plugin, pod, start, duration)
		}
	}
}
