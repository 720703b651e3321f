// The files of this folder are compiled into Kubernetes' own package pkg/scheduler/framework/runtime.
//
// The harness renames each function there that calls a plugin ("runFilterPlugin" becomes "untracedRunFilterPlugin");
// here is what takes its name: it calls the renamed one and, if somebody wants a trace, writes the call down.
package runtime

import (
	"time"

	"harness.test/trace"
	v1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

func podOf(pod *v1.Pod) trace.Pod {
	return trace.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)}
}

func callOf(point, plugin string, pod *v1.Pod, node string, status *fwk.Status, start time.Time) trace.Call {
	return trace.Call{
		Point:    point,
		Plugin:   plugin,
		Node:     node,
		Code:     status.Code().String(),
		Text:     status.Message(),
		Pod:      podOf(pod),
		Start:    start,
		Duration: time.Since(start),
	}
}

func traceCall(point, plugin string, pod *v1.Pod, node string, status *fwk.Status, start time.Time) {
	trace.Current.Called(callOf(point, plugin, pod, node, status, start))
}

func traceNode(point, plugin string, pod *v1.Pod, nodeInfo fwk.NodeInfo, status *fwk.Status, start time.Time) {
	node := ""
	if nodeInfo != nil && nodeInfo.Node() != nil {
		node = nodeInfo.Node().Name
	}
	trace.Current.CalledOnNode(callOf(point, plugin, pod, node, status, start))
}

// traceArguments prefers what a plugin says it made of its arguments over what the configuration says.
func traceArguments(plugin string, made tracedPlugin, given apiruntime.Object) {
	if trace.Current == nil {
		return
	}
	if tells, ok := made.(interface{ Arguments() any }); ok {
		trace.Current.Arguments(plugin, tells.Arguments())
		return
	}
	if raw, ok := given.(*apiruntime.Unknown); ok {
		trace.Current.Arguments(plugin, rawJSON(raw.Raw))
		return
	}
	if given != nil {
		trace.Current.Arguments(plugin, given)
	}
}

// rawJSON is text that is JSON already.
type rawJSON []byte

// MarshalJSON returns the text.
func (r rawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}
