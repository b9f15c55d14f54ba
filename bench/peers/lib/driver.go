// Package lib is what every driver in Go shares: the settings, the payload, the tally of what was handled, and the lines
// that are printed. The contract is in bench/README.md.
package lib

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Peer is what a driver gives: one peer on one store.
type Peer interface {
	// Prepare makes the schema.
	Prepare(ctx context.Context) error
	// Clients opens so many connections.
	Clients(ctx context.Context, count int) error
	// SendMany enqueues these in one request, on that connection.
	SendMany(ctx context.Context, client int, payloads [][]byte) error
	// Send enqueues one.
	Send(ctx context.Context, client int, payload []byte) error
	// Left counts the jobs of the store that have not ended.
	Left(ctx context.Context) (int, error)
	// Worker starts one that calls handle with the number of each job; the answer stops it.
	Worker(ctx context.Context, aim string, handle func(n int)) (func(), error)
}

// Settings are read from the environment.
var Settings = struct {
	Store                                                    string
	Jobs, PayloadBytes, Concurrency                          int
	Batch, BatchClients, SingleClients, Pings, IntervalMilli int
}{
	Store: os.Getenv("BENCH_STORE"), Jobs: number("BENCH_JOBS", 10_000), PayloadBytes: number("BENCH_PAYLOAD_BYTES", 100),
	Concurrency: number("BENCH_CONCURRENCY", 8), Batch: number("BENCH_BATCH", 1_000), BatchClients: number("BENCH_BATCH_CLIENTS", 4),
	SingleClients: number("BENCH_CLIENTS", 8), Pings: number("BENCH_PINGS", 100), IntervalMilli: number("BENCH_INTERVAL_MS", 100),
}

const (
	// Pings before the ones that count: connections and prepared statements are warm then.
	warmUp = 10
	// The last of the wait for a tick, for which the driver does not sleep.
	awake = 3 * time.Millisecond
	// Without any progress for this long something is wrong.
	stuck = time.Minute
)

// Payload is a JSON object of exactly the asked size, with the number of its job in it.
func Payload(n int) []byte {
	bare := fmt.Sprintf(`{"n":%d,"p":""}`, n)
	pad := max(0, Settings.PayloadBytes-len(bare))
	return []byte(fmt.Sprintf(`{"n":%d,"p":"%s"}`, n, strings.Repeat("x", pad)))
}

// Number reads the number of a job out of its payload.
func Number(payload []byte) int {
	n := 0
	for _, digit := range payload[len(`{"n":`):] {
		if digit < '0' || digit > '9' {
			break
		}
		n = n*10 + int(digit-'0')
	}
	return n
}

// Drive runs the action that the command line names.
func Drive(peer Peer) {
	ctx := context.Background()
	actions := map[string]func(context.Context, Peer) (map[string]any, error){
		"prepare": func(ctx context.Context, peer Peer) (map[string]any, error) {
			return map[string]any{}, peer.Prepare(ctx)
		},
		"load": load, "work": work, "batch": batch, "single": single, "ping": ping,
	}
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	action, known := actions[name]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: driver prepare|load|work|batch|single|ping, settings in BENCH_… (see bench/README.md)")
		os.Exit(2)
	}
	result, err := action(ctx, peer)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	result["action"] = name
	say(result)
}

func number(name string, fallback int) int {
	text, given := os.LookupEnv(name)
	if !given {
		return fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		fmt.Fprintln(os.Stderr, "error:", name, "must be a whole number of at least 1")
		os.Exit(2)
	}
	return value
}

func say(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}

func mark(name string) { say(map[string]any{"mark": name}) }

// Lets so many clients send until there is nothing more to send.
func together(clients int, step func(client int) (bool, error)) error {
	var group sync.WaitGroup
	failed := make(chan error, clients)
	for client := range clients {
		group.Go(func() {
			for {
				if more, err := step(client); err != nil {
					failed <- err
					return
				} else if !more {
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed
}

func inBatches(ctx context.Context, peer Peer) error {
	var next atomic.Int64
	return together(Settings.BatchClients, func(client int) (bool, error) {
		first := int(next.Add(int64(Settings.Batch))) - Settings.Batch
		if first >= Settings.Jobs {
			return false, nil
		}
		payloads := make([][]byte, 0, Settings.Batch)
		for n := first; n < min(first+Settings.Batch, Settings.Jobs); n++ {
			payloads = append(payloads, Payload(n))
		}
		return true, peer.SendMany(ctx, client, payloads)
	})
}

func enqueued(ctx context.Context, peer Peer, took time.Duration) (map[string]any, error) {
	found, err := peer.Left(ctx)
	if err == nil && found != Settings.Jobs {
		err = fmt.Errorf("%d of %d jobs are in the store", found, Settings.Jobs)
	}
	return map[string]any{"jobs": Settings.Jobs, "seconds": took.Seconds(), "verified": "counted"}, err
}

func load(ctx context.Context, peer Peer) (map[string]any, error) {
	if err := peer.Clients(ctx, Settings.BatchClients); err != nil {
		return nil, err
	}
	if err := inBatches(ctx, peer); err != nil {
		return nil, err
	}
	return enqueued(ctx, peer, 0)
}

func timed(send func() error) (time.Duration, error) {
	mark("begin")
	began := time.Now()
	err := send()
	took := time.Since(began)
	mark("end")
	return took, err
}

func batch(ctx context.Context, peer Peer) (map[string]any, error) {
	if err := peer.Clients(ctx, Settings.BatchClients); err != nil {
		return nil, err
	}
	took, err := timed(func() error { return inBatches(ctx, peer) })
	if err != nil {
		return nil, err
	}
	return enqueued(ctx, peer, took)
}

// Each client has a connection of its own and waits for its answer before it sends the next.
func single(ctx context.Context, peer Peer) (map[string]any, error) {
	if err := peer.Clients(ctx, Settings.SingleClients); err != nil {
		return nil, err
	}
	var next atomic.Int64
	took, err := timed(func() error {
		return together(Settings.SingleClients, func(client int) (bool, error) {
			n := int(next.Add(1)) - 1
			if n >= Settings.Jobs {
				return false, nil
			}
			return true, peer.Send(ctx, client, Payload(n))
		})
	})
	if err != nil {
		return nil, err
	}
	return enqueued(ctx, peer, took)
}

func until(what string, progress func() int64, done func() (bool, error)) error {
	last, since := progress(), time.Now()
	for {
		ended, err := done()
		if ended || err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
		if now := progress(); now != last {
			last, since = now, time.Now()
		} else if time.Since(since) > stuck {
			return fmt.Errorf("%s: stuck at %d", what, now)
		}
	}
}

// Starts a worker and waits until no job is left in the store: a handler that returned is not enough.
func work(ctx context.Context, peer Peer) (map[string]any, error) {
	if err := peer.Clients(ctx, 1); err != nil {
		return nil, err
	}
	seen := make([]atomic.Int32, Settings.Jobs)
	var handled atomic.Int64
	var began time.Time
	first := sync.OnceFunc(func() {
		began = time.Now()
		mark("begin")
	})
	stop, err := peer.Worker(ctx, "drain", func(n int) {
		first()
		seen[n].Add(1)
		handled.Add(1)
	})
	if err != nil {
		return nil, err
	}
	all := func() (bool, error) { return handled.Load() >= int64(Settings.Jobs), nil }
	none := func() (bool, error) {
		left, err := peer.Left(ctx)
		return left == 0, err
	}
	if err := until("handled", handled.Load, all); err != nil {
		return nil, err
	}
	if err := until("left", handled.Load, none); err != nil {
		return nil, err
	}
	took := time.Since(began)
	mark("end")
	stop()
	for n := range seen {
		if times := seen[n].Load(); times != 1 {
			return nil, fmt.Errorf("job %d was handled %d times", n, times)
		}
	}
	return map[string]any{"jobs": Settings.Jobs, "seconds": took.Seconds(), "verified": "each_once"}, nil
}

// One job at each tick of a fixed schedule; its start is taken against the tick, not against the moment it was sent.
func ping(ctx context.Context, peer Peer) (map[string]any, error) {
	total := warmUp + Settings.Pings
	if err := peer.Clients(ctx, 1); err != nil {
		return nil, err
	}
	due, started := make([]time.Time, total), make([]time.Time, total)
	var handled atomic.Int64
	stop, err := peer.Worker(ctx, "ping", func(n int) {
		started[n] = time.Now()
		handled.Add(1)
	})
	if err != nil {
		return nil, err
	}
	time.Sleep(500 * time.Millisecond)
	interval := time.Duration(Settings.IntervalMilli) * time.Millisecond
	first := time.Now().Add(interval)
	for n := range total {
		due[n] = first.Add(time.Duration(n) * interval)
		time.Sleep(time.Until(due[n]) - awake)
		// The last of it is waited out awake, as by every driver.
		for time.Now().Before(due[n]) {
		}
		if n == warmUp {
			mark("begin")
		}
		if err := peer.Send(ctx, 0, Payload(n)); err != nil {
			return nil, err
		}
	}
	all := func() (bool, error) { return handled.Load() >= int64(total), nil }
	if err := until("started", handled.Load, all); err != nil {
		return nil, err
	}
	mark("end")
	stop()
	starts := make([]int64, 0, Settings.Pings)
	for n := warmUp; n < total; n++ {
		starts = append(starts, started[n].Sub(due[n]).Microseconds())
	}
	return map[string]any{"jobs": Settings.Pings, "seconds": (time.Duration(Settings.Pings) * interval).Seconds(), "starts_us": starts}, nil
}
