package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func kept(t *testing.T, r *recording, content []byte) *reference {
	t.Helper()
	b := r.newBody()
	for at := 0; at < len(content); at += bufferBytes {
		b.write(content[at:min(at+bufferBytes, len(content))])
	}
	return r.keep(b)
}

func unpacked(t *testing.T, folder string, at *reference) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(folder, "bodies.zst"))
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(bytes.NewReader(file[at.offset : at.offset+at.length]))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	text, err := io.ReadAll(decoder)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBodiesComeBackWhole(t *testing.T) {
	folder := t.TempDir()
	r, err := newRecording(folder, func(problem string) { t.Error(problem) })
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 3<<20) // does not shrink, so that it spills to a file
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	contents := [][]byte{[]byte("x"), bytes.Repeat([]byte("node "), 100), bytes.Repeat([]byte("node "), 1<<20), noise}
	var places []*reference
	for _, content := range contents {
		places = append(places, kept(t, r, content))
	}
	for i, content := range contents {
		if !bytes.Equal(unpacked(t, folder, places[i]), content) {
			t.Errorf("body %d of %d bytes changed", i, len(content))
		}
	}
	if kept(t, r, nil) != nil {
		t.Error("an empty body has a place")
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".body-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFullDiskIsAProblemOnce(t *testing.T) {
	folder := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(folder, "bodies.zst")); err != nil {
		t.Fatal(err)
	}
	var problems []string
	r, err := newRecording(folder, func(problem string) { problems = append(problems, problem) })
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if kept(t, r, []byte("hello")) != nil {
			t.Error("a body that could not be written has a place")
		}
	}
	if len(problems) != 1 || !strings.Contains(problems[0], "no space left") {
		t.Errorf("problems: %q", problems)
	}
	r.line(newLine("begin", 1, 0).end())
	if text, _ := os.ReadFile(filepath.Join(folder, "calls.jsonl")); !strings.HasPrefix(string(text), `{"seq":1,`) {
		t.Errorf("calls are not written any more: %q", text)
	}
}

func TestARecordingClosesAfterItsLastCall(t *testing.T) {
	r, err := newRecording(t.TempDir(), func(problem string) { t.Error(problem) })
	if err != nil {
		t.Fatal(err)
	}
	if first, second := r.enter(), r.enter(); first != 1 || second != 2 {
		t.Errorf("numbers %d and %d", first, second)
	}
	r.finish()
	r.leave()
	r.line(newLine("begin", 2, 0).end()) // still open for the second
	r.leave()
	if _, err := r.calls.WriteString("x"); err == nil {
		t.Error("the file is still open")
	}
}

func TestLinesAreJSON(t *testing.T) {
	odd := "tab\t quote\" back\\ é \xff <&>"
	status := seconds(1.0000004)
	text := newLine("end", 7, 12.3456789).text("odd", odd).optionalText("none", nil).optionalText("some", &odd).
		optionalSeconds("late", nil).optionalSeconds("soon", &status).place("nowhere", nil).
		place("somewhere", &reference{3, 4}).headers("none", nil).headers("two", [][2]string{{"a", "b"}, {"é", `"`}}).end()
	var seen map[string]any
	if err := json.Unmarshal(text, &seen); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if seen["now"] != 12.345679 || seen["soon"] != 1.0 || seen["odd"] != "tab\t quote\" back\\ é \ufffd <&>" {
		t.Errorf("%s", text)
	}
}
