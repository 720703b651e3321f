package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// tap is the whole program's state.
type tap struct {
	start    time.Time
	upstream *upstream
	serving  *tls.Config
	gate     *gate
	archive  archive
	open     atomic.Int64 // calls in flight
	unparsed atomic.Int64 // connections that did not speak HTTP/1.x

	mu          sync.Mutex
	connections map[*connection]struct{}
	count       int64
	unrecorded  int64 // number of the last call that nobody recorded
	recording   *recording
	faults      *faultSet

	// A lock of its own: a recording has its lock when it notes a problem, and is entered with ours.
	problemMu sync.Mutex
	problem   string
}

func newTap(u *upstream, serving *tls.Config) *tap {
	return &tap{start: time.Now(), upstream: u, serving: serving, connections: map[*connection]struct{}{},
		faults: &faultSet{}}
}

// now returns the seconds since the start, by a clock that only ever grows.
func (t *tap) now() seconds { return seconds(time.Since(t.start).Seconds()) }

// note keeps a problem until the next recording begins; the first one is the cause of the others.
func (t *tap) note(problem string) {
	t.problemMu.Lock()
	defer t.problemMu.Unlock()
	if t.problem == "" {
		t.problem = problem
	}
}

// record switches to another folder; calls that have begun stay with theirs.
func (t *tap) record(folder *string) (seconds, error) {
	var next *recording
	if folder != nil {
		opened, err := newRecording(*folder, t.note)
		if err != nil {
			return 0, err
		}
		next = opened
	}
	t.mu.Lock()
	before := t.recording
	t.recording, t.unrecorded = next, 0
	now := t.now()
	t.mu.Unlock()
	t.archive.drain() // what has ended is on disk when the order is answered
	if next != nil {
		t.problemMu.Lock()
		t.problem = ""
		t.problemMu.Unlock()
	}
	if before != nil {
		before.finish()
	}
	return now, nil
}

// arm replaces all faults.
func (t *tap) arm(faults []Fault) seconds {
	now := t.now()
	t.mu.Lock()
	before := t.faults
	set := newFaultSet(faults, now, before)
	t.faults = set
	t.mu.Unlock()
	before.disarm()
	t.gate.refuse(false)
	set.scheduleRefusals(now, func(yes bool) {
		t.gate.refuse(yes)
		if yes {
			t.resetAll()
		}
	})
	return now
}

// begin notes a request whose head has come and decides what will be done to it.
func (t *tap) begin(connection int64, h *head, at seconds) *call {
	t.open.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &call{tap: t, recording: t.recording, connection: connection, method: h.method, request: h, started: at}
	if t.recording != nil {
		c.seq = t.recording.enter()
		c.requestBody = t.recording.newBody()
	} else {
		t.unrecorded++
		c.seq = t.unrecorded
	}
	c.plan = t.faults.pick(h.verb(), at)
	return c
}

// sawUnparsed notes a connection that is relayed but not understood.
func (t *tap) sawUnparsed() {
	t.unparsed.Add(1)
	t.note("a connection does not speak HTTP/1.x, or has a head above 1 MiB: unparsed, relayed without recording")
}

func (t *tap) accept(tcp *net.TCPConn) {
	var side net.Conn = tcp
	if t.serving != nil {
		side = tls.Server(tcp, t.serving)
	}
	t.mu.Lock()
	t.count++
	c := newConnection(t, t.count, stream{side, tcp})
	t.connections[c] = struct{}{}
	t.mu.Unlock()
	go func() {
		c.run()
		t.mu.Lock()
		delete(t.connections, c)
		t.mu.Unlock()
	}()
}

func (t *tap) resetAll() {
	t.mu.Lock()
	all := make([]*connection, 0, len(t.connections))
	for c := range t.connections {
		all = append(all, c)
	}
	t.mu.Unlock()
	for _, c := range all {
		c.cutOff()
	}
}

// state is what GET /state says.
type state struct {
	Now       seconds `json:"now"`
	Listening bool    `json:"listening"`
	Open      int64   `json:"open"`
	Faults    int     `json:"faults"`
	Spoilt    []int   `json:"spoilt"` // calls, fault by fault
	Unparsed  int64   `json:"unparsed"`
	Upstream  *string `json:"upstream_problem"`
	Problem   *string `json:"problem"`
}

func (t *tap) state() state {
	t.archive.drain() // a call that is not open any more is on disk
	listening, down, gateProblem := t.gate.state()
	t.mu.Lock()
	spoilt := t.faults.spoilt()
	t.mu.Unlock()
	s := state{Now: t.now(), Listening: listening, Open: t.open.Load(), Faults: len(spoilt), Spoilt: spoilt, Unparsed: t.unparsed.Load()}
	t.problemMu.Lock()
	defer t.problemMu.Unlock()
	if problem := t.problem; problem != "" || gateProblem != "" {
		if problem == "" {
			problem = gateProblem
		}
		s.Problem = &problem
	}
	if down != nil {
		text := fmt.Sprint(down)
		s.Upstream = &text
	}
	return s
}
