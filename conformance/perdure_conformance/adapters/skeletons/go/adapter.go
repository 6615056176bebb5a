// Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.go.
//
//	go build -o adapter .
//	perdure adapter smoke --command ./adapter
//	perdure check journal --command ./adapter
package main

import (
	"encoding/json"
	"io"
	"log"
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

type params struct {
	StateDir     string   `json:"state_dir"`
	Namespace    string   `json:"namespace"`
	RunID        string   `json:"run_id"`
	ExpectedNext int      `json:"expected_next"`
	Records      []Record `json:"records"` // "epoch" is null, unless fencing is claimed
	FromSequence int      `json:"from_sequence"`
	Limit        int      `json:"limit"`
}

const pageRecords, pageBytes = 1000, 1 << 19 // this fits in a line, in which text takes up to twice its bytes

var journal *FileJournal

var methods = map[string]func(params) Answer{
	"initialize": initialize,
	"append":     func(p params) Answer { return journal.Append(p.RunID, p.ExpectedNext, p.Records) },
	"load":       load,
	"shutdown":   func(params) Answer { return Answer{} }, // close what is open
}

// initialize opens the journal. All its state lives in the folder, under the namespace, and nowhere else.
func initialize(p params) Answer {
	journal = OpenFileJournal(p.StateDir, p.Namespace)
	return Answer{"protocol": 1, "name": "my-journal", "version": "0.1.0", "capabilities": capabilities, "limits": limits}
}

// load loads a page. One that would not fit in a line ends early, and is then not the end (JRN-021).
func load(p params) Answer {
	if p.Limit > pageRecords {
		p.Limit = pageRecords
	}
	page, isEnd := journal.Load(p.RunID, p.FromSequence, p.Limit)
	for len(page) > 1 && sizeOf(page) > pageBytes {
		page, isEnd = page[:len(page)/2], false
	}
	return Answer{"records": page, "end": isEnd}
}

// main answers requests, one line each, until shutdown or the end of input. A refusal is a result.
func main() {
	requests, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout) // os.Stdout has no buffer to flush
	answers.SetEscapeHTML(false)                                               // it would make lines too long
	for {
		var request struct {
			ID, Method string
			Params     params
		}
		err := requests.Decode(&request)
		if err == io.EOF {
			return
		}
		check(err)
		answer := Answer{"jsonrpc": "2.0", "id": request.ID}
		if method, isOffered := methods[request.Method]; isOffered {
			answer["result"] = method(request.Params)
		} else {
			answer["error"] = Answer{"code": -32601, "message": "method not found: " + request.Method}
		}
		check(answers.Encode(answer))
		if request.Method == "shutdown" {
			return
		}
	}
}

// check lets a fault end this program: standard error tells it, and takes logs too.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
