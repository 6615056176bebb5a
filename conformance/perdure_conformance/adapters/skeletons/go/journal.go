package main

import (
	"encoding/json"
	"os"
	"regexp"
)

// Record is one record of a run. The body is text, and kept as it is (JRN-002).
type Record struct {
	Sequence int    `json:"sequence"`
	EventID  string `json:"event_id"`
	Body     string `json:"body"`
}

// Answer is an object of JSON.
type Answer map[string]any

// JRN-014
var limits = map[string]int{"max_batch_records": 1000, "max_batch_bytes": 1 << 20, "max_snapshot_bytes": 1 << 20}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// FileJournal is a journal on files, to be replaced by yours. The adapter calls Open, Append and Load.
//
// A file for each run is written anew by each append: short, and slow when runs are long.
type FileJournal struct{ folder string }

// Open opens a journal. All its state lives in stateDir, under namespace, and nowhere else.
func Open(stateDir, namespace string) FileJournal { return FileJournal{stateDir + "/" + namespace} }

// Append compares and appends. The first refusal that applies is the answer, in this order (JRN-013).
func (j FileJournal) Append(runID string, expectedNext int, records []Record) Answer {
	stored, isValid, isReplay, isKnown := j.read(runID), len(records) > 0, true, false
	next, size, ids, acknowledged := len(stored)+1, 0, map[string]bool{}, []Answer{}
	for i, record := range records {
		isValid = isValid && record.Sequence == expectedNext+i && uuid.MatchString(record.EventID) && record.Body != ""
		isReplay = isReplay && isValid && record.Sequence < next && record == stored[record.Sequence-1]
		ids[record.EventID] = true
		size += len(record.Body)
		acknowledged = append(acknowledged, Answer{"sequence": record.Sequence, "event_id": record.EventID})
	}
	for _, old := range stored { // of this run alone (JRN-010)
		isKnown = isKnown || ids[old.EventID]
	}
	switch {
	case !isValid || len(ids) < len(records):
		return Answer{"refused": "invalid_record"} // JRN-012
	case len(records) > limits["max_batch_records"] || size > limits["max_batch_bytes"]:
		return Answer{"refused": "too_large"} // JRN-026
	case isReplay: // it is stored already (JRN-008)
	case isKnown:
		return Answer{"refused": "event_id_conflict"} // JRN-009
	case expectedNext != next:
		return Answer{"refused": "sequence_conflict", "actual_next": next} // JRN-004, JRN-005, JRN-006
	default:
		j.write(runID, append(stored, records...))
	}
	return Answer{"acknowledged": acknowledged}
}

// Load returns a page. One that would not fit in a line ends early, and is then not the end (JRN-003, JRN-021).
//
// A line has room for twice the bytes of a batch. Text takes up to twice its bytes, and what is around it 100.
func (j FileJournal) Load(runID string, from, limit int) Answer {
	page, size, stored := []Record{}, 0, j.read(runID)
	for at := from - 1; at < len(stored) && len(page) < limit; at++ {
		if size += len(stored[at].Body) + 100; size > limits["max_batch_bytes"] && len(page) > 0 {
			break
		}
		page = append(page, stored[at])
	}
	return Answer{"records": page, "end": from+len(page) > len(stored)}
}

// read returns all records of a run. One that is not known has none (JRN-011).
func (j FileJournal) read(runID string) (records []Record) {
	if content, err := os.ReadFile(j.folder + "/" + runID + ".json"); !os.IsNotExist(err) {
		check(err)
		check(json.Unmarshal(content, &records))
	}
	return records
}

// write stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
//
// A kill leaves the old file or the new one. A power cut may take both: "durable" would be more than process-crash
// if the new file were synced before it is renamed, and the folder after.
func (j FileJournal) write(runID string, records []Record) {
	check(os.MkdirAll(j.folder, 0o755))
	content, _ := json.Marshal(records) // which cannot fail
	check(os.WriteFile(j.folder+"/new", content, 0o644))
	check(os.Rename(j.folder+"/new", j.folder+"/"+runID+".json"))
}
