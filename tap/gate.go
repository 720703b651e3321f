package main

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	probeInterval = 50 * time.Millisecond
	quickLook     = 100 * time.Millisecond
)

// gate listens while the upstream takes connections and nobody asked to refuse. A closed gate makes the kernel refuse,
// which is what a client of a missing extender sees.
type gate struct {
	address string
	probe   func(time.Duration) error
	accept  func(*net.TCPConn)
	suspect chan struct{}

	mu       sync.Mutex
	listener *net.TCPListener
	down     error // why the upstream counts as gone
	refusing bool
	problem  string
}

// newGate opens the gate if the upstream is there already; watch does so later.
func newGate(address string, probe func(time.Duration) error, accept func(*net.TCPConn)) *gate {
	g := &gate{address: address, probe: probe, accept: accept, suspect: make(chan struct{}, 1)}
	err := probe(quickLook)
	g.set(func() { g.down = err })
	if !g.listening() {
		g.doubt()
	}
	return g
}

// watch looks after the upstream whenever there is reason to doubt it, and as long as it is gone.
//
// A living upstream is left alone: it would see every probe as a connection that nobody made without the tap.
func (g *gate) watch() {
	for range g.suspect {
		for {
			err := g.probe(dialTimeout)
			g.set(func() { g.down = err })
			if err == nil && g.listening() {
				break
			}
			if err == nil && g.isRefusing() {
				break
			}
			time.Sleep(probeInterval)
		}
	}
}

// look closes the gate if the upstream refuses right now. It is quick, because a client waits for it.
func (g *gate) look() {
	if err := g.probe(quickLook); errors.Is(err, syscall.ECONNREFUSED) {
		g.lost(err)
	}
}

// doubt asks for a look at the upstream.
func (g *gate) doubt() {
	select {
	case g.suspect <- struct{}{}:
	default:
	}
}

// lost closes the gate at once: the upstream just refused.
func (g *gate) lost(err error) {
	g.set(func() { g.down = err })
	g.doubt()
}

// refuse closes the gate, or lets it open again.
func (g *gate) refuse(yes bool) {
	g.set(func() { g.refusing = yes })
	if !yes {
		g.doubt()
	}
}

func (g *gate) listening() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.listener != nil
}

func (g *gate) isRefusing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusing
}

// state returns whether the gate is open, what keeps the upstream away, and what is wrong with the gate itself.
func (g *gate) state() (open bool, down error, problem string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.listener != nil, g.down, g.problem
}

// set changes a reason and opens or closes accordingly.
func (g *gate) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	wanted := g.down == nil && !g.refusing
	switch {
	case wanted && g.listener == nil:
		g.open()
	case !wanted && g.listener != nil:
		_ = g.listener.Close()
		g.listener = nil
	}
}

func (g *gate) open() {
	listener, err := net.Listen("tcp", g.address)
	if err != nil {
		g.problem = "listening: " + err.Error()
		return
	}
	g.problem = ""
	g.listener = listener.(*net.TCPListener)
	go g.serve(g.listener)
}

func (g *gate) serve(listener *net.TCPListener) {
	for {
		connection, err := listener.AcceptTCP()
		if err == nil {
			g.accept(connection)
			continue
		}
		g.mu.Lock()
		current := g.listener == listener
		g.mu.Unlock()
		if !current {
			return
		}
		// Out of descriptors, most likely: clients wait in the backlog until there are some again.
		time.Sleep(probeInterval)
	}
}
