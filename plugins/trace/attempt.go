package trace

import (
	"cmp"
	"sync"
	"time"
)

// callsShown is the number of calls of one plugin at one point and attempt that are written one by one.
const callsShown = 50

// shardCount is how many goroutines can note node-level calls without waiting for each other.
const shardCount = 8

// shard gathers the node-level calls of one pod, on some of the nodes, until another point is reached.
type shard struct {
	mutex sync.Mutex
	pod   Pod
	sums  []*sum
	last  time.Time
	// Shards are written to by different processors at once and must not share a line of their caches.
	_ [64]byte
}

// shardOf spreads nodes by the end of their names: whatever numbers them stands there.
func shardOf(node string) int {
	if len(node) == 0 {
		return 0
	}
	return int(node[len(node)-1]) % shardCount
}

func (s *shard) add(call Call) {
	s.last = call.Start
	for _, found := range s.sums {
		if found.first.Plugin == call.Plugin && found.first.Point == call.Point {
			found.keep(call)
			return
		}
	}
	fresh := sums.Get().(*sum)
	fresh.first = call
	fresh.keep(call)
	s.sums = append(s.sums, fresh)
}

// take hands out what was gathered for a pod.
func (s *shard) take(pod Pod) []*sum {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.pod != pod {
		return nil
	}
	sums := s.sums
	s.sums = nil
	return sums
}

// silent tells whose calls lie here that began before a time, and after which none has come.
func (s *shard) silent(since time.Time) (Pod, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.pod, len(s.sums) > 0 && s.last.Before(since)
}

// appendNodes writes node-level calls of one attempt: each by itself, or one line for all of a plugin if they are many.
func appendNodes(to []byte, shares []*sum) []byte {
	var whole []*sum
	for _, share := range shares {
		whole = joined(whole, share)
	}
	for _, found := range whole {
		if found.count > callsShown {
			summed := found.line()
			to = summed.append(to)
			continue
		}
		for index := range found.calls {
			single := line{call: found.calls[index]}
			to = single.append(to)
		}
	}
	for _, share := range shares {
		share.reset()
		sums.Put(share)
	}
	return to
}

// joined adds what one shard has of a plugin at a point to what others have.
func joined(whole []*sum, share *sum) []*sum {
	for _, found := range whole {
		if found.first.Plugin != share.first.Plugin || found.first.Point != share.first.Point {
			continue
		}
		if share.first.Start.Before(found.first.Start) {
			found.first = share.first
		}
		found.calls = append(found.calls, share.calls...)
		found.count += share.count
		found.duration += share.duration
		found.text = cmp.Or(found.text, share.text)
		for _, one := range share.codes {
			found.addCode(one.code, one.count)
		}
		return whole
	}
	return append(whole, share)
}

// sums are used again: a scheduler makes thousands of calls a second, and its memory is being measured.
var sums = sync.Pool{New: func() any { return &sum{} }}

// sum is many calls of one plugin at one point.
type sum struct {
	first    Call
	calls    []Call
	count    int
	codes    []codeCount
	duration time.Duration
	text     string
}

type codeCount struct {
	code  string
	count int
}

func (s *sum) reset() {
	clear(s.calls)
	*s = sum{calls: s.calls[:0], codes: s.codes[:0]}
}

// keep adds a call and remembers it as long as it may be written by itself.
func (s *sum) keep(call Call) {
	if s.count < callsShown {
		s.calls = append(s.calls, call)
	}
	s.add(call)
}

func (s *sum) add(call Call) {
	s.count++
	s.duration += call.Duration
	if s.text == "" {
		s.text = call.Text
	}
	s.addCode(call.Code, 1)
}

func (s *sum) addCode(code string, count int) {
	for index := range s.codes {
		if s.codes[index].code == code {
			s.codes[index].count += count
			return
		}
	}
	s.codes = append(s.codes, codeCount{code, count})
}

// line sums up: its code is the one that all calls have, else the most frequent refusal.
func (s *sum) line() line {
	call := s.first
	call.Node, call.Text, call.Duration = "", s.text, s.duration
	best := 0
	for _, one := range s.codes {
		if one.code != "Success" && one.count > best {
			call.Code, best = one.code, one.count
		}
	}
	if best == 0 {
		call.Code = "Success"
	}
	return line{call: call, count: s.count, codes: s.codes}
}
