package main

import (
	"encoding/json"
	"os"
	"path/filepath"
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

var limits = map[string]int{"max_batch_records": 1000, "max_batch_bytes": 1 << 20, "max_snapshot_bytes": 1 << 20} // JRN-014
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// FileJournal is a journal on files, to be replaced by yours. The adapter calls OpenFileJournal, Append and Load.
//
// A file for each run is written anew by each append: short, and slow when runs are long.
type FileJournal struct{ folder string }

// OpenFileJournal makes the folder of the namespace.
func OpenFileJournal(stateDir, namespace string) *FileJournal {
	folder := filepath.Join(stateDir, namespace)
	check(os.MkdirAll(folder, 0o755))
	return &FileJournal{folder}
}

// Append compares and appends. The first refusal that applies is the answer, in this order (JRN-013).
func (j *FileJournal) Append(runID string, expectedNext int, records []Record) Answer {
	stored := j.read(runID)
	next := len(stored) + 1
	byID := map[string]Record{} // of this run alone (JRN-010)
	for _, record := range stored {
		byID[record.EventID] = record
	}
	isReplay, isKnown, ids := true, false, []Answer{}
	for _, record := range records {
		old, isOld := byID[record.EventID]
		isReplay, isKnown = isReplay && old == record, isKnown || isOld
		ids = append(ids, Answer{"sequence": record.Sequence, "event_id": record.EventID})
	}
	switch {
	case !isValid(expectedNext, records):
		return Answer{"refused": "invalid_record"}
	case len(records) > limits["max_batch_records"] || sizeOf(records) > limits["max_batch_bytes"]:
		return Answer{"refused": "too_large"} // JRN-026
	case isReplay: // it is stored already (JRN-008)
	case isKnown:
		return Answer{"refused": "event_id_conflict"} // JRN-009
	case expectedNext != next:
		return Answer{"refused": "sequence_conflict", "actual_next": next} // JRN-004, JRN-005, JRN-006
	default:
		j.write(runID, append(stored, records...))
	}
	return Answer{"acknowledged": ids}
}

// Load returns a page, and whether no record follows it (JRN-003, JRN-021).
func (j *FileJournal) Load(runID string, fromSequence, limit int) (page []Record, isEnd bool) {
	stored := j.read(runID)
	if fromSequence > len(stored) {
		return []Record{}, true
	}
	rest := stored[fromSequence-1:]
	if len(rest) > limit {
		return rest[:limit], false
	}
	return rest, true
}

func (j *FileJournal) path(runID string) string { return filepath.Join(j.folder, runID+".json") }

// read returns all records of a run. One that is not known has none (JRN-011).
func (j *FileJournal) read(runID string) (records []Record) {
	content, err := os.ReadFile(j.path(runID))
	if !os.IsNotExist(err) {
		check(err)
		check(json.Unmarshal(content, &records))
	}
	return records
}

// write stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
//
// A kill leaves the old file or the new one. A power cut may take both: "durable" would be more than process-crash
// if the new file were synced before it is renamed, and the folder after.
func (j *FileJournal) write(runID string, records []Record) {
	content, err := json.Marshal(records)
	check(err)
	check(os.WriteFile(j.path(runID)+".new", content, 0o644))
	check(os.Rename(j.path(runID)+".new", j.path(runID)))
}

// isValid tells whether there are records, dense from expectedNext, with an id of their own and a body (JRN-012).
func isValid(expectedNext int, records []Record) bool {
	ids := map[string]bool{}
	for index, record := range records {
		if record.Sequence != expectedNext+index || !uuid.MatchString(record.EventID) || record.Body == "" {
			return false
		}
		ids[record.EventID] = true
	}
	return len(records) > 0 && len(ids) == len(records)
}

// sizeOf returns how many bytes the bodies have.
func sizeOf(records []Record) (size int) {
	for _, record := range records {
		size += len(record.Body)
	}
	return size
}
