package main

import "slices"

// onRequestBytes passes on bytes of the client.
func (c *connection) onRequestBytes(p []byte, at seconds) error {
	for len(p) > 0 {
		var x piece
		x, p = c.requests.framer.next(p)
		if err := c.onRequestPiece(x, at); err != nil {
			return err
		}
	}
	return c.flushRequests()
}

func (c *connection) onRequestPiece(x piece, at seconds) error {
	switch x.kind {
	case nothingYet:
		return nil
	case headPiece:
		if err := c.beginCall(x, at); err != nil {
			return err
		}
		x.data = x.head.withHost(x.data, c.tap.upstream.host)
	case rawPiece:
		if c.current == nil && !c.unparsed {
			c.unparsed = true
			c.tap.sawUnparsed()
		}
	}
	call := c.current
	if x.last {
		c.current = nil
	}
	if call != nil && call.plan != nil && call.plan.answersAt(atRequest) {
		call.tookRequest(x, c.tap.now())
		if x.last {
			return c.answerInstead(call)
		}
		return nil
	}
	c.requests.out = append(c.requests.out, x.data...)
	if call != nil {
		c.requests.after = append(c.requests.after, func(now seconds) { call.tookRequest(x, now) })
	}
	return nil
}

// beginCall notes a new call, and holds it back if it is to be late.
func (c *connection) beginCall(x piece, at seconds) error {
	call := c.tap.begin(c.number, x.head, at)
	c.current = call
	c.mu.Lock()
	c.open = append(slices.DeleteFunc(c.open, isOver), call)
	if call.plan == nil || !call.plan.answersAt(atRequest) {
		c.waiting = append(c.waiting, call)
	}
	c.mu.Unlock()
	if call.plan == nil {
		c.requests.after = append(c.requests.after, func(seconds) { call.writeBegin() })
		return nil // after the write, where it delays nobody
	}
	call.writeBegin()
	if call.plan.Kind == "delay" && call.plan.At == atRequest {
		if err := c.flushRequests(); err != nil {
			return err
		}
		return c.hold(call.plan.delay)
	}
	return nil
}

func (c *connection) flushRequests() error {
	if len(c.requests.out) == 0 && len(c.requests.after) == 0 {
		return nil
	}
	select {
	case <-c.dialled:
	default:
		c.beginAll() // the extender may take long to be reached
		<-c.dialled
	}
	if c.upErr != nil {
		c.beginAll()
		return c.upErr
	}
	err := c.requests.flush(c.up, c.tap.now)
	if err != nil {
		c.beginAll()
	}
	return err
}

// beginAll notes the beginning of calls whose bytes could not be passed on.
func (c *connection) beginAll() {
	c.mu.Lock()
	open := slices.Clone(c.open)
	c.mu.Unlock()
	for _, call := range open {
		call.writeBegin()
	}
}

// onReplyBytes passes on bytes of the extender.
func (c *connection) onReplyBytes(p []byte, at seconds) error {
	for len(p) > 0 {
		var x piece
		x, p = c.replies.framer.next(p)
		if err := c.onReplyPiece(x, at); err != nil {
			return err
		}
	}
	return c.replies.flush(c.down, c.tap.now)
}

func (c *connection) onReplyPiece(x piece, at seconds) error {
	if x.kind == nothingYet {
		return nil
	}
	call := c.answered()
	if x.kind == headPiece {
		c.closeAnnounced = x.head.closes() || (call != nil && call.request.closes())
	}
	if x.kind == headPiece && x.head.status >= 200 && call != nil && call.plan != nil && call.plan.At == atReply {
		if call.plan.Kind == "delay" {
			c.pause(call.plan.delay)
		} else {
			c.shaping = newShape(call, x.head, at)
		}
	}
	if c.shaping != nil {
		c.shaping.take(x)
	} else {
		c.replies.out = append(c.replies.out, x.data...)
		if call != nil {
			c.replies.after = append(c.replies.after, func(seconds) { noteReply(call, x, at) })
		}
	}
	if x.last {
		if err := c.replies.flush(c.down, c.tap.now); err != nil {
			return err
		}
		return c.endOfReply()
	}
	return nil
}

func noteReply(call *call, x piece, at seconds) {
	switch {
	case x.kind == headPiece && (x.head.status >= 200 || x.head.status == 101):
		call.sawReplyHead(x.head.status, x.head.headers, at)
	case x.kind == payloadPiece:
		call.gaveReply(x.data)
	case x.kind == rawPiece:
		call.markUnparsed()
	}
}

// endOfReply ends the call that the extender has answered.
func (c *connection) endOfReply() error {
	now := c.tap.now()
	c.mu.Lock()
	if len(c.waiting) == 0 {
		c.mu.Unlock()
		return nil
	}
	call := c.waiting[0]
	c.waiting = c.waiting[1:]
	c.mu.Unlock()
	if shaping := c.shaping; shaping != nil {
		c.shaping = nil
		return c.deliver(call, shaping.reply())
	}
	return c.answeredCall(call, now)
}

// answeredCall notes a whole reply, unless the client had gone and its side has just said so with a reset.
func (c *connection) answeredCall(call *call, now seconds) error {
	if c.down.broken() {
		c.lostClient()
		return errEnded
	}
	call.replied(now)
	return nil
}

// answered returns the call that the extender is answering, nil if nobody asked.
func (c *connection) answered() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return nil
	}
	return c.waiting[0]
}

func (c *connection) answeredMethod() string {
	if call := c.answered(); call != nil {
		return call.method
	}
	return ""
}
