package main

import (
	"bytes"
	"strconv"
	"strings"
)

// head is the first part of an HTTP message, taken apart.
type head struct {
	method, target string // of a request
	status         int    // of a reply
	proto          string
	headers        [][2]string
	length         int64 // Content-Length, -1 if there is none
	chunked        bool
	hostAt         [2]int // where the value of Host stands in the bytes, empty if there is none
}

// parseHead takes a head apart, nil if it is not one of HTTP/1.x.
func parseHead(p []byte, isReply bool) *head {
	h := &head{length: -1, headers: make([][2]string, 0, 8)}
	text := string(p)
	first := true
	for at := 0; at < len(p); {
		end := at + bytes.IndexByte(p[at:], '\n') + 1
		if end == at {
			end = len(p)
		}
		line := strings.TrimRight(text[at:end], "\r\n")
		switch {
		case line == "":
		case first:
			first = false
			if !h.startLine(line, isReply) {
				return nil
			}
		case !h.field(line, at):
			return nil
		}
		at = end
	}
	if first {
		return nil
	}
	return h
}

func (h *head) startLine(line string, isReply bool) bool {
	words := strings.SplitN(line, " ", 3)
	if isReply {
		if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/1.") {
			return false
		}
		status, err := strconv.Atoi(words[1])
		h.proto, h.status = words[0], status
		return err == nil && status >= 100 && status <= 999
	}
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/1.") {
		return false
	}
	h.method, h.target, h.proto = words[0], words[1], words[2]
	return true
}

func (h *head) field(line string, at int) bool {
	if line[0] == ' ' || line[0] == '\t' {
		// A folded line goes on with the value before.
		if len(h.headers) > 0 {
			h.headers[len(h.headers)-1][1] += " " + strings.TrimSpace(line)
		}
		return len(h.headers) > 0
	}
	name, value, found := strings.Cut(line, ":")
	if !found {
		return false
	}
	trimmed := strings.Trim(value, " \t")
	h.headers = append(h.headers, [2]string{name, trimmed})
	switch name = strings.TrimSpace(name); {
	case strings.EqualFold(name, "content-length"):
		length, err := strconv.ParseInt(trimmed, 10, 63)
		if err != nil || length < 0 {
			return false
		}
		h.length = length
	case strings.EqualFold(name, "transfer-encoding"):
		h.chunked = strings.EqualFold(lastWord(trimmed), "chunked")
	case strings.EqualFold(name, "host"):
		if h.hostAt[1] == 0 {
			start := at + strings.IndexByte(line, ':') + 1 + len(value) - len(strings.TrimLeft(value, " \t"))
			h.hostAt = [2]int{start, start + len(trimmed)}
		}
	}
	return true
}

func lastWord(list string) string {
	return strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:])
}

// withHost returns the bytes of the head with another value of Host, and notes it.
func (h *head) withHost(p []byte, host string) []byte {
	if h.hostAt[1] == 0 {
		return p
	}
	changed := make([]byte, 0, len(p)+len(host))
	changed = append(changed, p[:h.hostAt[0]]...)
	changed = append(changed, host...)
	changed = append(changed, p[h.hostAt[1]:]...)
	for i, field := range h.headers {
		if strings.EqualFold(strings.TrimSpace(field[0]), "host") {
			h.headers[i][1] = host
			break
		}
	}
	return changed
}

// value returns a header's value, "" if there is none.
func (h *head) value(name string) string {
	for _, field := range h.headers {
		if strings.EqualFold(field[0], name) {
			return field[1]
		}
	}
	return ""
}

// closes says whether the message announces that the connection ends after this exchange.
func (h *head) closes() bool {
	option := strings.ToLower(h.value("Connection"))
	return option == "close" || (h.proto == "HTTP/1.0" && option != "keep-alive")
}

// verb returns the last segment of a request's path, which is how an extender's verb is spelled.
func (h *head) verb() string {
	path, _, _ := strings.Cut(h.target, "?")
	return path[strings.LastIndexByte(path, '/')+1:]
}
