//go:build kubernetes1.34

package sample

import (
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The framework's interfaces, wherever a Kubernetes version keeps them.
type (
	handle              = framework.Handle
	nodeScore           = framework.NodeScore
	nodeScoreList       = framework.NodeScoreList
	nodeStatuses        = framework.NodeToStatusReader
	plugin              = framework.Plugin
	postFilterResult    = framework.PostFilterResult
	preFilterExtensions = framework.PreFilterExtensions
	preFilterResult     = framework.PreFilterResult
	scoreExtensions     = framework.ScoreExtensions
	waitingPod          = framework.WaitingPod

	bindPlugin        = framework.BindPlugin
	enqueueExtensions = framework.EnqueueExtensions
	filterPlugin      = framework.FilterPlugin
	permitPlugin      = framework.PermitPlugin
	postBindPlugin    = framework.PostBindPlugin
	postFilterPlugin  = framework.PostFilterPlugin
	preBindPlugin     = framework.PreBindPlugin
	preEnqueuePlugin  = framework.PreEnqueuePlugin
	preFilterPlugin   = framework.PreFilterPlugin
	preScorePlugin    = framework.PreScorePlugin
	queueSortPlugin   = framework.QueueSortPlugin
	reservePlugin     = framework.ReservePlugin
	scorePlugin       = framework.ScorePlugin
)

const maxNodeScore = framework.MaxNodeScore
