// Command filter is a trivial extender and the client that times it: what a tap in between may cost is measured
// against the smallest thing that it could stand before.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"
)

type arguments struct {
	Pod       json.RawMessage
	Nodes     json.RawMessage
	NodeNames []string
}

type result struct {
	NodeNames   []string
	FailedNodes map[string]string
	Error       string
}

func main() {
	client := flag.Bool("client", false, "time calls instead of answering them")
	names := flag.Int("names", 100, "node names in a request")
	calls := flag.Int("calls", 500, "calls per block")
	blocks := flag.Int("blocks", 20, "blocks per URL, taken in turns")
	pad := flag.Int("pad", 0, "bytes that make a request and its reply bigger")
	flag.Parse()
	var err error
	if *client {
		err = measure(flag.Args(), request(*names, *pad), *calls, *blocks)
	} else {
		err = serve(*pad)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "filter:", err)
		os.Exit(1)
	}
}

// serve answers until its standard input ends; the first line it prints is its address.
func serve(pad int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	padding := bytes.Repeat([]byte(" "), pad)
	http.HandleFunc("POST /filter", func(w http.ResponseWriter, r *http.Request) {
		var asked arguments
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result{NodeNames: asked.NodeNames, FailedNodes: map[string]string{}})
		_, _ = w.Write(padding)
	})
	fmt.Printf("http://%s\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, nil)
}

func request(names, pad int) []byte {
	asked := arguments{Pod: json.RawMessage(`{"metadata":{"name":"pod-1","namespace":"default","uid":"1"}}`)}
	for i := range names {
		asked.NodeNames = append(asked.NodeNames, fmt.Sprintf("node-%04d", i))
	}
	text, _ := json.Marshal(asked)
	return append(text, bytes.Repeat([]byte(" "), pad)...)
}

// measure prints, for each URL, the median seconds of every block; the URLs take turns.
func measure(urls []string, body []byte, calls, blocks int) error {
	medians := map[string][]float64{}
	client := &http.Client{}
	for block := range blocks + 1 {
		for _, url := range urls {
			median, err := median(client, url, body, calls)
			if err != nil {
				return err
			}
			if block > 0 { // the first one warms up
				medians[url] = append(medians[url], median.Seconds())
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(medians)
}

func median(client *http.Client, url string, body []byte, calls int) (time.Duration, error) {
	spans := make([]time.Duration, calls)
	for i := range spans {
		start := time.Now()
		response, err := client.Post(url+"/filter", "application/json", bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("%s: status %d, %v", url, response.StatusCode, err)
		}
		spans[i] = time.Since(start)
	}
	slices.Sort(spans)
	return spans[len(spans)/2], nil
}
