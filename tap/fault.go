package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	atRequest = "request"
	atReply   = "reply"
)

// Fault is one order of PUT /faults: which calls are spoilt, and how.
//
// One that bears the ID of a fault that is armed already is that very fault: its counters and its window go on.
type Fault struct {
	ID           string   `json:"id"`
	Kind         string   `json:"kind"`
	Verb         *string  `json:"verb"`
	Share        *float64 `json:"share"`
	Seed         uint64   `json:"seed"`
	Skip         int      `json:"skip"`
	Calls        *int     `json:"calls"`
	AfterSeconds float64  `json:"after_seconds"`
	ForSeconds   *float64 `json:"for_seconds"`
	At           string   `json:"at"`

	Seconds        float64  `json:"seconds"`
	Distribution   string   `json:"distribution"`
	SpreadSeconds  float64  `json:"spread_seconds"`
	AfterBytes     int64    `json:"after_bytes"`
	Status         int      `json:"status"`
	Body           string   `json:"body"`
	Location       *string  `json:"location"`
	ShareOfBody    *float64 `json:"share_of_body"`
	BytesPerSecond float64  `json:"bytes_per_second"`
	Bytes          int64    `json:"bytes"`
	Node           string   `json:"node"`
}

// faultKinds has what each kind shows of itself, and whether it can only be done to a reply.
var faultKinds = map[string]struct {
	onlyReply bool
	show      func(*Fault) string
}{
	"delay":     {false, func(f *Fault) string { return fmt.Sprintf(" %gs", f.Seconds) }},
	"hang":      {false, nil},
	"refuse":    {false, nil},
	"reset":     {false, func(f *Fault) string { return fmt.Sprintf(" after %d bytes", f.AfterBytes) }},
	"close":     {false, nil},
	"status":    {false, func(f *Fault) string { return fmt.Sprintf(" %d", f.Status) }},
	"empty":     {false, nil},
	"garbage":   {false, nil},
	"body":      {false, nil},
	"truncate":  {true, func(f *Fault) string { return fmt.Sprintf(" to %g", *f.ShareOfBody) }},
	"slow":      {true, func(f *Fault) string { return fmt.Sprintf(" %g bytes/s", f.BytesPerSecond) }},
	"huge":      {false, func(f *Fault) string { return fmt.Sprintf(" %d bytes", f.Bytes) }},
	"ghost":     {true, func(f *Fault) string { return " " + f.Node }},
	"duplicate": {true, nil},
}

// check fills in what was left out and says what cannot be done.
func (f *Fault) check() error {
	known, ok := faultKinds[f.Kind]
	if !ok {
		kinds := make([]string, 0, len(faultKinds))
		for kind := range faultKinds {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		return fmt.Errorf("kind %q is not known; known: %s", f.Kind, strings.Join(kinds, ", "))
	}
	f.fillIn(known.onlyReply)
	switch {
	case f.At != atRequest && f.At != atReply:
		return fmt.Errorf("at %q: %q or %q expected", f.At, atRequest, atReply)
	case f.Share != nil && (*f.Share < 0 || *f.Share > 1):
		return fmt.Errorf("share %g: 0 to 1 expected", *f.Share)
	case *f.ShareOfBody < 0 || *f.ShareOfBody > 1:
		return fmt.Errorf("share_of_body %g: 0 to 1 expected", *f.ShareOfBody)
	case !slices.Contains([]string{"fixed", "uniform", "exponential", "normal"}, f.Distribution):
		return fmt.Errorf("distribution %q: fixed, uniform, exponential or normal expected", f.Distribution)
	case f.Kind == "slow" && f.BytesPerSecond <= 0:
		return fmt.Errorf("bytes_per_second %g: more than 0 expected", f.BytesPerSecond)
	case f.Kind == "status" && (f.Status < 200 || f.Status > 999):
		return fmt.Errorf("status %d: 200 to 999 expected", f.Status)
	case f.Seconds < 0 || f.SpreadSeconds < 0 || f.AfterSeconds < 0 || f.AfterBytes < 0 || f.Bytes < 0 || f.Skip < 0:
		return fmt.Errorf("a negative number has no meaning")
	}
	return nil
}

func (f *Fault) fillIn(onlyReply bool) {
	if f.At == "" {
		f.At = atRequest
	}
	if onlyReply {
		f.At = atReply
	}
	if f.Distribution == "" {
		f.Distribution = "fixed"
	}
	if f.ShareOfBody == nil {
		half := 0.5
		f.ShareOfBody = &half
	}
	if f.Node == "" {
		f.Node = "ghost"
	}
	if f.Kind == "status" && f.Status == 0 {
		f.Status = 500
	}
}

// text is how the record names the fault.
func (f *Fault) text() string {
	text := f.Kind
	if show := faultKinds[f.Kind].show; show != nil {
		text += show(f)
	}
	if f.At == atReply && !faultKinds[f.Kind].onlyReply {
		text += " at reply"
	}
	return text
}

// plan is what will be done to one call.
type plan struct {
	*Fault
	text   string
	delay  time.Duration
	random *rand.Rand
}

// armed is a fault with its counters.
type armed struct {
	Fault
	since         seconds
	luck, details *rand.Rand // two, so that what is done to one call does not change which others are taken
	matched, used int
}

type faultSet struct {
	mu       sync.Mutex
	armed    []*armed
	timers   []*time.Timer
	disarmed bool
}

func newFaultSet(faults []Fault, now seconds, before *faultSet) *faultSet {
	set := &faultSet{}
	for _, fault := range faults {
		one := before.find(fault.ID)
		if one == nil {
			one = &armed{Fault: fault, since: now, luck: source(fault.Seed, 1), details: source(fault.Seed, 2)}
		}
		set.armed = append(set.armed, one)
	}
	return set
}

// find returns the fault of that ID, nil if there is none.
func (s *faultSet) find(id string) *armed {
	if s == nil || id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.armed {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// spoilt returns how many calls each fault has taken, in order.
func (s *faultSet) spoilt() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make([]int, 0, len(s.armed))
	for _, one := range s.armed {
		counts = append(counts, one.used)
	}
	return counts
}

func source(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// pick returns what to do to a call, nil if it is to be left alone. The first fault that takes it has it.
func (s *faultSet) pick(verb string, now seconds) *plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.armed {
		if fault.Kind != "refuse" && fault.takes(verb, float64(now-fault.since)) {
			own := source(fault.details.Uint64(), fault.details.Uint64())
			return &plan{Fault: &fault.Fault, text: fault.text(), delay: fault.drawDelay(), random: own}
		}
	}
	return nil
}

func (a *armed) takes(verb string, elapsed float64) bool {
	if a.Verb != nil && *a.Verb != verb {
		return false
	}
	if elapsed < a.AfterSeconds || (a.ForSeconds != nil && elapsed >= a.AfterSeconds+*a.ForSeconds) {
		return false
	}
	a.matched++
	// Drawn for every matching call, so that the n-th call has the same luck whatever else is set.
	lucky := a.Share == nil || a.luck.Float64() < *a.Share
	if a.matched <= a.Skip || !lucky || (a.Calls != nil && a.used >= *a.Calls) {
		return false
	}
	a.used++
	return true
}

func (a *armed) drawDelay() time.Duration {
	drawn := a.Seconds
	switch a.Distribution {
	case "uniform":
		drawn += (2*a.details.Float64() - 1) * a.SpreadSeconds
	case "exponential":
		drawn = a.details.ExpFloat64() * a.Seconds
	case "normal":
		drawn += a.details.NormFloat64() * a.SpreadSeconds
	}
	return time.Duration(max(0, drawn) * float64(time.Second))
}

// scheduleRefusals calls refuse at the beginning and the end of every window in which the whole tap refuses.
func (s *faultSet) scheduleRefusals(now seconds, refuse func(bool)) {
	for _, fault := range s.armed {
		begins := fault.AfterSeconds - float64(now-fault.since)
		switch {
		case fault.Kind != "refuse" || (fault.ForSeconds != nil && begins+*fault.ForSeconds <= 0):
			continue
		case begins <= 0:
			refuse(true) // before the order is answered
		default:
			s.after(begins, func() { refuse(true) })
		}
		if fault.ForSeconds != nil {
			s.after(begins+*fault.ForSeconds, func() { refuse(false) })
		}
	}
}

func (s *faultSet) after(delay float64, do func()) {
	guarded := func() {
		s.mu.Lock()
		gone := s.disarmed
		s.mu.Unlock()
		if !gone {
			do()
		}
	}
	timer := time.AfterFunc(time.Duration(delay*float64(time.Second)), guarded)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timers = append(s.timers, timer)
}

// disarm stops what is still to come.
func (s *faultSet) disarm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disarmed = true
	for _, timer := range s.timers {
		timer.Stop()
	}
}
