package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const slowTick = 50 * time.Millisecond

type afterReply int

const (
	keepOpen afterReply = iota
	closeCleanly
	resetConnection
	neverAnswer
)

// reply is what a fault gives to the scheduler in place of the extender's own.
type reply struct {
	silent  bool // not even a head
	status  int
	headers [][2]string // without Content-Length
	body    []byte
	filler  int64 // spaces or letters between body and tail
	letter  byte
	tail    []byte
	upTo    int64   // bytes of the body that are written, all if negative
	rate    float64 // bytes per second, unlimited if 0
	then    afterReply
}

func (r *reply) size() int64 { return int64(len(r.body)) + r.filler + int64(len(r.tail)) }

// content returns the body's bytes one after the other; a huge one is never in memory.
func (r *reply) content() io.Reader {
	filler := io.LimitReader(repeated(r.letter), r.filler)
	whole := io.MultiReader(bytes.NewReader(r.body), filler, bytes.NewReader(r.tail))
	if r.upTo < 0 {
		return whole
	}
	return io.LimitReader(whole, r.upTo)
}

// head returns the status line and the headers, as Go's server writes them.
func (r *reply) head() ([]byte, [][2]string) {
	headers := append(r.headers, [2]string{"Content-Length", strconv.FormatInt(r.size(), 10)})
	var text bytes.Buffer
	fmt.Fprintf(&text, "HTTP/1.1 %03d %s\r\n", r.status, http.StatusText(r.status))
	for _, field := range headers {
		fmt.Fprintf(&text, "%s: %s\r\n", field[0], field[1])
	}
	text.WriteString("\r\n")
	return text.Bytes(), headers
}

type repeated byte

// Read fills p with one letter, without end.
func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// answerInstead answers a call that the extender never gets to see.
func (c *connection) answerInstead(call *call) error {
	if err := c.flushRequests(); err != nil {
		return err
	}
	<-c.dialled
	if c.upErr != nil {
		return c.upErr
	}
	made := invent(call, nil)
	if call.request.closes() && made.then == keepOpen {
		made.headers = append(made.headers, [2]string{"Connection", "close"})
		made.then = closeCleanly
	}
	return c.deliver(call, made)
}

// deliver gives a reply to the scheduler and ends the connection if the fault wants so.
func (c *connection) deliver(call *call, r *reply) error {
	if !r.silent {
		if err := c.writeReply(call, r); err != nil {
			c.lostClient()
			return errEnded
		}
	}
	whole := !r.silent && (r.upTo < 0 || r.upTo >= r.size())
	switch {
	case r.then == neverAnswer:
		c.hanging.Store(true)
		return nil
	case r.then == keepOpen:
		return c.answeredCall(call, c.tap.now())
	case whole:
		call.replied(c.tap.now())
	default:
		now := c.tap.now()
		c.requests.settle()
		call.finish("cut", now)
	}
	c.over.Store(true)
	if r.then == resetConnection {
		c.down.reset()
	} else {
		_ = c.down.Close()
	}
	_ = c.up.Close()
	return errEnded
}

func (c *connection) writeReply(call *call, r *reply) error {
	block, headers := r.head()
	call.sawReplyHead(r.status, headers, c.tap.now())
	size := bufferBytes
	if r.rate > 0 {
		if _, err := c.down.Write(block); err != nil {
			return err
		}
		block = nil
		size = min(size, max(1, int(r.rate*slowTick.Seconds())))
	}
	content := r.content()
	if strings.EqualFold(call.method, http.MethodHead) {
		content = bytes.NewReader(nil)
	}
	part := make([]byte, size)
	for {
		n, err := io.ReadFull(content, part)
		if block = append(block, part[:n]...); len(block) > 0 {
			if _, failed := c.down.Write(block); failed != nil {
				return failed
			}
		}
		call.gaveReply(part[:n])
		block = block[:0]
		if err != nil {
			return nil
		}
		if r.rate > 0 {
			c.pause(time.Duration(float64(n) / r.rate * float64(time.Second)))
		}
	}
}
