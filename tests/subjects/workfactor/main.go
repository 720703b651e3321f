// Workfactor is an extender that costs as much as it is told to: the work of every answer is counted in rounds of a
// hash, so that a factor of 1.1 is a tenth more work on every machine. It checks whoever claims to find slow extenders.
package main

import (
	"encoding/json"
	"flag"
	"hash/crc32"
	"io"
	"log"
	"math"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type options struct {
	factor    float64
	rounds    int
	jitter    float64
	tail      float64
	sleep     time.Duration
	failing   float64
	reporting float64
	dieAfter  int64
	caching   bool
}

type arguments struct {
	NodeNames *[]string
	Nodes     *struct {
		Items []json.RawMessage `json:"items"`
	}
}

type server struct {
	options
	block   []byte
	calls   atomic.Int64
	answers sync.Map
}

var (
	table = crc32.MakeTable(crc32.Koopman)
	sink  atomic.Uint32
)

// burn does the work: a round takes about a microsecond. What it draws is new in every process, whatever the seed: two
// servers that draw the same would differ less than two programs do.
func (s *server) burn() {
	rounds := float64(s.rounds) * s.factor
	if s.jitter > 0 {
		rounds *= math.Exp(s.jitter * rand.NormFloat64())
	}
	if s.tail > 0 && rand.Float64() < s.tail {
		rounds *= 3
	}
	sum := sink.Load()
	for left := int(rounds); left > 0; left-- {
		sum = crc32.Update(sum, table, s.block)
	}
	sink.Store(sum)
}

func (s *server) serve(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if count := s.calls.Add(1); s.dieAfter > 0 && count > s.dieAfter {
			log.Print("I was told to die")
			os.Exit(3)
		}
		if s.failing > 0 && rand.Float64() < s.failing {
			http.Error(w, "failing as told", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if known, ok := s.answers.Load(kind); ok && s.caching {
			w.Write(known.([]byte))
			return
		}
		time.Sleep(s.sleep)
		s.burn()
		reply := answer(kind, body, s.reporting > 0 && rand.Float64() < s.reporting)
		s.answers.Store(kind, reply)
		w.Write(reply)
	}
}

func answer(kind string, body []byte, failed bool) []byte {
	var asked arguments
	if err := json.Unmarshal(body, &asked); err != nil {
		return []byte(`{"Error":"no JSON"}`)
	}
	if failed {
		return []byte(`{"Error":"failing as told"}`)
	}
	var reply any = map[string]any{"NodeNames": asked.NodeNames, "Nodes": asked.Nodes, "FailedNodes": nil, "Error": ""}
	if kind == "prioritize" {
		reply = []any{}
	}
	text, _ := json.Marshal(reply)
	return text
}

func main() {
	s := &server{block: make([]byte, 256)}
	port := flag.String("port", os.Getenv("PORT"), "port on loopback")
	flag.Float64Var(&s.factor, "factor", 1, "times the work")
	flag.IntVar(&s.rounds, "rounds", 800, "rounds of work of one answer")
	flag.Float64Var(&s.jitter, "jitter", 0.2, "how much the work differs from call to call: sigma of a lognormal")
	flag.Float64Var(&s.tail, "tail", 0, "share of calls that do three times the work")
	flag.DurationVar(&s.sleep, "sleep", 0, "pause before the work")
	flag.Float64Var(&s.failing, "failing", 0, "share of calls answered with 500")
	flag.Float64Var(&s.reporting, "reporting", 0, "share of calls answered with an Error")
	flag.Int64Var(&s.dieAfter, "die-after", 0, "end after so many calls")
	flag.BoolVar(&s.caching, "caching", false, "work for the first call only")
	flag.Parse()
	for _, kind := range []string{"filter", "prioritize"} {
		http.HandleFunc("/"+kind, s.serve(kind))
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+*port, nil))
}
