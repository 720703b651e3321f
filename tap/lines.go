package main

import (
	"encoding/json"
	"strconv"
)

// seconds is a moment or a span; written down as whole microseconds.
type seconds float64

// MarshalJSON writes the number without noise behind the sixth digit.
func (s seconds) MarshalJSON() ([]byte, error) { return appendSeconds(nil, s), nil }

func appendSeconds(p []byte, s seconds) []byte { return strconv.AppendFloat(p, float64(s), 'f', 6, 64) }

// line is a JSON object in the making. By hand: encoding/json took more time than the compression of a small body.
type line []byte

func newLine(event string, seq int64, now seconds) line {
	p := append(make(line, 0, 768), `{"seq":`...)
	p = strconv.AppendInt(p, seq, 10)
	p = append(p, `,"event":"`...)
	p = append(p, event...)
	p = append(p, `","now":`...)
	return appendSeconds(p, now)
}

func (p line) key(name string) line {
	p = append(p, `,"`...)
	p = append(p, name...)
	return append(p, `":`...)
}

func (p line) integer(name string, value int64) line {
	return strconv.AppendInt(p.key(name), value, 10)
}

func (p line) text(name, value string) line { return appendText(p.key(name), value) }

func (p line) optionalText(name string, value *string) line {
	if value == nil {
		return append(p.key(name), "null"...)
	}
	return p.text(name, *value)
}

func (p line) optionalSeconds(name string, value *seconds) line {
	if value == nil {
		return append(p.key(name), "null"...)
	}
	return appendSeconds(p.key(name), *value)
}

func (p line) place(name string, at *reference) line {
	if at == nil {
		return append(p.key(name), "null"...)
	}
	p = append(p.key(name), `{"offset":`...)
	p = strconv.AppendInt(p, at.offset, 10)
	p = append(p, `,"length":`...)
	return append(strconv.AppendInt(p, at.length, 10), '}')
}

func (p line) headers(name string, fields [][2]string) line {
	p = append(p.key(name), '[')
	for i, field := range fields {
		if i > 0 {
			p = append(p, ',')
		}
		p = appendText(append(p, '['), field[0])
		p = append(appendText(append(p, ','), field[1]), ']')
	}
	return append(p, ']')
}

func (p line) end() []byte { return append(p, '}', '\n') }

func appendText(p []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // knows every case
			return append(p, quoted...)
		}
	}
	return append(append(append(p, '"'), text...), '"')
}
