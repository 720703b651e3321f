package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const garbageBytes = 256

// answersAt says whether the fault replies in place of the extender, before or after it was asked.
func (p *plan) answersAt(where string) bool { return p.At == where && p.Kind != "delay" }

// shape gathers the extender's own reply until it is whole and can be spoilt.
type shape struct {
	call *call
	own  *ownReply
	keep bool
}

// ownReply is what the extender said.
type ownReply struct {
	head *head
	body []byte
}

func newShape(call *call, h *head, at seconds) *shape {
	switch call.plan.Kind {
	case "truncate", "slow", "huge", "ghost", "duplicate", "reset":
		return &shape{call: call, own: &ownReply{head: h}, keep: true}
	}
	return &shape{call: call, own: &ownReply{head: h}}
}

func (s *shape) take(x piece) {
	if x.kind != payloadPiece {
		return
	}
	s.call.sawUpstream(x.data)
	if s.keep {
		s.own.body = append(s.own.body, x.data...)
	}
}

func (s *shape) reply() *reply { return invent(s.call, s.own) }

// headersWithout returns the extender's headers without those that say how the body is framed.
func (o *ownReply) headersWithout(names ...string) [][2]string {
	var left [][2]string
	for _, field := range o.head.headers {
		name := strings.ToLower(strings.TrimSpace(field[0]))
		framing := name == "content-length" || name == "transfer-encoding" || name == "trailer"
		for _, other := range names {
			framing = framing || name == other
		}
		if !framing {
			left = append(left, field)
		}
	}
	return left
}

// plain undoes a compression, so that the body can be edited.
func (o *ownReply) plain() *reply {
	made := &reply{status: o.head.status, headers: o.headersWithout(), body: o.body, upTo: -1}
	if !strings.EqualFold(o.head.value("Content-Encoding"), "gzip") {
		return made
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(o.body))
	if err != nil {
		return made
	}
	if text, err := io.ReadAll(unpacked); err == nil {
		made.body, made.headers = text, o.headersWithout("content-encoding")
	}
	return made
}

// invent makes the reply that a fault gives; own is the extender's, nil if it was not asked.
func invent(call *call, own *ownReply) *reply {
	p := call.plan
	made := &reply{status: http.StatusOK, upTo: -1}
	if own != nil {
		made = own.plain()
	}
	switch p.Kind {
	case "hang":
		return &reply{silent: true, then: neverAnswer}
	case "close":
		return &reply{silent: true, then: closeCleanly}
	case "reset":
		return cutByReset(made, own, p.AfterBytes)
	case "status":
		return text(p.Status, p.Body, p.Location)
	case "empty":
		return text(http.StatusOK, "", nil)
	case "garbage":
		return garbage(p)
	case "body":
		return text(http.StatusOK, strings.ReplaceAll(p.Body, "{call}", strconv.FormatInt(call.seq, 10)), nil)
	case "truncate":
		made.upTo, made.then = int64(*p.ShareOfBody*float64(len(made.body))), closeCleanly
	case "slow":
		made.rate = p.BytesPerSecond
	case "huge":
		return padded(made, own, p.Bytes, call.request.verb())
	case "ghost":
		made.body = withGhost(made.body, p.Node)
	case "duplicate":
		made.body = withDuplicate(made.body)
	}
	return made
}

func text(status int, body string, location *string) *reply {
	kind := "text/plain; charset=utf-8"
	if json.Valid([]byte(body)) {
		kind = "application/json"
	}
	made := &reply{status: status, body: []byte(body), upTo: -1, headers: dated(kind)}
	if location != nil {
		made.headers = append(made.headers, [2]string{"Location", *location})
	}
	return made
}

func dated(kind string) [][2]string {
	return [][2]string{{"Content-Type", kind}, {"Date", time.Now().UTC().Format(http.TimeFormat)}}
}

func garbage(p *plan) *reply {
	size := p.Bytes
	if size == 0 {
		size = garbageBytes
	}
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(p.random.Uint32())
	}
	return &reply{status: http.StatusOK, body: noise, upTo: -1, headers: dated("application/octet-stream")}
}

func cutByReset(made *reply, own *ownReply, after int64) *reply {
	if after == 0 {
		return &reply{silent: true, then: resetConnection}
	}
	if own == nil {
		made = &reply{status: http.StatusOK, headers: dated("application/json"), body: []byte("{")}
		made.filler, made.letter, made.tail = after, ' ', []byte("}")
	}
	made.upTo, made.then = after, resetConnection
	return made
}

// padded makes a valid reply of the size: the extender's own with more in it, or one that says nothing.
func padded(made *reply, own *ownReply, size int64, verb string) *reply {
	if own == nil {
		made.headers, made.body = dated("application/json"), []byte("{}")
		if strings.HasPrefix(verb, "prioriti") {
			made.body = []byte("[]")
		}
	}
	trimmed := bytes.TrimSpace(made.body)
	if len(trimmed) < 2 || !json.Valid(trimmed) {
		return made
	}
	inside := bytes.TrimSpace(trimmed[1 : len(trimmed)-1])
	switch trimmed[0] {
	case '{':
		comma := ","
		if len(inside) == 0 {
			comma = ""
		}
		made.body = []byte("{" + string(inside) + comma + `"Padding":"`)
		made.letter, made.tail = 'x', []byte(`"}`)
	case '[':
		made.body, made.letter, made.tail = []byte("["+string(inside)), ' ', []byte("]")
	default:
		return made
	}
	made.filler = max(0, size-int64(len(made.body)+len(made.tail)))
	return made
}
