//go:build !kubernetes1.34

package sample

import (
	fwk "k8s.io/kube-scheduler/framework"
)

// The framework's interfaces, wherever a Kubernetes version keeps them.
type (
	handle              = fwk.Handle
	nodeScore           = fwk.NodeScore
	nodeScoreList       = fwk.NodeScoreList
	nodeStatuses        = fwk.NodeToStatusReader
	plugin              = fwk.Plugin
	postFilterResult    = fwk.PostFilterResult
	preFilterExtensions = fwk.PreFilterExtensions
	preFilterResult     = fwk.PreFilterResult
	scoreExtensions     = fwk.ScoreExtensions
	waitingPod          = fwk.WaitingPod

	bindPlugin        = fwk.BindPlugin
	enqueueExtensions = fwk.EnqueueExtensions
	filterPlugin      = fwk.FilterPlugin
	permitPlugin      = fwk.PermitPlugin
	postBindPlugin    = fwk.PostBindPlugin
	postFilterPlugin  = fwk.PostFilterPlugin
	preBindPlugin     = fwk.PreBindPlugin
	preEnqueuePlugin  = fwk.PreEnqueuePlugin
	preFilterPlugin   = fwk.PreFilterPlugin
	preScorePlugin    = fwk.PreScorePlugin
	queueSortPlugin   = fwk.QueueSortPlugin
	reservePlugin     = fwk.ReservePlugin
	scorePlugin       = fwk.ScorePlugin
)

const maxNodeScore = fwk.MaxNodeScore
