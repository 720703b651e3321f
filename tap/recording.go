package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// recording is one folder that calls are written into. It closes its files when it is over and its last call ended.
type recording struct {
	folder  string
	problem func(string)

	mu       sync.Mutex
	calls    *os.File
	bodies   *os.File
	offset   int64
	seq      int64
	open     int
	over     bool
	torn     bool // the last line was cut short
	noBodies bool
}

func newRecording(folder string, problem func(string)) (*recording, error) {
	const flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	calls, err := os.OpenFile(filepath.Join(folder, "calls.jsonl"), flags, 0o600)
	if err != nil {
		return nil, err
	}
	bodies, err := os.OpenFile(filepath.Join(folder, "bodies.zst"), flags, 0o600)
	if err != nil {
		_ = calls.Close()
		return nil, err
	}
	offset, err := bodies.Seek(0, os.SEEK_END)
	if err != nil {
		offset = 0 // a device has no end
	}
	return &recording{folder: folder, problem: problem, calls: calls, bodies: bodies, offset: offset}, nil
}

// enter gives a call its number; leave must follow.
func (r *recording) enter() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	r.seq++
	return r.seq
}

func (r *recording) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	r.closeWhenDone()
}

// finish says that no more calls will enter.
func (r *recording) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.closeWhenDone()
}

func (r *recording) closeWhenDone() {
	if r.over && r.open == 0 {
		_ = r.calls.Close()
		_ = r.bodies.Close()
	}
}

func (r *recording) newBody() *body { return &body{folder: r.folder} }

// line appends one line with one write.
func (r *recording) line(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := r.calls.Write(text)
	if err != nil {
		r.torn = r.torn || n > 0
		r.problem(fmt.Sprintf("writing calls.jsonl: %v", err))
		return
	}
	r.torn = false
}

// keep appends a body and returns where it lies; nil for an empty one, or when bodies cannot be kept.
func (r *recording) keep(b *body) *reference {
	if b == nil {
		return nil
	}
	defer b.packed.drop()
	if b.size == 0 {
		return nil
	}
	b.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.noBodies {
		return nil
	}
	if b.err != nil {
		r.giveUpBodies(b.err)
		return nil
	}
	n, err := b.packed.copyTo(r.bodies)
	if err != nil {
		r.giveUpBodies(err)
		return nil
	}
	at := &reference{r.offset, n}
	r.offset += n
	return at
}

func (r *recording) giveUpBodies(err error) {
	r.noBodies = true
	r.problem(fmt.Sprintf("writing bodies: %v; bodies are not recorded any more", err))
}
