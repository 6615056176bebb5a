// Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.go.
//
//	go build -o adapter .
//	perdure adapter smoke --command ./adapter
//	perdure check journal --command ./adapter
package main

import (
	"encoding/json"
	"os"
)

// What is claimed is judged. What is not claimed is refused as unsupported (JRN-022). To claim more, ask what it takes:
// perdure explain snapshots, or leases, fencing, multi_process, read, durable.
var capabilities = Answer{
	"exact_replay":   true,            // JRN-008
	"event_id_dedup": true,            // JRN-009, JRN-023
	"atomic_batch":   true,            // JRN-015
	"durable":        "process-crash", // JRN-017
}

type request struct {
	ID, Method string
	Params     struct {
		StateDir     string   `json:"state_dir"`
		Namespace    string   `json:"namespace"`
		RunID        string   `json:"run_id"`
		ExpectedNext int      `json:"expected_next"`
		Records      []Record `json:"records"` // "epoch" is null, unless fencing is claimed
		FromSequence int      `json:"from_sequence"`
		Limit        int      `json:"limit"`
	}
}

// main answers requests, one line each, until shutdown or the end of input. A refusal is a result.
func main() {
	requests, answers, journal := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout), FileJournal{}
	answers.SetEscapeHTML(false) // it would make lines too long; os.Stdout itself has no buffer to flush
	for isOpen := true; isOpen && requests.More(); {
		var asked request
		check(requests.Decode(&asked))
		answer := Answer{"jsonrpc": "2.0", "id": asked.ID}
		switch params := asked.Params; asked.Method {
		case "initialize":
			journal = Open(params.StateDir, params.Namespace)
			answer["result"] = Answer{"protocol": 1, "name": "my-journal", "version": "0.1.0",
				"capabilities": capabilities, "limits": limits}
		case "append":
			answer["result"] = journal.Append(params.RunID, params.ExpectedNext, params.Records)
		case "load":
			answer["result"] = journal.Load(params.RunID, params.FromSequence, params.Limit)
		case "shutdown":
			answer["result"], isOpen = Answer{}, false
		default:
			answer["error"] = Answer{"code": -32601, "message": "method not found: " + asked.Method}
		}
		check(answers.Encode(answer))
	}
}

// check lets a fault end this program: standard error tells it, and takes logs too.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
