//! A journal on files, to be replaced by yours. The adapter calls three things: open, append and load.

use serde::{Deserialize, Serialize};
use serde_json::{json, Value};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::{fs, io};

/// One record of a run. The body is text, and kept as it is (JRN-002).
#[derive(Clone, PartialEq, Deserialize, Serialize)]
pub struct Record {
    sequence: u64,
    event_id: String,
    body: String,
}

/// JRN-014
pub const MAX_RECORDS: usize = 1_000;
pub const MAX_BYTES: usize = 1 << 20;

/// A file for each run, written anew by each append: short, and slow when runs are long.
pub struct FileJournal {
    folder: PathBuf,
}

impl FileJournal {
    /// All state lives in `state_dir`, under `namespace`, and nowhere else.
    pub fn open(state_dir: &str, namespace: &str) -> io::Result<Self> {
        let folder = PathBuf::from(state_dir).join(namespace);
        fs::create_dir_all(&folder)?;
        Ok(FileJournal { folder })
    }

    /// Compares and appends. The first refusal that applies is the answer, in this order (JRN-013).
    pub fn append(&self, run_id: &str, expected: u64, records: &[Record]) -> io::Result<Value> {
        let stored = self.read(run_id)?;
        let next = stored.len() as u64 + 1;
        let by_id: HashMap<_, _> = stored.iter().map(|old| (&old.event_id, old)).collect();
        let known = |new: &Record| by_id.get(&new.event_id); // Of this run alone (JRN-010).
        if !is_valid(expected, records) {
            return Ok(json!({"refused": "invalid_record"}));
        }
        if records.len() > MAX_RECORDS || size_of(records) > MAX_BYTES {
            return Ok(json!({"refused": "too_large"})); // JRN-026
        }
        // An exact replay is stored already (JRN-008).
        if !records.iter().all(|new| known(new) == Some(&new)) {
            if records.iter().any(|new| known(new).is_some()) {
                return Ok(json!({"refused": "event_id_conflict"})); // JRN-009
            }
            if expected != next {
                // JRN-004, JRN-005, JRN-006
                return Ok(json!({"refused": "sequence_conflict", "actual_next": next}));
            }
            self.write(run_id, &[&stored, records].concat())?;
        }
        let id_of = |new: &Record| json!({"sequence": new.sequence, "event_id": new.event_id});
        Ok(json!({"acknowledged": records.iter().map(id_of).collect::<Vec<_>>()}))
    }

    /// A page, and whether no record follows it (JRN-003, JRN-021).
    pub fn load(&self, run_id: &str, from: usize, limit: usize) -> io::Result<(Vec<Record>, bool)> {
        let stored = self.read(run_id)?;
        let rest = stored.get(from - 1..).unwrap_or_default();
        let page = rest.iter().take(limit).cloned().collect();
        Ok((page, rest.len() <= limit))
    }

    fn path(&self, run_id: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{run_id}.{kind}"))
    }

    /// All records of a run. One that is not known has none (JRN-011).
    fn read(&self, run_id: &str) -> io::Result<Vec<Record>> {
        match fs::read(self.path(run_id, "json")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            content => Ok(serde_json::from_slice(&content?)?),
        }
    }

    /// Stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
    ///
    /// A kill leaves the old file or the new one. A power cut may take both: `durable` would be more than process-crash
    /// if the new file were synced before it is renamed, and the folder after.
    fn write(&self, run_id: &str, records: &[Record]) -> io::Result<()> {
        fs::write(self.path(run_id, "new"), serde_json::to_vec(records)?)?;
        fs::rename(self.path(run_id, "new"), self.path(run_id, "json"))
    }
}

/// Whether there are records, dense from `expected`, with an id of their own and a body (JRN-012).
fn is_valid(expected: u64, records: &[Record]) -> bool {
    let ids: HashSet<_> = records.iter().map(|new| &new.event_id).collect();
    let is_due = |(new, due): (&Record, u64)| {
        new.sequence == due && is_uuid(&new.event_id) && !new.body.is_empty()
    };
    ids.len() == records.len().max(1) && records.iter().zip(expected..).all(is_due)
}

fn is_uuid(text: &str) -> bool {
    let is_due = |(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_due)
}

/// How many bytes the bodies have.
pub fn size_of(records: &[Record]) -> usize {
    records.iter().map(|record| record.body.len()).sum()
}
