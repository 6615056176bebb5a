//! A journal on files, to be replaced by yours. The adapter calls three things: open, append and load.

use serde::{Deserialize, Serialize};
use serde_json::{json, Value};
use std::{collections::HashSet, fs, io, path::PathBuf};

/// One record of a run. The body is text, and kept as it is (JRN-002).
#[derive(Clone, PartialEq, Deserialize, Serialize)]
pub struct Record {
    sequence: usize,
    event_id: String,
    body: String,
}

/// JRN-014
pub const MAX_RECORDS: usize = 1_000;
pub const MAX_BYTES: usize = 1 << 20;

/// A file for each run, written anew by each append: short, and slow when runs are long.
#[derive(Default)]
pub struct FileJournal(PathBuf); // the folder

impl FileJournal {
    /// All state lives in `state_dir`, under `namespace`, and nowhere else.
    pub fn open(state_dir: &str, namespace: &str) -> Self {
        FileJournal(PathBuf::from(state_dir).join(namespace))
    }

    /// Compares and appends. The first refusal that applies is the answer, in this order (JRN-013).
    pub fn append(&self, run_id: &str, expected: usize, records: &[Record]) -> io::Result<Value> {
        let stored = self.read(run_id)?;
        let ids: HashSet<_> = records.iter().map(|new| &new.event_id).collect();
        let id_of = |new: &Record| json!({"sequence": new.sequence, "event_id": new.event_id});
        let acknowledged = json!({"acknowledged": records.iter().map(id_of).collect::<Vec<_>>()});
        let are_due = records.iter().zip(expected..).all(is_due);
        Ok(if !are_due || ids.len() != records.len().max(1) {
            json!({"refused": "invalid_record"}) // JRN-012
        } else if records.len() > MAX_RECORDS || size_of(records) > MAX_BYTES {
            json!({"refused": "too_large"}) // JRN-026
        } else if stored.get(expected - 1..expected - 1 + records.len()) == Some(records) {
            acknowledged // An exact replay is stored already (JRN-008).
        } else if stored.iter().any(|old| ids.contains(&old.event_id)) {
            json!({"refused": "event_id_conflict"}) // Of this run alone (JRN-009, JRN-010).
        } else if expected != stored.len() + 1 {
            // JRN-004, JRN-005, JRN-006
            json!({"refused": "sequence_conflict", "actual_next": stored.len() + 1})
        } else {
            self.write(run_id, &[&stored, records].concat())?;
            acknowledged
        })
    }

    /// A page. One that would not fit in a line ends early, and is then not the end (JRN-003, JRN-021).
    ///
    /// A line has room for twice the bytes of a batch. Text takes up to twice its bytes, and what is around it 100.
    pub fn load(&self, run_id: &str, from: usize, limit: usize) -> io::Result<Value> {
        let rest: Vec<_> = self.read(run_id)?.into_iter().skip(from - 1).collect();
        let mut page = &rest[..limit.min(rest.len())];
        while page.len() > 1 && size_of(page) + 100 * page.len() > MAX_BYTES {
            page = &page[..page.len() / 2];
        }
        Ok(json!({"records": page, "end": page.len() == rest.len()}))
    }

    /// All records of a run. One that is not known has none (JRN-011).
    fn read(&self, run_id: &str) -> io::Result<Vec<Record>> {
        match fs::read(self.0.join(format!("{run_id}.json"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            content => Ok(serde_json::from_slice(&content?)?),
        }
    }

    /// Stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
    ///
    /// A kill leaves the old file or the new one. A power cut may take both: `durable` would be more than process-crash
    /// if the new file were synced before it is renamed, and the folder after.
    fn write(&self, run_id: &str, records: &[Record]) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        fs::write(self.0.join("new"), serde_json::to_vec(records)?)?;
        fs::rename(self.0.join("new"), self.0.join(format!("{run_id}.json")))
    }
}

/// Whether a record is the one that is due, with an event id and a body (JRN-012).
fn is_due((new, due): (&Record, usize)) -> bool {
    let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    let parts = new.event_id.split('-').map(str::len);
    let is_uuid = new.event_id.bytes().all(is_hex) && parts.eq([8, 4, 4, 4, 12]);
    new.sequence == due && is_uuid && !new.body.is_empty()
}

/// How many bytes the bodies have.
fn size_of(records: &[Record]) -> usize {
    records.iter().map(|record| record.body.len()).sum()
}
