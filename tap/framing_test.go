package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// relayed feeds a stream in blocks of one size and returns all bytes, the body bytes, and the number of messages.
func relayed(f *framer, text string, block int) (all, payload string, messages int) {
	var whole, bodies bytes.Buffer
	for at := 0; at < len(text); at += block {
		p := []byte(text[at:min(at+block, len(text))])
		for len(p) > 0 {
			var x piece
			x, p = f.next(p)
			whole.Write(x.data)
			if x.kind == payloadPiece {
				bodies.Write(x.data)
			}
			if x.last {
				messages++
			}
		}
	}
	rest, completes := f.rest()
	whole.Write(rest)
	if completes {
		messages++
	}
	return whole.String(), bodies.String(), messages
}

func TestFramingKeepsEveryByte(t *testing.T) {
	const get = "GET / HTTP/1.1\r\n\r\n"
	cases := []struct {
		name, text, method, payload string
		isReply                     bool
		messages                    int
	}{
		{"length", "POST /filter HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello" + get, "", "hello", false, 2},
		{"no body", get + get, "", "", false, 2},
		{"blank lines before", "\r\n\r\n" + get, "", "", false, 1},
		{"bare newlines", "POST / HTTP/1.1\nContent-Length: 2\n\nhi", "", "hi", false, 1},
		{"chunked", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n" + get,
			"", "abc0123456789", false, 2},
		{"until close", "HTTP/1.1 200 OK\r\n\r\nall of it", "POST", "all of it", true, 1},
		{"length 0", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "POST", "", true, 1},
		{"continue first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "POST", "x", true, 1},
		{"answer to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD", "", true, 2},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", "POST", "", true, 1},
		{"switching", "HTTP/1.1 101 Switching Protocols\r\n\r\nanything\r\n\r\n", "GET", "", true, 1},
		{"not HTTP", "hello\r\n\r\nworld", "", "", false, 0},
		{"bad length", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\nhello", "", "", false, 0},
		{"bad chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", "", "", false, 0},
		{"chunk without end", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", "", "he", false, 0},
		{"head that never ends", "POST / HTTP/1.1\r\nA: b", "", "", false, 0},
		{"huge head", "POST / HTTP/1.1\r\nA: " + strings.Repeat("b", headLimit) + "\r\n\r\n", "", "", false, 0},
	}
	for _, c := range cases {
		for _, block := range []int{1, 2, 7, 4096, 1 << 22} {
			if len(c.text) > headLimit && block < 4096 {
				continue
			}
			t.Run(fmt.Sprintf("%s by %d", c.name, block), func(t *testing.T) {
				f := &framer{isReply: c.isReply, method: func() string { return c.method }}
				all, payload, messages := relayed(f, c.text, block)
				if all != c.text {
					t.Errorf("bytes changed: %d came, %d went on", len(c.text), len(all))
				}
				if payload != c.payload || messages != c.messages {
					t.Errorf("seen %q in %d messages, expected %q in %d", payload, messages, c.payload, c.messages)
				}
			})
		}
	}
}

func TestOnlyTheValueOfHostChanges(t *testing.T) {
	const before = "POST /s/filter?x=1 HTTP/1.1\r\nAccept: */*\r\nhOSt: \t tap:1  \r\nX-Host: tap:1\r\n\r\n"
	h := parseHead([]byte(before), false)
	after := string(h.withHost([]byte(before), "extender:8888"))
	if expected := strings.Replace(before, "tap:1  ", "extender:8888  ", 1); after != expected {
		t.Errorf("%q became %q, expected %q", before, after, expected)
	}
	if h.value("Host") != "extender:8888" || h.verb() != "filter" {
		t.Errorf("noted Host %q and verb %q", h.value("Host"), h.verb())
	}
	without := []byte("GET / HTTP/1.0\r\n\r\n")
	if kept := parseHead(without, false).withHost(without, "extender"); !bytes.Equal(kept, without) {
		t.Errorf("a head without Host became %q", kept)
	}
}

func TestWhatClosesAConnection(t *testing.T) {
	for text, expected := range map[string]bool{
		"GET / HTTP/1.1\r\n\r\n":                           false,
		"GET / HTTP/1.1\r\nConnection: close\r\n\r\n":      true,
		"GET / HTTP/1.0\r\n\r\n":                           true,
		"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n": false,
	} {
		if parseHead([]byte(text), false).closes() != expected {
			t.Errorf("%q: expected %v", text, expected)
		}
	}
}
