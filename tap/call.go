package main

import "sync"

// call is one request and what became of it.
//
// Two goroutines know it: the one that relays requests and the one that relays replies. Its end is written by
// whichever of them is done last.
type call struct {
	tap        *tap
	recording  *recording // nil while nobody records
	connection int64
	seq        int64
	method     string
	request    *head
	plan       *plan // the fault that this call has, nil if none
	started    seconds

	mu           sync.Mutex
	begun        bool
	requestDone  bool
	replyDone    bool
	ended        bool
	ending       string
	endedAt      seconds
	sent         *seconds
	firstByte    *seconds
	status       *int
	replyHeaders [][2]string
	unparsed     bool
	requestBody  *body
	replyBody    *body
	upstreamBody *body
	requestSize  int64
	replySize    int64
}

// writeBegin writes once that the call has begun; its end waits for this.
func (c *call) writeBegin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return
	}
	if c.recording != nil {
		c.tap.archive.add(func() { c.recording.line(c.beginLine()) })
	}
	c.begun = true
	c.writeEndWhenDone()
}

// tookRequest notes bytes of the request that were passed on (or swallowed by a fault) before now.
func (c *call) tookRequest(x piece, now seconds) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.kind == payloadPiece && !c.ended {
		c.requestSize += int64(len(x.data))
		if c.requestBody != nil {
			c.requestBody.write(x.data)
		}
	}
	if c.ended {
		return
	}
	c.unparsed = c.unparsed || x.kind == rawPiece
	if !x.last {
		return
	}
	c.sent = &now
	c.closeRequest()
	c.writeEndWhenDone()
}

func (c *call) closeRequest() {
	if !c.requestDone && c.requestBody != nil {
		c.requestBody.closeStream()
	}
	c.requestDone = true
}

// sawReplyHead notes the head of what the scheduler gets.
func (c *call) sawReplyHead(status int, headers [][2]string, at seconds) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.status, c.replyHeaders = &status, headers
	if c.firstByte == nil {
		c.firstByte = &at
	}
}

// gaveReply notes bytes of the body that the scheduler got.
func (c *call) gaveReply(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.replySize += int64(len(p))
	if c.recording == nil {
		return
	}
	if c.replyBody == nil {
		c.replyBody = c.recording.newBody()
	}
	c.replyBody.write(p)
}

// sawUpstream notes bytes of the extender's own reply while the scheduler gets another one.
func (c *call) sawUpstream(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recording == nil || c.ended {
		return
	}
	if c.upstreamBody == nil {
		c.upstreamBody = c.recording.newBody()
	}
	c.upstreamBody.write(p)
}

// isOver says whether the end has been written.
func isOver(c *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *call) markUnparsed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unparsed = c.unparsed || !c.ended
}

// replied notes that the reply was passed on whole; the call is over once the request is too.
func (c *call) replied(now seconds) { c.over("answered", now, false) }

// finish notes that nothing more will come of the call. The first ending counts.
func (c *call) finish(ending string, now seconds) { c.over(ending, now, true) }

func (c *call) over(ending string, now seconds, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.replyDone {
		c.replyDone, c.ending, c.endedAt = true, ending, now
	}
	if gone {
		c.closeRequest()
	}
	c.writeEndWhenDone()
}

// writeEndWhenDone runs with the lock held.
func (c *call) writeEndWhenDone() {
	if c.ended || !c.begun || !c.requestDone || !c.replyDone {
		return
	}
	c.ended = true
	c.tap.open.Add(-1)
	if c.recording == nil {
		return
	}
	bodies := []*body{c.requestBody, c.replyBody, c.upstreamBody}
	for _, body := range bodies {
		if body != nil {
			body.closeStream()
		}
	}
	c.tap.archive.add(func() {
		c.recording.line(c.endLine())
		c.recording.leave()
	})
}

func (c *call) beginLine() []byte {
	var fault *string
	if c.plan != nil {
		fault = &c.plan.text
	}
	return newLine("begin", c.seq, c.started).integer("connection", c.connection).text("method", c.method).
		text("path", c.request.target).optionalText("fault", fault).end()
}

// endLine puts the bodies where they belong and says all that is known; nothing changes any more.
func (c *call) endLine() []byte {
	line := newLine("end", c.seq, c.endedAt).optionalSeconds("sent", c.sent).optionalSeconds("first_byte", c.firstByte)
	line = line.text("ending", c.ending)
	if c.status == nil {
		line = append(line.key("status"), "null"...)
	} else {
		line = line.integer("status", int64(*c.status))
	}
	line = line.integer("request_bytes", c.requestSize).integer("response_bytes", c.replySize).
		place("request", c.recording.keep(c.requestBody)).place("response", c.recording.keep(c.replyBody))
	if c.upstreamBody != nil {
		line = line.place("upstream", c.recording.keep(c.upstreamBody))
	}
	if c.unparsed {
		line = append(line.key("unparsed"), "true"...)
	}
	return line.headers("request_headers", c.request.headers).headers("response_headers", c.replyHeaders).end()
}
