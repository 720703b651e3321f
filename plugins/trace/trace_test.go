package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	web = Pod{"default", "web", "1"}
	db  = Pod{"default", "db", "2"}
)

func fresh(t *testing.T) (*Writer, func() []map[string]any) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return newWriter(file), func() []map[string]any {
		t.Helper()
		return linesOf(t, file.Name())
	}
}

func linesOf(t *testing.T, path string) []map[string]any {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []map[string]any
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", scanner.Text(), err)
		}
		lines = append(lines, line)
	}
	return lines
}

func call(point string, pod Pod, node string) Call {
	return Call{Point: point, Plugin: "Fit", Pod: pod, Node: node, Code: "Success", Start: time.Unix(1, 5), Duration: time.Millisecond}
}

func TestACallIsALine(t *testing.T) {
	writer, lines := fresh(t)
	refused := call("Permit", web, "node-1")
	refused.Code, refused.Text = "Unschedulable", "says \"no\"\n– never"
	writer.Called(refused)
	writer.Flush()
	got := lines()[0]
	want := map[string]any{
		"t_unix_ns": 1_000_000_005.0, "pod": "default/web", "uid": "1", "point": "Permit", "plugin": "Fit", "node": "node-1",
		"code": "Unschedulable", "seconds": 0.001, "text": "says \"no\"\n– never",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNodesAreToldOneByOneUpToALimit(t *testing.T) {
	for _, nodes := range []int{callsShown, callsShown + 1} {
		writer, lines := fresh(t)
		for index := range nodes {
			one := call("Filter", web, fmt.Sprint("node-", index))
			one.Start = one.Start.Add(time.Duration(index))
			if index%5 == 1 {
				one.Code, one.Text = "Unschedulable", "too small"
			}
			writer.CalledOnNode(one)
		}
		writer.Called(call("PreScore", web, ""))
		writer.Flush()
		got := lines()
		if nodes == callsShown {
			if len(got) != nodes+1 || got[0]["node"] != "node-0" || got[0]["count"] != nil || got[nodes]["point"] != "PreScore" {
				t.Errorf("%d lines for %d nodes: %v", len(got), nodes, got[0])
			}
			continue
		}
		sum := got[0]
		if len(got) != 2 || sum["count"] != 51.0 || sum["node"] != nil || sum["code"] != "Unschedulable" || sum["text"] != "too small" {
			t.Errorf("%d lines, %v", len(got), sum)
		}
		if codes := fmt.Sprint(sum["codes"]); codes != "map[Success:41 Unschedulable:10]" || sum["seconds"] != 0.051 {
			t.Errorf("%v in %v", codes, sum["seconds"])
		}
	}
}

func TestAnotherPodsBindingLeavesAnAttemptAlone(t *testing.T) {
	writer, lines := fresh(t)
	writer.CalledOnNode(call("Filter", web, "node-1"))
	writer.Called(call("Bind", db, "node-1"))
	writer.write(time.Time{})
	if got := lines(); len(got) != 1 || got[0]["point"] != "Bind" {
		t.Errorf("%v", got)
	}
	writer.CalledOnNode(call("Filter", db, "node-1"))
	writer.write(time.Time{})
	if got := lines(); len(got) != 2 || got[1]["pod"] != "default/web" {
		t.Errorf("%v", got)
	}
}

func TestASilentAttemptIsWritten(t *testing.T) {
	writer, lines := fresh(t)
	writer.CalledOnNode(call("Filter", web, "node-1"))
	writer.write(time.Now().Add(time.Second))
	if got := lines(); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestComparisonsAreOneLineWhenItIsThePodsTurn(t *testing.T) {
	writer, lines := fresh(t)
	for range 3 {
		writer.Compared("PrioritySort", web, time.Unix(1, 0), time.Millisecond)
	}
	writer.Compared("PrioritySort", db, time.Unix(1, 0), time.Millisecond)
	writer.Called(call("PreFilter", web, ""))
	writer.write(time.Now())
	got := lines()
	if len(got) != 2 || got[0]["point"] != "QueueSort" || got[0]["count"] != 3.0 || got[0]["pod"] != "default/web" {
		t.Errorf("%v", got)
	}
	writer.Flush()
	if got := lines(); len(got) != 3 || got[2]["pod"] != "default/db" {
		t.Errorf("%v", got)
	}
}

func TestArguments(t *testing.T) {
	writer, lines := fresh(t)
	writer.Arguments("Sample", map[string]int{"favoriteNumber": 7})
	writer.Arguments("Odd", func() {})
	writer.Flush()
	got := lines()
	if fmt.Sprint(got[0]["arguments"]) != "map[favoriteNumber:7]" || got[0]["pod"] != nil || got[0]["point"] != "Arguments" {
		t.Errorf("%v", got[0])
	}
	if got[1]["arguments"] == nil {
		t.Errorf("%v", got[1])
	}
}

func TestManyAtOnce(t *testing.T) {
	writer, lines := fresh(t)
	var group sync.WaitGroup
	for index := range 8 {
		group.Go(func() {
			for range 100 {
				writer.Called(call("Bind", Pod{"default", fmt.Sprint(index), "u"}, "node-1"))
				writer.write(time.Now())
			}
		})
	}
	group.Wait()
	writer.Flush()
	if got := lines(); len(got) != 800 {
		t.Errorf("%d lines", len(got))
	}
}

func TestNoFileIsNoWriter(t *testing.T) {
	if open("") != nil {
		t.Error("a writer without a file")
	}
	var none *Writer
	none.Flush()
}

func TestAWriteErrorIsToldOnceAndDisturbsNobody(t *testing.T) {
	file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	writer := newWriter(file)
	for range 2 {
		writer.Called(call("Bind", web, "node-1"))
		writer.Flush()
	}
	if !writer.failed || len(writer.lines) != 0 {
		t.Errorf("failed %v, %d lines kept", writer.failed, len(writer.lines))
	}
}

func BenchmarkNodeCall(b *testing.B) {
	file, _ := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	writer := newWriter(file)
	one := call("Filter", web, "node-1")
	for b.Loop() {
		writer.CalledOnNode(one)
	}
}

func BenchmarkAttempt(b *testing.B) {
	file, _ := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	writer := newWriter(file)
	for attempt := 0; b.Loop(); attempt++ {
		pod := Pod{"default", "web", fmt.Sprint(attempt)}
		var group sync.WaitGroup
		for share := range 4 {
			group.Go(func() {
				for node := range 5 {
					for _, plugin := range [...]string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"} {
						one := call("Filter", pod, nodeNames[share*5+node])
						one.Plugin = plugin
						writer.CalledOnNode(one)
					}
				}
			})
		}
		group.Wait()
		writer.Called(call("Reserve", pod, "node-1"))
		if attempt%50 == 0 {
			writer.write(time.Now())
		}
	}
}

var nodeNames = func() (names []string) {
	for index := range 20 {
		names = append(names, fmt.Sprint("node-", index))
	}
	return names
}()
