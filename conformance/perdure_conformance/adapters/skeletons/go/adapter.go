// Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.go.
//
//	go build -o adapter .
//	perdure adapter smoke --command ./adapter
//	perdure check journal --command ./adapter
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
)

// Journal is what the adapter needs of yours.
type Journal interface {
	Open(stateDir, namespace string) error // all state lives there, and nowhere else
	Append(runID string, expectedNext int64, records []Record) (Answer, error)
	Load(runID string, fromSequence int64, limit int) (records []Record, end bool, err error)
	Close() error
}

// Record is one record of a run. The body is text, and kept as it is (JRN-002).
type Record struct {
	Sequence int64  `json:"sequence"`
	EventID  string `json:"event_id"`
	Body     string `json:"body"`
}

// Answer is a result. A refusal is one too.
type Answer map[string]any

// What is claimed is judged. What is not claimed must be refused as unsupported (JRN-022).
var capabilities = Answer{
	"exact_replay":   true,            // JRN-008
	"event_id_dedup": true,            // JRN-009, JRN-023
	"atomic_batch":   true,            // JRN-015
	"durable":        "process-crash", // JRN-017
}

type request struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	Params struct {
		StateDir     string   `json:"state_dir"`
		Namespace    string   `json:"namespace"`
		RunID        string   `json:"run_id"`
		ExpectedNext int64    `json:"expected_next"`
		Records      []Record `json:"records"` // "epoch" is null, unless fencing is claimed
		FromSequence int64    `json:"from_sequence"`
		Limit        int      `json:"limit"`
	} `json:"params"`
}

const pageBytes = 1 << 20

var errMethodNotFound = errors.New("method not found")

// fitting returns how many records fit in a line, at least one: text takes up to twice its bytes as JSON.
func fitting(records []Record) int {
	size := 0
	for count, record := range records {
		size += len(record.Body) + 100
		if size > pageBytes && count > 0 {
			return count
		}
	}
	return len(records)
}

func result(journal Journal, ask request) (Answer, error) {
	params := ask.Params
	switch ask.Method {
	case "initialize":
		about := Answer{"protocol": 1, "name": "my-journal", "version": "0.1.0", "capabilities": capabilities, "limits": limits}
		return about, journal.Open(params.StateDir, params.Namespace)
	case "append":
		return journal.Append(params.RunID, params.ExpectedNext, params.Records)
	case "load":
		records, end, err := journal.Load(params.RunID, params.FromSequence, params.Limit)
		count := fitting(records) // a page that ends early is not the end (JRN-021)
		return Answer{"records": append([]Record{}, records[:count]...), "end": end && count == len(records)}, err
	case "shutdown":
		return Answer{}, journal.Close()
	default:
		return nil, errMethodNotFound
	}
}

// answer returns the message that answers a request. An error is a fault of this program, never a refusal.
func answer(journal Journal, ask request) Answer {
	message := Answer{"jsonrpc": "2.0", "id": ask.ID}
	found, err := result(journal, ask)
	switch err {
	case nil:
		message["result"] = found
	case errMethodNotFound:
		message["error"] = Answer{"code": -32601, "message": "method not found: " + ask.Method}
	default:
		log.Print(err) // logs go to standard error: standard output is for messages alone
		message["error"] = Answer{"code": -32603, "message": err.Error()}
	}
	return message
}

func main() {
	var journal Journal = &FileJournal{}
	lines := bufio.NewReader(os.Stdin) // not a Scanner: lines are longer than it takes
	replies := json.NewEncoder(os.Stdout)
	replies.SetEscapeHTML(false) // else a page may become longer than a line may be
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var ask request
		if err == nil {
			err = json.Unmarshal(line, &ask)
		}
		if err == nil {
			err = replies.Encode(answer(journal, ask)) // one line; os.Stdout has no buffer to flush
		}
		if err != nil {
			log.Fatal(err)
		}
		if ask.Method == "shutdown" {
			return
		}
	}
}
