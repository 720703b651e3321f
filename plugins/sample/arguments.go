package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Arguments are what pluginConfig may say. Each key that has two words may be written favoriteColor or favorite_color.
type Arguments struct {
	FavoriteColor  string `json:"favoriteColor"`
	FavoriteNumber int    `json:"favoriteNumber"`
	ThanksTo       string `json:"thanksTo"`
	// Points are the extension points at which the plugin does something; at all others it lets everything pass.
	Points []string `json:"points"`

	// What follows holds for pods that say nothing else in their annotations.

	// RefuseNodesWithLabel is KEY or KEY=VALUE, for Filter.
	RefuseNodesWithLabel string `json:"refuseNodesWithLabel"`
	// PreferNodesWithLabel is KEY=VALUE, or KEY for the value that the pod itself has, for Score.
	PreferNodesWithLabel string `json:"preferNodesWithLabel"`
	// Ranked makes scores distinct: preferred nodes first, then those with fewer pods, then by name.
	Ranked bool `json:"ranked"`
	// Reserve and PreBind are "pass" or "fail"; Permit is "approve", "deny" or "wait".
	Reserve string `json:"reserve"`
	PreBind string `json:"preBind"`
	Permit  string `json:"permit"`
	// A pod that waits is approved when PermitApproveSeconds is over (0: not by time), or when a second pod of its
	// group arrives, and rejected when PermitTimeoutSeconds is over.
	PermitApproveSeconds float64 `json:"permitApproveSeconds"`
	PermitTimeoutSeconds float64 `json:"permitTimeoutSeconds"`
}

// points are all the names that Points may have.
var points = []string{
	"QueueSort", "PreEnqueue", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind",
	"Bind", "PostBind",
}

// decode reads arguments strictly: a key that is misspelt must not be passed over in silence.
func decode(given runtime.Object) (Arguments, error) {
	arguments := Arguments{
		Points: []string{"PreFilter", "Filter", "PreBind"}, Reserve: "pass", PreBind: "pass", Permit: "approve",
		PermitTimeoutSeconds: 10,
	}
	var keys map[string]json.RawMessage
	if err := frameworkruntime.DecodeInto(given, &keys); err != nil {
		return arguments, fmt.Errorf("a mapping expected: %w", err)
	}
	spelt := make(map[string]json.RawMessage, len(keys))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		name := camel(key)
		if _, twice := spelt[name]; twice {
			return arguments, fmt.Errorf("%s is given twice, in both spellings", name)
		}
		spelt[name] = keys[key]
	}
	text, err := json.Marshal(spelt)
	if err != nil {
		return arguments, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&arguments); err != nil {
		return arguments, explained(err)
	}
	return arguments, arguments.validate()
}

// explained says in the words of a configuration what is wrong with a value.
func explained(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: %s seen, %s expected", wrong.Field, wrong.Value, wrong.Type)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func camel(key string) string {
	words := strings.Split(key, "_")
	for index, word := range words[1:] {
		if word != "" {
			words[index+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

func (a Arguments) validate() error {
	if a.FavoriteNumber < 0 {
		return fmt.Errorf("favoriteNumber: %d seen, 0 or more expected", a.FavoriteNumber)
	}
	if a.PermitApproveSeconds < 0 || a.PermitTimeoutSeconds <= 0 {
		return errors.New("permitApproveSeconds must be 0 or more, permitTimeoutSeconds more than 0")
	}
	for _, point := range a.Points {
		if !slices.Contains(points, point) {
			return fmt.Errorf("points: %q seen, some of %s expected", point, strings.Join(points, ", "))
		}
	}
	if strings.HasPrefix(a.PreferNodesWithLabel, "=") {
		return fmt.Errorf("preferNodesWithLabel: %q seen, KEY or KEY=VALUE expected", a.PreferNodesWithLabel)
	}
	for _, one := range []struct {
		key, value string
		allowed    []string
	}{
		{"reserve", a.Reserve, passOrFail},
		{"preBind", a.PreBind, passOrFail},
		{"permit", a.Permit, permitAnswers},
	} {
		if !slices.Contains(one.allowed, one.value) {
			return fmt.Errorf("%s: %q seen, one of %s expected", one.key, one.value, strings.Join(one.allowed, ", "))
		}
	}
	return nil
}
