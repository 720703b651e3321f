package main

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bufferBytes = 64 << 10
	// A client that half-closes may still wait for its reply; kube-scheduler never does, so this is how long we doubt.
	halfCloseDoubt = 250 * time.Millisecond
	// How long a request may take to follow its connection when the upstream was found gone.
	lastWords = 20 * time.Millisecond
	// How long a call that ends waits for its request to be noted, which comes right after the write.
	noteDoubt = 100 * time.Millisecond
)

var errEnded = errors.New("the tap ended the connection")

// connection is one client's connection and its counterpart to the extender.
// Requests are relayed by the goroutine that runs it, replies by a second one. Both write first and note afterwards.
type connection struct {
	tap      *tap
	number   int64
	down, up stream

	dialled     chan struct{} // closed when up is there, or upErr says why not
	upErr       error
	repliesDone chan struct{}
	gone        chan struct{} // closed when the client has ended its side
	goneAt      atomic.Pointer[seconds]
	upReset     atomic.Bool
	cut         atomic.Bool // a fault of the whole tap ended the connection
	over        atomic.Bool // a fault of a call ended the connection
	hanging     atomic.Bool // a fault leaves a call without an answer

	requests relay
	replies  relay
	current  *call     // whose request is being read; this and the next three are of the request goroutine
	ahead    chan read // what the client says next, while a fault holds its request back
	said     []byte    // what it said in the meantime
	unparsed bool
	shaping  *shape // spoils the reply that is being read; this and the next are of the reply goroutine
	// A connection that ends as announced says nothing about whether the extender is still there.
	closeAnnounced bool

	mu      sync.Mutex
	waiting []*call // for a reply of the extender, oldest first
	open    []*call // not ended yet
}

// relay is one direction: what is to be written, and what is to be noted once it is.
type relay struct {
	framer framer
	out    []byte
	after  []func(now seconds)
	busy   atomic.Bool // something is written and not noted yet
}

// settle waits until what is written is noted too; a write that nobody takes is not waited for.
func (r *relay) settle() {
	for deadline := time.Now().Add(noteDoubt); r.busy.Load() && time.Now().Before(deadline); {
		time.Sleep(50 * time.Microsecond)
	}
}

// flush writes what has gathered, and then notes it.
func (r *relay) flush(to stream, clock func() seconds) error {
	// Taken before the write: on loopback the reply may be here before the write returns.
	now := clock()
	r.busy.Store(true)
	defer r.busy.Store(false)
	if len(r.out) > 0 {
		if _, err := to.Write(r.out); err != nil {
			return err
		}
	}
	for _, note := range r.after {
		note(now)
	}
	clear(r.after)
	r.out, r.after = r.out[:0], r.after[:0]
	return nil
}

func newConnection(t *tap, number int64, down stream) *connection {
	c := &connection{tap: t, number: number, down: down, dialled: make(chan struct{}),
		repliesDone: make(chan struct{}), gone: make(chan struct{})}
	c.replies.framer = framer{isReply: true, method: c.answeredMethod}
	return c
}

// run relays until both sides have ended.
func (c *connection) run() {
	go c.dial()
	c.pumpRequests()
	<-c.dialled
	if c.upErr == nil {
		<-c.repliesDone
		_ = c.up.Close()
	}
	c.endOpen()
	_ = c.down.Close()
}

func (c *connection) dial() {
	defer close(c.repliesDone)
	side, connected, err := c.tap.upstream.dial()
	c.up, c.upErr = side, err
	if err != nil {
		if connected {
			c.tap.note("the extender does not shake hands: " + err.Error())
		} else {
			c.tap.gate.lost(err)
		}
		_ = c.down.SetReadDeadline(time.Now().Add(lastWords))
		close(c.dialled)
		return
	}
	close(c.dialled)
	c.pumpReplies()
}

// pumpRequests passes on what the client says, until it or the extender ends.
func (c *connection) pumpRequests() {
	buffer := make([]byte, bufferBytes)
	for {
		p, err := c.readDown(buffer)
		if len(p) > 0 {
			if failed := c.onRequestBytes(p, c.tap.now()); failed != nil {
				c.requestsFailed(failed)
				return
			}
		}
		if err != nil {
			c.clientEnded(err)
			return
		}
	}
}

// clientEnded passes on how the client ended its side.
func (c *connection) clientEnded(err error) {
	c.markGone()
	<-c.dialled
	if c.over.Load() {
		return
	}
	if c.upErr != nil {
		c.endOpenAs("unreachable")
		c.down.reset()
		return
	}
	if !isEnd(err) {
		c.endOpen()
		c.up.reset()
		return
	}
	if kept, _ := c.requests.framer.rest(); len(kept) > 0 {
		_, _ = c.up.Write(kept)
	}
	c.up.closeWrite()
	select {
	case <-c.repliesDone:
	case <-time.After(halfCloseDoubt):
		c.endOpen()
	}
}

// requestsFailed ends the connection when the extender does not take what the client says.
func (c *connection) requestsFailed(err error) {
	var left clientLeftError
	if errors.As(err, &left) {
		c.clientEnded(left.how)
		return
	}
	<-c.dialled
	if c.upErr != nil {
		c.endOpenAs("unreachable")
		c.down.reset()
		return
	}
	if !errors.Is(err, errEnded) {
		// What the extender said before it went still has to reach the client; then comes the reset.
		c.upReset.Store(true)
	}
	<-c.repliesDone
	if !errors.Is(err, errEnded) {
		c.down.reset()
	}
}

// pumpReplies passes on what the extender says, until it or the client ends.
func (c *connection) pumpReplies() {
	buffer := make([]byte, bufferBytes)
	for {
		n, err := c.up.Read(buffer)
		if n > 0 {
			if failed := c.onReplyBytes(buffer[:n], c.tap.now()); failed != nil {
				if !errors.Is(failed, errEnded) {
					c.lostClient()
				}
				return
			}
		}
		if err != nil {
			c.extenderEnded(err)
			return
		}
	}
}

// extenderEnded passes on how the extender ended its side.
func (c *connection) extenderEnded(err error) {
	if c.hanging.Load() {
		<-c.gone // an extender that tires of an idle connection must not end the hang
	}
	if c.over.Load() {
		return
	}
	clean := isEnd(err) && !c.upReset.Load()
	kept, completes := c.replies.framer.rest()
	if len(kept) > 0 {
		_, _ = c.down.Write(kept)
	}
	if completes && clean {
		_ = c.endOfReply()
	}
	if c.goneAt.Load() == nil {
		c.endOpen()
		if !c.closeAnnounced {
			// Before the client knows: if the extender is gone, the client's next try is to be refused.
			c.tap.gate.look()
		}
	}
	if clean {
		c.down.closeWrite()
	} else {
		c.down.reset()
	}
}

// lostClient ends everything because nothing can be written to the client any more.
func (c *connection) lostClient() {
	c.markGone()
	c.endOpen()
	c.up.reset()
}

// markGone notes when the client ended its side.
func (c *connection) markGone() {
	at := c.tap.now()
	if c.goneAt.CompareAndSwap(nil, &at) {
		close(c.gone)
	}
}

// isEnd says whether the other side ended in good order. With TLS some end without saying goodbye first.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// cutOff resets both sides, for a fault that concerns the whole tap.
func (c *connection) cutOff() {
	c.cut.Store(c.goneAt.Load() == nil)
	c.down.reset()
	select {
	case <-c.dialled:
		if c.upErr == nil {
			c.up.reset()
		}
	default:
	}
}

// endOpen ends the calls that nobody will answer any more.
func (c *connection) endOpen() {
	if c.goneAt.Load() != nil && !c.cut.Load() {
		c.endOpenAs("aborted")
	} else {
		c.endOpenAs("cut")
	}
}

func (c *connection) endOpenAs(ending string) {
	now := c.tap.now()
	if at := c.goneAt.Load(); at != nil {
		now = *at
	}
	// On loopback the extender's end may be here before the write of the request has returned.
	c.requests.settle()
	c.mu.Lock()
	open := c.open
	c.open, c.waiting = nil, nil
	c.mu.Unlock()
	for _, call := range open {
		call.finish(ending, now)
	}
}
