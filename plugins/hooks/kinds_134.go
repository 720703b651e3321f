//go:build kubernetes1.34

package runtime

import (
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The framework's interfaces, wherever a Kubernetes version keeps them.
type (
	tracedBindPlugin       = framework.BindPlugin
	tracedFilterPlugin     = framework.FilterPlugin
	tracedLessFunc         = framework.LessFunc
	tracedNodeScoreList    = framework.NodeScoreList
	tracedNodeStatuses     = framework.NodeToStatusReader
	tracedPermitPlugin     = framework.PermitPlugin
	tracedPlugin           = framework.Plugin
	tracedPostBindPlugin   = framework.PostBindPlugin
	tracedPostFilterPlugin = framework.PostFilterPlugin
	tracedPostFilterResult = framework.PostFilterResult
	tracedPreBindPlugin    = framework.PreBindPlugin
	tracedPreEnqueuePlugin = framework.PreEnqueuePlugin
	tracedPreFilterPlugin  = framework.PreFilterPlugin
	tracedPreFilterResult  = framework.PreFilterResult
	tracedPreScorePlugin   = framework.PreScorePlugin
	tracedReservePlugin    = framework.ReservePlugin
	tracedScorePlugin      = framework.ScorePlugin
)
