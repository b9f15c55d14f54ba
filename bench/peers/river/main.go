// River on PostgreSQL, with the settings of its own benchmark, `river bench`.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"ganger.dev/bench/peers/lib"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type noop struct {
	N int    `json:"n"`
	P string `json:"p"`
}

func (noop) Kind() string { return "noop" }

type worker struct {
	river.WorkerDefaults[noop]
	handle func(n int)
}

func (w *worker) Work(_ context.Context, job *river.Job[noop]) error {
	w.handle(job.Args.N)
	return nil
}

type peer struct {
	pool   *pgxpool.Pool
	sender *river.Client[pgx.Tx]
}

func (p *peer) open(ctx context.Context, connections int) error {
	if p.pool != nil {
		return nil
	}
	config, err := pgxpool.ParseConfig(lib.Settings.Store)
	if err != nil {
		return err
	}
	config.MaxConns = int32(connections)
	p.pool, err = pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	p.sender, err = river.NewClient(riverpgxv5.New(p.pool), &river.Config{})
	return err
}

func (p *peer) Prepare(ctx context.Context) error {
	if err := p.open(ctx, 2); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(p.pool), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func (p *peer) Clients(ctx context.Context, count int) error { return p.open(ctx, count+4) }

// InsertManyFast copies the rows in (COPY FROM) instead of inserting and returning them.
func (p *peer) SendMany(ctx context.Context, _ int, payloads [][]byte) error {
	many := make([]river.InsertManyParams, len(payloads))
	for i, payload := range payloads {
		var args noop
		if err := json.Unmarshal(payload, &args); err != nil {
			return err
		}
		many[i].Args = args
	}
	_, err := p.sender.InsertManyFast(ctx, many)
	return err
}

func (p *peer) Send(ctx context.Context, _ int, payload []byte) error {
	var args noop
	if err := json.Unmarshal(payload, &args); err != nil {
		return err
	}
	_, err := p.sender.Insert(ctx, args, nil)
	return err
}

func (p *peer) Left(ctx context.Context) (int, error) {
	var left int
	row := p.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state <> 'completed'")
	return left, row.Scan(&left)
}

func (p *peer) Worker(ctx context.Context, _ string, handle func(n int)) (func(), error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{handle: handle})
	client, err := river.NewClient(riverpgxv5.New(p.pool), &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(io.Discard, nil)),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: lib.Settings.Concurrency}},
		Workers:           workers,
	})
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	return func() { _ = client.Stop(ctx) }, nil
}

func main() { lib.Drive(&peer{}) }
