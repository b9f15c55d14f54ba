// Faktory: its own server, and workers that fetch and acknowledge one job at a time over a connection each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"ganger.dev/bench/peers/lib"
	"github.com/contribsys/faktory/client"
)

const queue = "default"

type peer struct{ clients []*client.Client }

func dial() (*client.Client, error) {
	server := client.DefaultServer()
	var host string
	if _, err := fmt.Sscanf(lib.Settings.Store, "tcp://%s", &host); err != nil {
		return nil, fmt.Errorf("BENCH_STORE: %w", err)
	}
	server.Network, server.Address = "tcp", host
	return server.Open()
}

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

func job(payload []byte) *client.Job {
	made := client.NewJob("noop", json.RawMessage(payload))
	made.Queue = queue
	return made
}

func (p *peer) SendMany(_ context.Context, nth int, payloads [][]byte) error {
	jobs := make([]*client.Job, len(payloads))
	for i, payload := range payloads {
		jobs[i] = job(payload)
	}
	refused, err := p.clients[nth].PushBulk(jobs)
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("%d jobs were refused", len(refused))
	}
	return err
}

func (p *peer) Send(_ context.Context, nth int, payload []byte) error {
	return p.clients[nth].Push(job(payload))
}

// What waits, and what is reserved by a worker that has not acknowledged it.
func (p *peer) Left(context.Context) (int, error) {
	state, err := p.clients[0].CurrentState()
	if err != nil {
		return 0, err
	}
	left := int(state.Data.TotalEnqueued)
	if working, known := state.Data.Sets["working"]; known {
		left += int(working)
	}
	return left, nil
}

func (p *peer) Worker(_ context.Context, _ string, handle func(n int)) (func(), error) {
	client.RandomProcessWid = "bench"
	var stop atomic.Bool
	var group sync.WaitGroup
	for range lib.Settings.Concurrency {
		connection, err := dial()
		if err != nil {
			return nil, err
		}
		group.Go(func() {
			defer connection.Close()
			for !stop.Load() {
				// Without a job it answers after two seconds.
				fetched, err := connection.Fetch(queue)
				if err != nil || fetched == nil {
					continue
				}
				fields, _ := fetched.Args[0].(map[string]any)
				n, _ := fields["n"].(float64)
				handle(int(n))
				if err := connection.Ack(fetched.Jid); err != nil {
					panic(err)
				}
			}
		})
	}
	return func() { stop.Store(true); group.Wait() }, nil
}

func main() { lib.Drive(&peer{}) }
