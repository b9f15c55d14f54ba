// A client of dts.ClientService as users of the original have it: generated from its contract, insecure credentials, no metadata.
//
//	client ADDRESS FILE COMMAND
//
// It schedules the command for now, transfers the file in parts, waits until both are over, and prints their statuses as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"ganger.test/client/dts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const part = 16

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: client ADDRESS FILE COMMAND")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatalf("connect: %v", err)
	}
	defer connection.Close()
	client := dts.NewClientServiceClient(connection)
	task, err := client.ScheduleTask(ctx, &dts.ScheduleTaskRequest{
		ScheduledAt: time.Now().Format(time.RFC3339),
		Command:     os.Args[3],
	})
	if err != nil {
		log.Fatalf("ScheduleTask: %v", err)
	}
	file, err := transfer(ctx, client, os.Args[2])
	if err != nil {
		log.Fatalf("TransferFile: %v", err)
	}
	statuses := map[string]*dts.GetStatusResponse{}
	for _, id := range []string{task.TaskId, file.FileId} {
		if statuses[id], err = wait(ctx, client, id); err != nil {
			log.Fatalf("GetStatus: %v", err)
		}
	}
	text, err := json.Marshal([]any{statuses[task.TaskId], statuses[file.FileId]})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
}

func transfer(ctx context.Context, client dts.ClientServiceClient, path string) (*dts.FileTransferResponse, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	stream, err := client.TransferFile(ctx)
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(content); from += part {
		until := min(from+part, len(content))
		chunk := &dts.FileChunk{Filename: filepath.Base(path), Content: content[from:until], IsLast: until == len(content)}
		if err := stream.Send(chunk); err != nil {
			break // CloseAndRecv tells why.
		}
	}
	return stream.CloseAndRecv()
}

func wait(ctx context.Context, client dts.ClientServiceClient, id string) (*dts.GetStatusResponse, error) {
	for {
		status, err := client.GetStatus(ctx, &dts.GetStatusRequest{TaskId: id})
		if err != nil || status.CompletedAt != "" || status.FailedAt != "" {
			return status, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
