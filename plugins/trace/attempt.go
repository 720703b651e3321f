package trace

import "time"

// callsShown is the number of calls of one plugin at one point and attempt that are written one by one.
const callsShown = 50

// attempt gathers the node-level calls of one pod until another point is reached.
type attempt struct {
	pod  Pod
	sums []*sum
	last time.Time
}

func (a *attempt) add(call Call) {
	a.last = time.Now()
	for _, found := range a.sums {
		if found.first.Plugin == call.Plugin && found.first.Point == call.Point {
			found.keep(call)
			return
		}
	}
	fresh := &sum{first: call}
	fresh.keep(call)
	a.sums = append(a.sums, fresh)
}

// settle appends the lines of all calls: each by itself, or one for all if there are too many.
func (a *attempt) settle(lines []line) []line {
	for _, found := range a.sums {
		if found.count > callsShown {
			lines = append(lines, found.line())
			continue
		}
		for _, call := range found.calls {
			lines = append(lines, line{call: call})
		}
	}
	a.pod, a.sums = Pod{}, nil
	return lines
}

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
	for index := range s.codes {
		if s.codes[index].code == call.Code {
			s.codes[index].count++
			return
		}
	}
	s.codes = append(s.codes, codeCount{call.Code, 1})
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
