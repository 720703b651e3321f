//go:build kubernetes1.34 || kubernetes1.35 || kubernetes1.36

package runtime

import (
	"time"

	"harness.test/trace"
	fwk "k8s.io/kube-scheduler/framework"
)

// QueueSortFunc returns the function that sorts the queue.
func (f *frameworkImpl) QueueSortFunc() tracedLessFunc {
	less := f.untracedQueueSortFunc()
	if trace.Current == nil || f == nil {
		return less
	}
	plugin := f.queueSortPlugins[0].Name()
	return func(one, other fwk.QueuedPodInfo) bool {
		start := time.Now()
		isLess := less(one, other)
		traceCompared(plugin, start, one, other)
		return isLess
	}
}
