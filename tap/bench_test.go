package main

import (
	"bytes"
	"testing"
	"time"
)

// BenchmarkRecordedCall is what recording one small call costs beside relaying it.
func BenchmarkRecordedCall(b *testing.B) {
	t := newTap(&upstream{host: "extender"}, nil)
	t.start = time.Now()
	folder := b.TempDir()
	if _, err := t.record(&folder); err != nil {
		b.Fatal(err)
	}
	const text = "POST /filter HTTP/1.1\r\nHost: x\r\nUser-Agent: Go-http-client/1.1\r\nContent-Type: application/json\r\n\r\n"
	payload := piece{kind: payloadPiece, data: bytes.Repeat([]byte(`"node-0001",`), 100), last: true}
	for b.Loop() {
		h := parseHead([]byte(text), false)
		c := t.begin(1, h, t.now())
		c.writeBegin()
		c.tookRequest(payload, t.now())
		c.sawReplyHead(200, h.headers, t.now())
		c.gaveReply(payload.data)
		c.replied(t.now())
	}
}
