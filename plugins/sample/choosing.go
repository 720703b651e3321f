package sample

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

const refusedNode = "node has a label that the sample plugin refuses"

// PreEnqueue is asked before a pod may enter the queue.
func (s *Sample) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if s.is("PreEnqueue") {
		s.log(ctx, "PreEnqueue", pod)
	}
	return nil
}

// PreFilter is asked once for a pod. To skip is to say that Filter need not be asked.
func (s *Sample) PreFilter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*preFilterResult, *fwk.Status) {
	if s.is("PreFilter") {
		s.log(ctx, "PreFilter", pod)
	}
	if !s.is("Filter") {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

// PreFilterExtensions returns what is told when the framework supposes pods to come or to go.
func (s *Sample) PreFilterExtensions() preFilterExtensions {
	return s
}

// AddPod is told that another pod is supposed to be on a node.
func (s *Sample) AddPod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return nil
}

// RemovePod is told that another pod is supposed to be gone from a node.
func (s *Sample) RemovePod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return nil
}

// Filter says whether a pod may run on a node.
func (s *Sample) Filter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, nodeInfo fwk.NodeInfo) *fwk.Status {
	if !s.is("Filter") {
		return nil
	}
	node := nodeInfo.Node()
	s.log(ctx, "Filter", pod, "node", node.Name)
	if hasLabel(node, wish(pod, annotationRefuse, s.arguments.RefuseNodesWithLabel)) {
		// No eviction of other pods changes a label.
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, refusedNode)
	}
	return nil
}

// PostFilter is asked when no node is left; it makes no room itself and leaves that to others.
func (s *Sample) PostFilter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ nodeStatuses) (*postFilterResult, *fwk.Status) {
	if s.is("PostFilter") {
		s.log(ctx, "PostFilter", pod)
	}
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

// PreScore is asked once before nodes are scored. To skip is to say that Score need not be asked.
func (s *Sample) PreScore(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if s.is("PreScore") {
		s.log(ctx, "PreScore", pod, "nodes", len(nodes))
	}
	if !s.is("Score") {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// Score gives a node with the preferred label the best score and every other the worst.
func (s *Sample) Score(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, nodeInfo fwk.NodeInfo) (int64, *fwk.Status) {
	if !s.is("Score") {
		return 0, nil
	}
	score := int64(0)
	if wanted := ownValue(pod, wish(pod, annotationPrefer, s.arguments.PreferNodesWithLabel)); hasLabel(nodeInfo.Node(), wanted) {
		score = maxNodeScore
	}
	if s.arguments.Ranked {
		// Made a rank by NormalizeScore, so it need not be within bounds yet: no node has this many pods.
		score = score*1_000_000 - int64(len(nodeInfo.GetPods()))
	}
	return score, nil
}

// ScoreExtensions returns what sees all the scores of a pod together.
func (s *Sample) ScoreExtensions() scoreExtensions {
	return s
}

// NormalizeScore turns scores into ranks, if that is wanted: the best node gets 100, the next 99, and so on.
// Equal scores would leave the choice to chance.
func (s *Sample) NormalizeScore(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, scores nodeScoreList) *fwk.Status {
	if s.is("Score") {
		s.log(ctx, "NormalizeScore", pod)
	}
	if !s.arguments.Ranked {
		return nil
	}
	ranked := make([]*nodeScore, len(scores))
	for index := range scores {
		ranked[index] = &scores[index]
	}
	slices.SortFunc(ranked, func(one, other *nodeScore) int {
		return cmp.Or(cmp.Compare(other.Score, one.Score), cmp.Compare(one.Name, other.Name))
	})
	for rank, score := range ranked {
		score.Score = max(0, maxNodeScore-int64(rank))
	}
	return nil
}
