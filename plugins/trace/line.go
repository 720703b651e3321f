package trace

import (
	"encoding/json"
	"strconv"
)

// line is what becomes one line of JSON: a call, a sum of calls (count and codes), or a plugin's arguments; or many lines,
// of the node-level calls of an attempt.
type line struct {
	call      Call
	count     int
	codes     []codeCount
	arguments []byte
	nodes     []*sum
}

// append writes by hand: there are thousands of lines a second, and the scheduler needs the processor itself.
func (l *line) append(to []byte) []byte {
	if l.nodes != nil {
		return appendNodes(to, l.nodes)
	}
	to = append(to, `{"t_unix_ns":`...)
	to = strconv.AppendInt(to, l.call.Start.UnixNano(), 10)
	if l.call.Pod.Name != "" {
		to = appendText(append(to, `,"pod":`...), l.call.Pod.Namespace+"/"+l.call.Pod.Name)
		to = appendText(append(to, `,"uid":`...), l.call.Pod.UID)
	} else {
		to = append(to, `,"pod":null,"uid":null`...)
	}
	to = appendText(append(to, `,"point":`...), l.call.Point)
	to = appendText(append(to, `,"plugin":`...), l.call.Plugin)
	if l.call.Node != "" {
		to = appendText(append(to, `,"node":`...), l.call.Node)
	} else {
		to = append(to, `,"node":null`...)
	}
	to = appendText(append(to, `,"code":`...), l.call.Code)
	to = append(to, `,"seconds":`...)
	to = strconv.AppendFloat(to, l.call.Duration.Seconds(), 'f', 9, 64)
	if l.call.Text != "" {
		to = appendText(append(to, `,"text":`...), l.call.Text)
	}
	if l.count > 0 {
		to = strconv.AppendInt(append(to, `,"count":`...), int64(l.count), 10)
		to = append(to, `,"codes":{`...)
		for index, one := range l.codes {
			if index > 0 {
				to = append(to, ',')
			}
			to = appendText(to, one.code)
			to = strconv.AppendInt(append(to, ':'), int64(one.count), 10)
		}
		to = append(to, '}')
	}
	if l.arguments != nil {
		to = append(append(to, `,"arguments":`...), l.arguments...)
	}
	return append(to, "}\n"...)
}

// appendText writes a JSON string; nearly all of them need no escaping.
func appendText(to []byte, text string) []byte {
	for index := 0; index < len(text); index++ {
		if char := text[index]; char < ' ' || char > '~' || char == '"' || char == '\\' {
			return append(to, encode(text)...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

func encode(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		encoded, _ = json.Marshal(map[string]string{"unreadable": err.Error()})
	}
	return encoded
}
