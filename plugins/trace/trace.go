// Package trace writes down every call that a scheduling framework makes of its plugins.
//
// It is compiled into the schedulers that the harness builds, and does nothing unless HARNESS_TRACE names a file.
// A line of that file is one call, or a sum of calls where there would be too many; docs/reference/plugins.md has the
// keys. Lines stand in the order in which calls ended; t_unix_ns says when one began.
package trace

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// Variable names the file that is written.
const Variable = "HARNESS_TRACE"

const (
	flushInterval = 50 * time.Millisecond
	// settleAfter is how long node-level calls may wait for more of their attempt.
	settleAfter = 50 * time.Millisecond
)

// Current writes the trace of this process; nil when nobody asked for one.
var Current = open(os.Getenv(Variable))

// Pod is who is being scheduled.
type Pod struct {
	Namespace, Name, UID string
}

// Call is one call of one plugin. Code and Text are those of its status; Text is empty for a success.
type Call struct {
	Point, Plugin, Node, Code, Text string
	Pod                             Pod
	Start                           time.Time
	Duration                        time.Duration
}

// Writer keeps calls until its own goroutine has written them, so that a scheduler never waits for a disk.
type Writer struct {
	mutex   sync.Mutex
	file    *os.File
	lines   []line
	attempt attempt
	queued  map[Pod]*sum
	failed  bool

	writing sync.Mutex
	buffer  []byte
}

func open(path string) *Writer {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
	writer := newWriter(file)
	go func() {
		for now := range time.Tick(flushInterval) {
			writer.write(now.Add(-settleAfter))
		}
	}()
	return writer
}

func newWriter(file *os.File) *Writer {
	return &Writer{file: file, queued: map[Pod]*sum{}}
}

// Called notes a call that is made once in an attempt.
func (w *Writer) Called(call Call) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if call.Point == "PreFilter" {
		w.leaveQueue(call.Pod)
	}
	if w.attempt.pod == call.Pod {
		w.settle()
	}
	w.lines = append(w.lines, line{call: call})
}

// CalledOnNode notes a call that is made for node after node.
func (w *Writer) CalledOnNode(call Call) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.attempt.pod != call.Pod {
		w.settle()
		w.attempt.pod = call.Pod
	}
	w.attempt.add(call)
}

// Compared notes that the queue compared a pod with another; a pod's comparisons become one line when it is its turn.
func (w *Writer) Compared(plugin string, pod Pod, start time.Time, duration time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	found := w.queued[pod]
	if found == nil {
		found = &sum{first: Call{Point: "QueueSort", Plugin: plugin, Pod: pod, Start: start}}
		w.queued[pod] = found
	}
	found.add(Call{Code: "Success", Duration: duration})
}

// Arguments notes what a plugin was configured with.
func (w *Writer) Arguments(plugin string, arguments any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	call := Call{Point: "Arguments", Plugin: plugin, Code: "Success", Start: time.Now()}
	w.lines = append(w.lines, line{call: call, arguments: encode(arguments)})
}

// Flush writes all that is known; for the end of the process.
func (w *Writer) Flush() {
	if w == nil {
		return
	}
	w.mutex.Lock()
	for pod := range w.queued {
		w.leaveQueue(pod)
	}
	w.mutex.Unlock()
	w.write(time.Now().Add(time.Hour))
}

func (w *Writer) leaveQueue(pod Pod) {
	if found := w.queued[pod]; found != nil {
		w.lines = append(w.lines, found.line())
		delete(w.queued, pod)
	}
}

func (w *Writer) settle() {
	w.lines = w.attempt.settle(w.lines)
}

// write puts out every line, and those of an attempt that has been silent since a time.
func (w *Writer) write(silentSince time.Time) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mutex.Lock()
	if w.attempt.last.Before(silentSince) {
		w.settle()
	}
	lines := w.lines
	w.lines = nil
	w.mutex.Unlock()

	if len(lines) == 0 || w.failed {
		return
	}
	w.buffer = w.buffer[:0]
	for index := range lines {
		w.buffer = lines[index].append(w.buffer)
	}
	if _, err := w.file.Write(w.buffer); err != nil {
		// A full disk must not disturb the scheduler; the reader sees that the trace ends early.
		w.failed = true
		fmt.Fprintf(os.Stderr, "%s: %v; the trace ends here\n", Variable, err)
	}
}
