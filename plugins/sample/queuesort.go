//go:build !kubernetes1.34 && !kubernetes1.35 && !kubernetes1.36

package sample

import (
	fwk "k8s.io/kube-scheduler/framework"
)

// Less puts more important pods first, and older ones among equals.
func (s sorting) Less(one, other fwk.QueuedEntityInfo) bool {
	return isBefore(one.GetPriority(), other.GetPriority(), one.GetTimestamp(), other.GetTimestamp())
}
