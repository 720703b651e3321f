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
	file   *os.File
	shards [shardCount]shard

	mutex  sync.Mutex
	lines  []line
	queued map[Pod]*sum

	writing sync.Mutex
	buffer  []byte
	spare   []line
	failed  bool
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
	calls := w.settled(call.Pod)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if call.Point == "PreFilter" {
		w.leaveQueue(call.Pod)
	}
	if calls != nil {
		w.lines = append(w.lines, line{nodes: calls})
	}
	w.lines = append(w.lines, line{call: call})
}

// CalledOnNode notes a call that is made for node after node, by several goroutines at once.
func (w *Writer) CalledOnNode(call Call) {
	shard := &w.shards[shardOf(call.Node)]
	shard.mutex.Lock()
	if shard.pod != call.Pod && len(shard.sums) > 0 {
		before := shard.pod
		shard.mutex.Unlock()
		w.settle(before)
		shard.mutex.Lock()
	}
	shard.pod = call.Pod
	shard.add(call)
	shard.mutex.Unlock()
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

// settled takes out the node-level calls of a pod's attempt.
func (w *Writer) settled(pod Pod) []*sum {
	var calls []*sum
	for index := range w.shards {
		calls = append(calls, w.shards[index].take(pod)...)
	}
	return calls
}

func (w *Writer) settle(pod Pod) {
	if calls := w.settled(pod); calls != nil {
		w.mutex.Lock()
		w.lines = append(w.lines, line{nodes: calls})
		w.mutex.Unlock()
	}
}

// write puts out every line, and those of an attempt that has been silent since a time.
func (w *Writer) write(silentSince time.Time) {
	w.writing.Lock()
	defer w.writing.Unlock()
	for index := range w.shards {
		if pod, silent := w.shards[index].silent(silentSince); silent {
			w.settle(pod)
		}
	}
	w.mutex.Lock()
	lines := w.lines
	w.lines = w.spare[:0]
	w.mutex.Unlock()

	if len(lines) > 0 && !w.failed {
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
	clear(lines)
	w.spare = lines
}
