// beanstalkd with its Go client: each worker reserves, runs and deletes one job at a time over a connection of its own. The
// protocol has no request for many jobs.
package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"ganger.dev/bench/peers/lib"
	"github.com/beanstalkd/go-beanstalk"
)

const timeToRun = time.Minute

type peer struct{ clients []*beanstalk.Conn }

func (p *peer) Prepare(context.Context) error { return nil }

func (p *peer) Clients(_ context.Context, count int) error {
	for len(p.clients) < count {
		opened, err := beanstalk.Dial("tcp", lib.Settings.Store)
		if err != nil {
			return err
		}
		p.clients = append(p.clients, opened)
	}
	return nil
}

func (p *peer) SendMany(ctx context.Context, client int, payloads [][]byte) error {
	for _, payload := range payloads {
		if err := p.Send(ctx, client, payload); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) Send(_ context.Context, client int, payload []byte) error {
	_, err := p.clients[client].Put(payload, 1024, 0, timeToRun)
	return err
}

func (p *peer) Left(context.Context) (int, error) {
	told, err := p.clients[0].Stats()
	if err != nil {
		return 0, err
	}
	left := 0
	for _, state := range []string{"ready", "reserved", "delayed", "buried"} {
		jobs, err := strconv.Atoi(told["current-jobs-"+state])
		if err != nil {
			return 0, err
		}
		left += jobs
	}
	return left, nil
}

func (p *peer) Worker(_ context.Context, _ string, handle func(n int)) (func(), error) {
	var stop atomic.Bool
	var group sync.WaitGroup
	for range lib.Settings.Concurrency {
		connection, err := beanstalk.Dial("tcp", lib.Settings.Store)
		if err != nil {
			return nil, err
		}
		group.Go(func() {
			defer connection.Close()
			for !stop.Load() {
				id, body, err := connection.Reserve(time.Second)
				if errors.Is(err, beanstalk.ErrTimeout) {
					continue
				}
				if err != nil {
					panic(err)
				}
				handle(lib.Number(body))
				if err := connection.Delete(id); err != nil {
					panic(err)
				}
			}
		})
	}
	return func() { stop.Store(true); group.Wait() }, nil
}

func main() { lib.Drive(&peer{}) }
