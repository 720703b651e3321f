package sample

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// What a pod's annotations may ask for; each goes before the argument of the same meaning.
const (
	annotations         = "sample.harness.test/"
	annotationRefuse    = annotations + "refuse-nodes-with-label"
	annotationPrefer    = annotations + "prefer-nodes-with-label"
	annotationReserve   = annotations + "reserve"
	annotationPreBind   = annotations + "pre-bind"
	annotationPermit    = annotations + "permit"
	annotationGroup     = annotations + "permit-group"
	annotationApprove   = annotations + "permit-approve-seconds"
	annotationTimeout   = annotations + "permit-timeout-seconds"
	permitApprove       = "approve"
	permitDeny          = "deny"
	permitWait          = "wait"
	answerPass          = "pass"
	answerFail          = "fail"
	maximumWaitDuration = 15 * time.Minute
)

var (
	passOrFail    = []string{answerPass, answerFail}
	permitAnswers = []string{permitApprove, permitDeny, permitWait}
)

// wish returns what a pod asks for, or what holds for all.
func wish(pod *v1.Pod, annotation, otherwise string) string {
	if value, found := pod.Annotations[annotation]; found {
		return value
	}
	return otherwise
}

// ownValue completes a label without a value by the one that the pod has; a pod without the label prefers nothing.
func ownValue(pod *v1.Pod, label string) string {
	if label == "" || strings.Contains(label, "=") {
		return label
	}
	value, found := pod.Labels[label]
	if !found {
		return ""
	}
	return label + "=" + value
}

// choice returns a wish that has to be one of some words.
func choice(pod *v1.Pod, annotation, otherwise string, allowed []string) (string, error) {
	value := wish(pod, annotation, otherwise)
	if !slices.Contains(allowed, value) {
		return "", fmt.Errorf("annotation %s: %q seen, one of %s expected", annotation, value, strings.Join(allowed, ", "))
	}
	return value, nil
}

// seconds returns a wish that is a time.
func seconds(pod *v1.Pod, annotation string, otherwise float64) (time.Duration, error) {
	value, found := pod.Annotations[annotation]
	number := otherwise
	if found {
		var err error
		if number, err = strconv.ParseFloat(value, 64); err != nil || number < 0 {
			return 0, fmt.Errorf("annotation %s: %q seen, seconds expected", annotation, value)
		}
	}
	return min(time.Duration(number*float64(time.Second)), maximumWaitDuration), nil
}

// hasLabel tells whether a node has KEY, or KEY with exactly VALUE if the label is written KEY=VALUE.
func hasLabel(node *v1.Node, label string) bool {
	key, value, valued := strings.Cut(label, "=")
	found, has := node.Labels[key]
	return label != "" && has && (!valued || found == value)
}
