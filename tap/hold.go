package main

import "time"

// How much a client may say while its request is held back before its end is not looked for any more.
const aheadBytes = 1 << 20

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
	if len(c.said) > 0 {
		said := c.said
		c.said = nil
		return said, nil
	}
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
		return c.holdOn(timer, next)
	}
}

// holdOn keeps what the client said meanwhile, and goes on listening for its end.
func (c *connection) holdOn(timer *time.Timer, said read) error {
	for said.err == nil && len(said.data) < aheadBytes {
		more := make(chan read, 1)
		go func() {
			buffer := make([]byte, bufferBytes)
			n, err := c.down.Read(buffer)
			more <- read{buffer[:n], err}
		}()
		select {
		case <-timer.C:
			c.said, c.ahead = said.data, more
			return nil
		case next := <-more:
			said = read{append(said.data, next.data...), next.err}
		}
	}
	c.said, c.ahead = said.data, nil
	if said.err != nil {
		return clientLeftError{said.err}
	}
	<-timer.C
	return nil
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
