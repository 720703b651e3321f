package main

import (
	"encoding/json"
	"strings"
)

const ghostScore = 10

// withGhost adds a node that nobody offered; a body that is no extender's reply stays as it is.
func withGhost(body []byte, node string) []byte {
	name, _ := json.Marshal(node)
	item, _ := json.Marshal(map[string]any{"metadata": map[string]any{"name": node}})
	score, _ := json.Marshal(map[string]any{"Host": node, "Score": ghostScore})
	return editLists(body, func(kind string, list []json.RawMessage) []json.RawMessage {
		return append(list, map[string]json.RawMessage{"names": name, "items": item, "scores": score}[kind])
	})
}

// withDuplicate repeats the first node or the first score.
func withDuplicate(body []byte) []byte {
	return editLists(body, func(_ string, list []json.RawMessage) []json.RawMessage {
		if len(list) == 0 {
			return list
		}
		return append(list, list[0])
	})
}

// editLists changes the list that kube-scheduler reads: the scores, the node names, or the node objects.
func editLists(body []byte, edit func(kind string, list []json.RawMessage) []json.RawMessage) []byte {
	var scores []json.RawMessage
	if json.Unmarshal(body, &scores) == nil && scores != nil {
		return encoded(edit("scores", scores), body)
	}
	var result map[string]json.RawMessage
	if json.Unmarshal(body, &result) != nil || result == nil {
		return body
	}
	var names []json.RawMessage
	if key := keyLike(result, "NodeNames"); json.Unmarshal(result[key], &names) == nil && names != nil {
		result[key] = encoded(edit("names", names), result[key])
		return encoded(result, body)
	}
	var nodes map[string]json.RawMessage
	key := keyLike(result, "Nodes")
	if json.Unmarshal(result[key], &nodes) != nil || nodes == nil {
		return body
	}
	var items []json.RawMessage
	itemsKey := keyLike(nodes, "items")
	_ = json.Unmarshal(nodes[itemsKey], &items)
	nodes[itemsKey] = encoded(edit("items", items), nodes[itemsKey])
	result[key] = encoded(nodes, result[key])
	return encoded(result, body)
}

// keyLike finds a key as Go's decoder does, whatever its case.
func keyLike(object map[string]json.RawMessage, wanted string) string {
	for key := range object {
		if strings.EqualFold(key, wanted) {
			return key
		}
	}
	return wanted
}

func encoded(value any, otherwise []byte) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return otherwise
	}
	return text
}
