//go:build kubernetes1.34 || kubernetes1.35 || kubernetes1.36

package sample

import (
	"k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Less puts more important pods first, and older ones among equals.
func (s sorting) Less(one, other fwk.QueuedPodInfo) bool {
	first, second := one.GetPodInfo().GetPod(), other.GetPodInfo().GetPod()
	return isBefore(corev1.PodPriority(first), corev1.PodPriority(second), one.GetTimestamp(), other.GetTimestamp())
}
