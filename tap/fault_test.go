package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func pointer[T any](value T) *T { return &value }

// taken returns which of n calls, one per second, a fault takes.
func taken(t *testing.T, n int, fault Fault) string {
	t.Helper()
	if err := fault.check(); err != nil {
		t.Fatal(err)
	}
	set := newFaultSet([]Fault{fault}, 100, nil)
	var marks strings.Builder
	for i := range n {
		mark := "."
		if set.pick("filter", 100+seconds(i)) != nil {
			mark = "H"
		}
		marks.WriteString(mark)
	}
	return marks.String()
}

func TestWhichCallsAreTaken(t *testing.T) {
	for expected, fault := range map[string]Fault{
		"HHHHHH": {Kind: "hang"},
		"......": {Kind: "hang", Verb: pointer("bind")},
		"..HHHH": {Kind: "hang", Skip: 2},
		"..HH..": {Kind: "hang", Skip: 2, Calls: pointer(2)},
		".HHH..": {Kind: "hang", AfterSeconds: 1, ForSeconds: pointer(3.0)},
		"H.....": {Kind: "hang", Verb: pointer("filter"), Calls: pointer(1)},
	} {
		if got := taken(t, 6, fault); got != expected {
			t.Errorf("%+v took %s, expected %s", fault, got, expected)
		}
	}
}

func TestLuckIsRepeatable(t *testing.T) {
	half := Fault{Kind: "hang", Share: pointer(0.5), Seed: 7}
	first := taken(t, 200, half)
	if first != taken(t, 200, half) {
		t.Error("the same seed took other calls")
	}
	if hits := strings.Count(first, "H"); hits < 60 || hits > 140 {
		t.Errorf("%d of 200 calls taken, about half expected", hits)
	}
	other := half
	other.Seed = 8
	if first == taken(t, 200, other) {
		t.Error("another seed took the same calls")
	}
	later := half
	later.Skip = 50
	if taken(t, 200, later)[50:] != first[50:] {
		t.Error("skipping calls changed the luck of the others")
	}
}

func TestTheFirstMatchWins(t *testing.T) {
	faults := []Fault{{Kind: "hang", Verb: pointer("bind")}, {Kind: "empty", Calls: pointer(1)}, {Kind: "close"}}
	for i := range faults {
		if err := faults[i].check(); err != nil {
			t.Fatal(err)
		}
	}
	set := newFaultSet(faults, 0, nil)
	var kinds []string
	for _, verb := range []string{"filter", "filter", "bind"} {
		kinds = append(kinds, set.pick(verb, 0).Kind)
	}
	if fmt.Sprint(kinds) != "[empty close hang]" {
		t.Errorf("picked %v", kinds)
	}
}

func TestBadFaultsAreRefused(t *testing.T) {
	for _, fault := range []Fault{
		{Kind: "nonsense"}, {Kind: "hang", At: "noon"}, {Kind: "hang", Share: pointer(2.0)}, {Kind: "slow"},
		{Kind: "delay", Distribution: "pareto"}, {Kind: "status", Status: 99}, {Kind: "delay", Seconds: -1},
		{Kind: "truncate", ShareOfBody: pointer(1.5)},
	} {
		if fault.check() == nil {
			t.Errorf("%+v was accepted", fault)
		}
	}
}

func TestEditedReplies(t *testing.T) {
	cases := []struct{ before, ghost, duplicate string }{
		{`{"NodeNames":["a","b"],"Nodes":null}`, `{"NodeNames":["a","b","g"],"Nodes":null}`, `{"NodeNames":["a","b","a"],"Nodes":null}`},
		{`{"nodenames":["a"]}`, `{"nodenames":["a","g"]}`, `{"nodenames":["a","a"]}`},
		{`{"Nodes":{"items":[{"metadata":{"name":"a"}}]},"NodeNames":null}`,
			`{"NodeNames":null,"Nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"g"}}]}}`,
			`{"NodeNames":null,"Nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"a"}}]}}`},
		{`[{"Host":"a","Score":1}]`, `[{"Host":"a","Score":1},{"Host":"g","Score":10}]`, `[{"Host":"a","Score":1},{"Host":"a","Score":1}]`},
		{`[]`, `[{"Host":"g","Score":10}]`, `[]`},
		{`{}`, `{}`, `{}`},
		{`<html>`, `<html>`, `<html>`},
	}
	for _, c := range cases {
		if got := string(withGhost([]byte(c.before), "g")); got != c.ghost {
			t.Errorf("%s with a ghost is %s, expected %s", c.before, got, c.ghost)
		}
		if got := string(withDuplicate([]byte(c.before))); got != c.duplicate {
			t.Errorf("%s with a duplicate is %s, expected %s", c.before, got, c.duplicate)
		}
	}
}

func TestPaddedRepliesAreValidAndOfTheSize(t *testing.T) {
	for _, own := range []string{`{}`, `{"NodeNames":["a"]}`, ` [ {"Host":"a","Score":1} ] `, `[]`} {
		made := padded(&reply{status: 200, body: []byte(own), upTo: -1}, &ownReply{head: &head{}}, 100_000, "filter")
		var whole bytes.Buffer
		if _, err := whole.ReadFrom(made.content()); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(whole.Bytes()) || whole.Len() != 100_000 || made.size() != 100_000 {
			t.Errorf("%s: %d bytes, valid: %v", own, whole.Len(), json.Valid(whole.Bytes()))
		}
	}
}

func TestDelaysAreDrawn(t *testing.T) {
	for _, distribution := range []string{"fixed", "uniform", "exponential", "normal"} {
		fault := Fault{Kind: "delay", Seconds: 1, SpreadSeconds: 0.2, Distribution: distribution}
		if err := fault.check(); err != nil {
			t.Fatal(err)
		}
		set := newFaultSet([]Fault{fault}, 0, nil)
		sum, distinct := 0.0, map[string]bool{}
		for range 400 {
			delay := set.pick("filter", 0).delay
			sum += delay.Seconds()
			distinct[delay.String()] = true
		}
		if mean := sum / 400; mean < 0.8 || mean > 1.2 {
			t.Errorf("%s: mean %g s, 1 expected", distribution, mean)
		}
		if (len(distinct) == 1) != (distribution == "fixed") {
			t.Errorf("%s: %d distinct delays", distribution, len(distinct))
		}
	}
}
