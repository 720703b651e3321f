// Stranger is an extender as somebody who never heard of the harness would write it: net/http, encoding/json, its own
// types. It takes part in tests as the subject that a user brings.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"strings"
)

type node struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

type arguments struct {
	Pod struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	Nodes *struct {
		Items []json.RawMessage `json:"items"`
	}
	NodeNames *[]string
}

type nodeList struct {
	Items []json.RawMessage `json:"items"`
}

type filterResult struct {
	Nodes       *nodeList
	NodeNames   *[]string
	FailedNodes map[string]string
	Error       string
}

type hostPriority struct {
	Host  string
	Score int64
}

// names returns the nodes of a request in order, and their objects if the scheduler sent any.
func (a arguments) names() ([]string, map[string]json.RawMessage, error) {
	if a.NodeNames != nil {
		return *a.NodeNames, nil, nil
	}
	names, objects := []string{}, map[string]json.RawMessage{}
	if a.Nodes == nil {
		return names, objects, nil
	}
	for _, raw := range a.Nodes.Items {
		var one node
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, nil, err
		}
		names = append(names, one.Metadata.Name)
		objects[one.Metadata.Name] = raw
	}
	return names, objects, nil
}

// filter keeps the nodes whose name does not say that they are reserved.
func filter(a arguments) any {
	names, objects, err := a.names()
	if err != nil {
		return filterResult{Error: err.Error()}
	}
	result := filterResult{FailedNodes: map[string]string{}}
	kept, list := []string{}, nodeList{Items: []json.RawMessage{}}
	for _, name := range names {
		if strings.HasPrefix(name, "reserved") {
			result.FailedNodes[name] = "node is reserved"
			continue
		}
		kept = append(kept, name)
		list.Items = append(list.Items, objects[name])
	}
	if objects == nil {
		result.NodeNames = &kept
	} else {
		result.Nodes = &list
	}
	return result
}

// prioritize prefers long names.
func prioritize(a arguments) any {
	names, _, err := a.names()
	if err != nil {
		log.Print(err)
	}
	scores := []hostPriority{}
	for _, name := range names {
		scores = append(scores, hostPriority{name, int64(min(len(name), 10))})
	}
	return scores
}

func serve(answer func(arguments) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var a arguments
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		log.Printf("%s %s", r.URL.Path, a.Pod.Metadata.Name)
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer(a)); err != nil {
			log.Print(err)
		}
	}
}

func main() {
	port := flag.String("port", os.Getenv("PORT"), "port to listen on")
	flag.Parse()
	// In a container of its own it is called from outside.
	host := os.Getenv("HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	http.HandleFunc("/filter", serve(filter))
	http.HandleFunc("/prioritize", serve(prioritize))
	log.Fatal(http.ListenAndServe(host+":"+*port, nil))
}
