package main

import "time"

// read is the outcome of one read.
type read struct {
	data []byte
	err  error
}

// clientLeftError says that the client ended its side while its request was held back.
type clientLeftError struct{ how error }

func (e clientLeftError) Error() string { return "the client left: " + e.how.Error() }

// readDown returns what the client says next.
func (c *connection) readDown(buffer []byte) ([]byte, error) {
	if c.ahead != nil {
		next := <-c.ahead
		c.ahead = nil
		return next.data, next.err
	}
	n, err := c.down.Read(buffer)
	return buffer[:n], err
}

// hold keeps a request back for a while. Whether the client waits that long shows only by reading on.
func (c *connection) hold(d time.Duration) error {
	if c.ahead == nil {
		ahead := make(chan read, 1)
		c.ahead = ahead
		go func() {
			buffer := make([]byte, bufferBytes)
			n, err := c.down.Read(buffer)
			ahead <- read{buffer[:n], err}
		}()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case next := <-c.ahead:
		c.ahead <- next
		if next.err != nil {
			return clientLeftError{next.err}
		}
		<-timer.C
		return nil
	}
}

// pause lets time pass, less if the client goes.
func (c *connection) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.gone:
	}
}
