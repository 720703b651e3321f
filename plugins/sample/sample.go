// Package sample is a scheduler plugin with every extension point of the scheduling framework.
//
// It shows when each point is called, and does on request what scenarios need: refuse or prefer nodes by a label, fail
// at Reserve or PreBind, and all three answers of Permit. Texts of refusals are constant, one per cause.
package sample

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
)

// Name is how configurations call the plugin.
const Name = "Sample"

// Sample is the plugin.
type Sample struct {
	arguments Arguments
	handle    handle
	binder    bindPlugin
}

// sorting is the plugin with a queue order of its own. A scheduler takes exactly one of these, so a plugin that always
// had one could never be enabled beside the default plugins.
type sorting struct {
	*Sample
}

var (
	_ queueSortPlugin  = sorting{}
	_ preEnqueuePlugin = &Sample{}
	_ preFilterPlugin  = &Sample{}
	_ filterPlugin     = &Sample{}
	_ postFilterPlugin = &Sample{}
	_ preScorePlugin   = &Sample{}
	_ scorePlugin      = &Sample{}
	_ reservePlugin    = &Sample{}
	_ permitPlugin     = &Sample{}
	_ preBindPlugin    = &Sample{}
	_ bindPlugin       = &Sample{}
	_ postBindPlugin   = &Sample{}
)

// New makes the plugin; a scheduler calls it once for each profile that enables it.
func New(ctx context.Context, given runtime.Object, handle handle) (plugin, error) {
	arguments, err := decode(given)
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", Name, err)
	}
	binder, err := defaultbinder.New(ctx, nil, handle)
	if err != nil {
		return nil, err
	}
	klog.FromContext(ctx).Info("Sample plugin", "favoriteColor", arguments.FavoriteColor,
		"favoriteNumber", arguments.FavoriteNumber, "thanksTo", arguments.ThanksTo, "points", arguments.Points)
	made := &Sample{arguments: arguments, handle: handle, binder: binder.(bindPlugin)}
	if made.is("QueueSort") {
		return sorting{made}, nil
	}
	return made, nil
}

// Name returns the name of the plugin.
func (s *Sample) Name() string {
	return Name
}

// Arguments returns what the plugin made of its arguments; traces show it.
func (s *Sample) Arguments() any {
	return s.arguments
}

// is tells whether the plugin does anything at a point.
func (s *Sample) is(point string) bool {
	return slices.Contains(s.arguments.Points, point)
}

func (s *Sample) log(ctx context.Context, point string, pod *v1.Pod, values ...any) {
	klog.FromContext(ctx).Info("Sample plugin", append([]any{"point", point, "pod", klog.KObj(pod)}, values...)...)
}

func isBefore(priority, otherPriority int32, queued, otherQueued time.Time) bool {
	return priority > otherPriority || (priority == otherPriority && queued.Before(otherQueued))
}
