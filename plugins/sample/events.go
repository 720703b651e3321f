package sample

import (
	"context"
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

var _ enqueueExtensions = &Sample{}

// EventsToRegister says what can change an answer of this plugin; nothing else makes a pod that it refused try again.
func (s *Sample) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
			QueueingHintFn: s.afterNode,
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update},
			QueueingHintFn: afterPod,
		},
	}, nil
}

// afterNode tries a pod again when a node is there, or has changed, that is not refused.
func (s *Sample) afterNode(_ klog.Logger, pod *v1.Pod, before, after any) (fwk.QueueingHint, error) {
	refused := wish(pod, annotationRefuse, s.arguments.RefuseNodesWithLabel)
	node, ok := after.(*v1.Node)
	if !ok || hasLabel(node, refused) {
		return fwk.QueueSkip, nil
	}
	if old, ok := before.(*v1.Node); ok && old != nil && !hasLabel(old, refused) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// afterPod tries a pod again when its own annotations say something else.
func afterPod(_ klog.Logger, pod *v1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, wasPod := before.(*v1.Pod)
	changed, isPod := after.(*v1.Pod)
	if !wasPod || !isPod || changed.UID != pod.UID || maps.Equal(old.Annotations, changed.Annotations) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}
