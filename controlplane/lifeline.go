package main

import (
	"io"
	"os"
	"strings"
)

// lifelineVariable names how the starter stays connected. "stdin" means: live only as long as standard input stays
// open. "stdin-held" means the same, and wait for a first byte before doing anything.
const lifelineVariable = "CONTROLPLANE_LIFELINE"

// holdLifeline ends this process when its starter is gone, however it went.
//
// The starter keeps the writing end of our standard input. The kernel closes it even after kill -9, so no part outlives
// its owner. Unlike a parent-death signal this does not depend on the thread that forked us, and works on every system.
// Exiting at once is safe: an embedded cluster's data is disposable.
//
// A held start lets the starter load a part, which costs a good part of a second of package initialisation, while what
// the part depends on is still coming up.
func holdLifeline() {
	mode := os.Getenv(lifelineVariable)
	if !strings.HasPrefix(mode, "stdin") {
		return
	}
	if mode == "stdin-held" {
		if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
			os.Exit(0)
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}
