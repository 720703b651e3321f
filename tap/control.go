package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
)

const controlLimit = 64 << 20

// serveControl takes orders on a unix socket that only our own user may open.
func serveControl(t *tap, path string) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	orders := http.NewServeMux()
	orders.HandleFunc("GET /state", func(w http.ResponseWriter, r *http.Request) { answer(w, t.state()) })
	orders.HandleFunc("PUT /recording", func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			Folder *string `json:"folder"`
		}
		if !decode(w, r, &order) {
			return
		}
		now, err := t.record(order.Folder)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, map[string]any{"now": now})
	})
	orders.HandleFunc("PUT /faults", func(w http.ResponseWriter, r *http.Request) {
		var faults []Fault
		if !decode(w, r, &faults) {
			return
		}
		for i := range faults {
			if err := faults[i].check(); err != nil {
				http.Error(w, fmt.Sprintf("fault %d: %v", i+1, err), http.StatusBadRequest)
				return
			}
		}
		answer(w, map[string]any{"now": t.arm(faults)})
	})
	go func() { _ = http.Serve(listener, orders) }()
	return nil
}

func decode(w http.ResponseWriter, r *http.Request, order any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, controlLimit))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}
