package main

import (
	"sync"
	"time"
)

const (
	archiveInterval = 5 * time.Millisecond
	archiveJobs     = 64
)

// archive does what recording costs a moment later and many at a time, so that a call does not meet it.
//
// Jobs are done in their order. There are never many: a full archive is emptied by whoever brings the next job.
type archive struct {
	mu   sync.Mutex // of what is waiting
	jobs []func()

	working sync.Mutex // held while jobs are done
}

// add leaves a job to be done soon.
func (a *archive) add(job func()) {
	a.mu.Lock()
	a.jobs = append(a.jobs, job)
	waiting := len(a.jobs)
	a.mu.Unlock()
	switch {
	case waiting == 1:
		time.AfterFunc(archiveInterval, a.drain)
	case waiting >= archiveJobs:
		a.drain()
	}
}

// drain does all jobs that were left so far.
func (a *archive) drain() {
	a.working.Lock()
	defer a.working.Unlock()
	a.mu.Lock()
	jobs := a.jobs
	a.jobs = nil
	a.mu.Unlock()
	for _, job := range jobs {
		job()
	}
}
