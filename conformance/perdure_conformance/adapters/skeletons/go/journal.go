package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

var limits = map[string]int{"max_batch_records": 1000, "max_batch_bytes": 1 << 20, "max_snapshot_bytes": 1 << 20} // JRN-014
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// FileJournal is a journal on files, to be replaced by yours: a file for each run, a line for each batch.
type FileJournal struct {
	folder string
	runs   map[string][]Record
}

// Open makes the folder of the namespace.
func (j *FileJournal) Open(stateDir, namespace string) error {
	j.folder, j.runs = filepath.Join(stateDir, namespace), map[string][]Record{}
	return os.MkdirAll(j.folder, 0o755)
}

// Append compares and appends. The first refusal that applies is the answer, in this order (JRN-013).
func (j *FileJournal) Append(runID string, expectedNext int64, records []Record) (Answer, error) {
	stored, err := j.read(runID)
	if err != nil {
		return nil, err
	}
	next := int64(len(stored)) + 1
	switch {
	case !isValid(expectedNext, records):
		return Answer{"refused": "invalid_record"}, nil
	case isTooLarge(records):
		return Answer{"refused": "too_large"}, nil // JRN-026
	case isReplay(stored, expectedNext, records):
		return acknowledged(records), nil // it is stored already (JRN-008)
	case sharesAnID(stored, records):
		return Answer{"refused": "event_id_conflict"}, nil // JRN-009
	case expectedNext != next:
		return Answer{"refused": "sequence_conflict", "actual_next": next}, nil // JRN-004, JRN-005, JRN-006
	}
	if err := j.write(runID, records); err != nil {
		delete(j.runs, runID) // who knows what is there? It is read again
		return nil, err
	}
	j.runs[runID] = append(stored, records...)
	return acknowledged(records), nil
}

// Load returns a page, and whether no record follows it (JRN-003, JRN-021). An unknown run has none (JRN-011).
func (j *FileJournal) Load(runID string, fromSequence int64, limit int) ([]Record, bool, error) {
	stored, err := j.read(runID)
	if err != nil || fromSequence > int64(len(stored)) {
		return nil, true, err
	}
	rest := stored[fromSequence-1:]
	if len(rest) <= limit {
		return rest, true, nil
	}
	return rest[:limit], false, nil
}

// Close has nothing to do: nothing is open between calls.
func (j *FileJournal) Close() error { return nil }

func (j *FileJournal) path(runID string) string { return filepath.Join(j.folder, runID+".journal") }

// read reads a run once. A last line without its LF was never acknowledged: it is cut off (JRN-015, JRN-017).
func (j *FileJournal) read(runID string) ([]Record, error) {
	if stored, known := j.runs[runID]; known {
		return stored, nil
	}
	content, err := os.ReadFile(j.path(runID))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	lines := bytes.Split(content, []byte("\n"))
	if half := len(lines[len(lines)-1]); half > 0 {
		if err := os.Truncate(j.path(runID), int64(len(content)-half)); err != nil {
			return nil, err
		}
	}
	var stored []Record
	for _, line := range lines[:len(lines)-1] {
		var batch []Record
		if err := json.Unmarshal(line, &batch); err != nil {
			return nil, err
		}
		stored = append(stored, batch...)
	}
	j.runs[runID] = stored
	return stored, nil
}

// write writes a batch as one line, and has it on disk before it is acknowledged (JRN-015, JRN-017).
func (j *FileJournal) write(runID string, records []Record) error {
	line, err := json.Marshal(records)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(j.path(runID), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Sync()
}

func acknowledged(records []Record) Answer {
	ids := []Answer{}
	for _, record := range records {
		ids = append(ids, Answer{"sequence": record.Sequence, "event_id": record.EventID})
	}
	return Answer{"acknowledged": ids}
}

// isValid tells whether there are records, dense from expectedNext, with an id of their own and a body (JRN-012).
func isValid(expectedNext int64, records []Record) bool {
	ids := map[string]bool{}
	for index, record := range records {
		if record.Sequence != expectedNext+int64(index) || !uuid.MatchString(record.EventID) || record.Body == "" {
			return false
		}
		ids[record.EventID] = true
	}
	return len(records) > 0 && len(ids) == len(records)
}

func isTooLarge(records []Record) bool {
	size := 0
	for _, record := range records {
		size += len(record.Body)
	}
	return len(records) > limits["max_batch_records"] || size > limits["max_batch_bytes"]
}

func isReplay(stored []Record, expectedNext int64, records []Record) bool {
	if expectedNext-1+int64(len(records)) > int64(len(stored)) {
		return false
	}
	for index, record := range records {
		if stored[expectedNext-1+int64(index)] != record {
			return false
		}
	}
	return true
}

// sharesAnID tells whether the run, and no other, holds one of the event ids (JRN-010).
func sharesAnID(stored, records []Record) bool {
	ids := map[string]bool{}
	for _, record := range stored {
		ids[record.EventID] = true
	}
	for _, record := range records {
		if ids[record.EventID] {
			return true
		}
	}
	return false
}
