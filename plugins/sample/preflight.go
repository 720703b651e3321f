//go:build !kubernetes1.34 && !kubernetes1.35

package sample

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// PreBindPreFlight tells whether PreBind will have anything to do.
func (s *Sample) PreBindPreFlight(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, s.preFlight(ctx, pod, node)
}
