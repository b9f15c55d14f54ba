// Asynq on Redis. It has no request for many jobs at once.
package main

import (
	"context"
	"errors"
	"time"

	"ganger.dev/bench/peers/lib"
	"github.com/hibiken/asynq"
)

type quiet struct{}

func (quiet) Debug(...any) {}
func (quiet) Info(...any)  {}
func (quiet) Warn(...any)  {}
func (quiet) Error(...any) {}
func (quiet) Fatal(...any) {}

type peer struct{ clients []*asynq.Client }

func redis() asynq.RedisConnOpt {
	opt, err := asynq.ParseRedisURI(lib.Settings.Store)
	if err != nil {
		panic(err)
	}
	return opt
}

func (p *peer) Prepare(context.Context) error { return nil }

func (p *peer) Clients(_ context.Context, count int) error {
	for len(p.clients) < count {
		p.clients = append(p.clients, asynq.NewClient(redis()))
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

func (p *peer) Send(ctx context.Context, client int, payload []byte) error {
	_, err := p.clients[client].EnqueueContext(ctx, asynq.NewTask("noop", payload))
	return err
}

func (p *peer) Left(context.Context) (int, error) {
	inspector := asynq.NewInspector(redis())
	defer inspector.Close()
	info, err := inspector.GetQueueInfo("default")
	if errors.Is(err, asynq.ErrQueueNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Pending + info.Active + info.Retry + info.Scheduled, nil
}

func (p *peer) Worker(_ context.Context, _ string, handle func(n int)) (func(), error) {
	server := asynq.NewServer(redis(), asynq.Config{
		Concurrency: lib.Settings.Concurrency,
		Logger:      quiet{},
		LogLevel:    asynq.FatalLevel,
		// An idle server looks once a second unless told otherwise.
		TaskCheckInterval: 5 * time.Millisecond,
	})
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		handle(lib.Number(task.Payload()))
		return nil
	}))
	return server.Shutdown, err
}

func main() { lib.Drive(&peer{}) }
