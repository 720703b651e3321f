//go:build !kubernetes1.34

package runtime

import (
	fwk "k8s.io/kube-scheduler/framework"
)

// The framework's interfaces, wherever a Kubernetes version keeps them.
type (
	tracedBindPlugin       = fwk.BindPlugin
	tracedFilterPlugin     = fwk.FilterPlugin
	tracedLessFunc         = fwk.LessFunc
	tracedNodeScoreList    = fwk.NodeScoreList
	tracedNodeStatuses     = fwk.NodeToStatusReader
	tracedPermitPlugin     = fwk.PermitPlugin
	tracedPlugin           = fwk.Plugin
	tracedPostBindPlugin   = fwk.PostBindPlugin
	tracedPostFilterPlugin = fwk.PostFilterPlugin
	tracedPostFilterResult = fwk.PostFilterResult
	tracedPreBindPlugin    = fwk.PreBindPlugin
	tracedPreEnqueuePlugin = fwk.PreEnqueuePlugin
	tracedPreFilterPlugin  = fwk.PreFilterPlugin
	tracedPreFilterResult  = fwk.PreFilterResult
	tracedPreScorePlugin   = fwk.PreScorePlugin
	tracedReservePlugin    = fwk.ReservePlugin
	tracedScorePlugin      = fwk.ScorePlugin
)
