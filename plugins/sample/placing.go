package sample

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

const (
	refusedReserve = "sample plugin fails at Reserve as asked"
	refusedPermit  = "sample plugin denies at Permit as asked"
	refusedPreBind = "sample plugin fails at PreBind as asked"
)

// Reserve is told the node that was chosen, before anything is bound.
func (s *Sample) Reserve(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if !s.is("Reserve") {
		return nil
	}
	s.log(ctx, "Reserve", pod, "node", node)
	return answer(pod, annotationReserve, s.arguments.Reserve, refusedReserve)
}

// Unreserve is told that a pod does not get its node after all. It is the other half of Reserve.
func (s *Sample) Unreserve(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	if s.is("Reserve") {
		s.log(ctx, "Unreserve", pod, "node", node)
	}
}

// Permit approves, denies, or makes a pod wait for another one or for a time.
func (s *Sample) Permit(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	if !s.is("Permit") {
		return nil, 0
	}
	wanted, err := choice(pod, annotationPermit, s.arguments.Permit, permitAnswers)
	if err != nil {
		return fwk.AsStatus(err), 0
	}
	s.log(ctx, "Permit", pod, "node", node, "answer", wanted)
	switch wanted {
	case permitDeny:
		return fwk.NewStatus(fwk.Unschedulable, refusedPermit), 0
	case permitWait:
		return s.wait(pod)
	}
	return nil, 0
}

// wait approves at once a pod whose partner waits already, and approves the partner too.
func (s *Sample) wait(pod *v1.Pod) (*fwk.Status, time.Duration) {
	timeout, err := seconds(pod, annotationTimeout, s.arguments.PermitTimeoutSeconds)
	if err != nil {
		return fwk.AsStatus(err), 0
	}
	approve, err := seconds(pod, annotationApprove, s.arguments.PermitApproveSeconds)
	if err != nil {
		return fwk.AsStatus(err), 0
	}
	if s.approvePartners(pod) {
		return nil, 0
	}
	if approve > 0 {
		time.AfterFunc(approve, func() {
			if waiting := s.handle.GetWaitingPod(pod.UID); waiting != nil {
				waiting.Allow(Name)
			}
		})
	}
	return fwk.NewStatus(fwk.Wait), timeout
}

func (s *Sample) approvePartners(pod *v1.Pod) bool {
	group, grouped := pod.Annotations[annotationGroup]
	if !grouped {
		return false
	}
	approved := false
	s.handle.IterateOverWaitingPods(func(waiting waitingPod) {
		partner := waiting.GetPod()
		if partner.Namespace == pod.Namespace && partner.Annotations[annotationGroup] == group {
			waiting.Allow(Name)
			approved = true
		}
	})
	return approved
}

// preFlight tells whether PreBind will have anything to do.
func (s *Sample) preFlight(ctx context.Context, pod *v1.Pod, node string) *fwk.Status {
	if !s.is("PreBind") {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// PreBind is the last chance to prepare something, or to fail.
func (s *Sample) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if !s.is("PreBind") {
		return nil
	}
	s.log(ctx, "PreBind", pod, "node", node)
	return answer(pod, annotationPreBind, s.arguments.PreBind, refusedPreBind)
}

// Bind creates the binding, as the default plugin does it, or leaves that to the next plugin.
func (s *Sample) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if !s.is("Bind") {
		return fwk.NewStatus(fwk.Skip)
	}
	s.log(ctx, "Bind", pod, "node", node)
	return s.binder.Bind(ctx, state, pod, node)
}

// PostBind is told that a pod is bound.
func (s *Sample) PostBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	if s.is("PostBind") {
		s.log(ctx, "PostBind", pod, "node", node)
	}
}

func answer(pod *v1.Pod, annotation, otherwise, refusal string) *fwk.Status {
	wanted, err := choice(pod, annotation, otherwise, passOrFail)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if wanted == answerFail {
		return fwk.NewStatus(fwk.Unschedulable, refusal)
	}
	return nil
}
