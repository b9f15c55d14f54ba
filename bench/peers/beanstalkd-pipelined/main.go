// beanstalkd driven as hard as its protocol allows: requests are written one behind the other without waiting for the answers.
// No client that we know of does this; it is here so that nobody can say that the client was the limit.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"ganger.dev/bench/peers/lib"
)

// Requests on the way per connection.
const window = 100

type connection struct {
	net.Conn
	in  *bufio.Reader
	out *bufio.Writer
}

func dial() (*connection, error) {
	opened, err := net.Dial("tcp", lib.Settings.Store)
	if err != nil {
		return nil, err
	}
	return &connection{opened, bufio.NewReaderSize(opened, 1<<16), bufio.NewWriterSize(opened, 1<<16)}, nil
}

// Reads a line and takes off what it must begin with.
func (c *connection) expect(prefix string) ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	rest, fits := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte(prefix))
	if !fits {
		return nil, fmt.Errorf("answered `%s` instead of `%s`", bytes.TrimSpace(line), prefix)
	}
	return rest, nil
}

func (c *connection) put(payloads [][]byte) error {
	for len(payloads) > 0 {
		some := payloads[:min(window, len(payloads))]
		payloads = payloads[len(some):]
		for _, payload := range some {
			fmt.Fprintf(c.out, "put 1024 0 60 %d\r\n%s\r\n", len(payload), payload)
		}
		if err := c.out.Flush(); err != nil {
			return err
		}
		for range some {
			if _, err := c.expect("INSERTED "); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reads one reserved job, or nothing if the wait for it was over.
func (c *connection) reserved() (id string, n int, err error) {
	line, err := c.expect("")
	if err != nil || string(line) == "TIMED_OUT" {
		return "", 0, err
	}
	fields := strings.Fields(string(line))
	if len(fields) != 3 || fields[0] != "RESERVED" {
		return "", 0, fmt.Errorf("answered `%s`", line)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil {
		return "", 0, err
	}
	body := make([]byte, size+2)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return "", 0, err
	}
	return fields[1], lib.Number(body), nil
}

// Reserves a window of jobs, runs them, and deletes them.
func (c *connection) round(wait, size int, handle func(n int)) error {
	for range size {
		fmt.Fprintf(c.out, "reserve-with-timeout %d\r\n", wait)
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	deletes := 0
	for range size {
		id, n, err := c.reserved()
		if err != nil {
			return err
		}
		if id != "" {
			handle(n)
			fmt.Fprintf(c.out, "delete %s\r\n", id)
			deletes++
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	for range deletes {
		if _, err := c.expect("DELETED"); err != nil {
			return err
		}
	}
	return nil
}

type peer struct{ clients []*connection }

func (p *peer) Prepare(context.Context) error { return nil }

func (p *peer) Clients(_ context.Context, count int) error {
	for len(p.clients) < count {
		opened, err := dial()
		if err != nil {
			return err
		}
		p.clients = append(p.clients, opened)
	}
	return nil
}

func (p *peer) SendMany(_ context.Context, client int, payloads [][]byte) error {
	return p.clients[client].put(payloads)
}

func (p *peer) Send(_ context.Context, client int, payload []byte) error {
	return p.clients[client].put([][]byte{payload})
}

func (p *peer) Left(context.Context) (int, error) {
	c := p.clients[0]
	fmt.Fprint(c.out, "stats\r\n")
	if err := c.out.Flush(); err != nil {
		return 0, err
	}
	size, err := c.expect("OK ")
	if err != nil {
		return 0, err
	}
	bytes, err := strconv.Atoi(string(size))
	if err != nil {
		return 0, err
	}
	told := make([]byte, bytes+2)
	if _, err := io.ReadFull(c.in, told); err != nil {
		return 0, err
	}
	left := 0
	for _, line := range strings.Split(string(told), "\n") {
		name, count, _ := strings.Cut(line, ": ")
		switch name {
		case "current-jobs-ready", "current-jobs-reserved", "current-jobs-delayed", "current-jobs-buried":
			jobs, err := strconv.Atoi(strings.TrimSpace(count))
			if err != nil {
				return 0, err
			}
			left += jobs
		}
	}
	return left, nil
}

func (p *peer) Worker(_ context.Context, _ string, handle func(n int)) (func(), error) {
	var stop atomic.Bool
	var group sync.WaitGroup
	for range lib.Settings.Concurrency {
		c, err := dial()
		if err != nil {
			return nil, err
		}
		group.Go(func() {
			defer c.Close()
			for !stop.Load() {
				// With nothing there the first of a window would wait for its time, and the others behind it.
				if err := c.round(0, window, handle); err != nil {
					panic(err)
				}
			}
		})
	}
	return func() { stop.Store(true); group.Wait() }, nil
}

func main() { lib.Drive(&peer{}) }
