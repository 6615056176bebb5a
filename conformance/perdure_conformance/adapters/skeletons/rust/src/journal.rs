//! A journal on files, to be replaced by yours.

use crate::{Answer, Journal, Record};
use serde_json::{json, Value};
use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

pub struct Limits {
    pub batch_records: usize,
    pub batch_bytes: usize,
    pub snapshot_bytes: usize,
}

/// JRN-014
pub const LIMITS: Limits = Limits {
    batch_records: 1_000,
    batch_bytes: 1 << 20,
    snapshot_bytes: 1 << 20,
};

/// A file for each run, a line for each batch.
pub struct FileJournal {
    folder: PathBuf,
    runs: HashMap<String, Vec<Record>>,
}

impl Journal for FileJournal {
    fn open(state_dir: &str, namespace: &str) -> io::Result<Self> {
        let folder = PathBuf::from(state_dir).join(namespace);
        fs::create_dir_all(&folder)?;
        Ok(FileJournal {
            folder,
            runs: HashMap::new(),
        })
    }

    /// The first refusal that applies is the answer, in this order (JRN-013).
    fn append(&mut self, run_id: &str, next: u64, records: &[Record]) -> io::Result<Answer> {
        let stored = self.read(run_id)?;
        let actual_next = stored.len() as u64 + 1;
        let size: usize = records.iter().map(|record| record.body.len()).sum();
        if !is_valid(next, records) {
            return Ok(Answer::Refused("invalid_record"));
        }
        if records.len() > LIMITS.batch_records || size > LIMITS.batch_bytes {
            return Ok(Answer::Refused("too_large")); // JRN-026
        }
        let rest = stored.get(next as usize - 1..).unwrap_or_default();
        if rest.starts_with(records) {
            return Ok(Answer::Acknowledged); // An exact replay: it is stored already (JRN-008).
        }
        // Of this run alone (JRN-010).
        let known: HashSet<&str> = stored
            .iter()
            .map(|record| record.event_id.as_str())
            .collect();
        if records
            .iter()
            .any(|record| known.contains(record.event_id.as_str()))
        {
            return Ok(Answer::Refused("event_id_conflict")); // JRN-009
        }
        if next != actual_next {
            return Ok(Answer::SequenceConflict { actual_next }); // JRN-004, JRN-005, JRN-006
        }
        if let Err(error) = self.write(run_id, records) {
            self.runs.remove(run_id); // Who knows what is there? It is read again.
            return Err(error);
        }
        self.runs
            .entry(run_id.to_owned())
            .or_default()
            .extend_from_slice(records);
        Ok(Answer::Acknowledged)
    }

    /// JRN-003, JRN-021. An unknown run has no records (JRN-011).
    fn load(&mut self, run_id: &str, from: u64, limit: usize) -> io::Result<(Vec<Record>, bool)> {
        let rest = self
            .read(run_id)?
            .get(from as usize - 1..)
            .unwrap_or_default();
        let page = rest[..limit.min(rest.len())].to_vec();
        Ok((page, rest.len() <= limit))
    }

    fn close(self) -> io::Result<()> {
        Ok(()) // Nothing is open between calls.
    }
}

impl FileJournal {
    fn path(&self, run_id: &str) -> PathBuf {
        self.folder.join(format!("{run_id}.journal"))
    }

    /// Reads a run once. A last line without its LF was never acknowledged: it is cut off (JRN-015, JRN-017).
    fn read(&mut self, run_id: &str) -> io::Result<&[Record]> {
        if !self.runs.contains_key(run_id) {
            let path = self.path(run_id);
            let content = match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
                found => found?,
            };
            let whole = content
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |at| at + 1);
            if whole < content.len() {
                OpenOptions::new()
                    .write(true)
                    .open(&path)?
                    .set_len(whole as u64)?;
            }
            let mut stored = Vec::new();
            for line in content[..whole].split_inclusive(|&byte| byte == b'\n') {
                let batch: Value = serde_json::from_slice(line)?;
                let batch = crate::records_of(&batch).ok_or(ErrorKind::InvalidData)?;
                stored.extend(batch);
            }
            self.runs.insert(run_id.to_owned(), stored);
        }
        Ok(&self.runs[run_id])
    }

    /// Writes a batch as one line, and has it on disk before it is acknowledged (JRN-015, JRN-017).
    fn write(&self, run_id: &str, records: &[Record]) -> io::Result<()> {
        let record = |record: &Record| json!({"sequence": record.sequence, "event_id": record.event_id, "body": record.body});
        let batch = json!({"records": records.iter().map(record).collect::<Vec<_>>()});
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(run_id))?;
        file.write_all(format!("{batch}\n").as_bytes())?;
        file.sync_all()
    }
}

/// Whether there are records, dense from `next`, with an id of their own and a body (JRN-012).
fn is_valid(next: u64, records: &[Record]) -> bool {
    let ids: HashSet<&str> = records
        .iter()
        .map(|record| record.event_id.as_str())
        .collect();
    let is_dense = records
        .iter()
        .zip(next..)
        .all(|(record, due)| record.sequence == due);
    let is_filled = |record: &Record| is_uuid(&record.event_id) && !record.body.is_empty();
    !records.is_empty() && ids.len() == records.len() && is_dense && records.iter().all(is_filled)
}

fn is_uuid(text: &str) -> bool {
    let is_due = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_due)
}
