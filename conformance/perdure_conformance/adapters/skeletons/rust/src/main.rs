//! Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.rs.
//!
//! cargo build --release
//! perdure adapter smoke --command target/release/journal-adapter
//! perdure check journal --command target/release/journal-adapter

mod journal;

use journal::{FileJournal, LIMITS};
use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

/// One record of a run. The body is text, and kept as it is (JRN-002).
#[derive(Clone, PartialEq)]
pub struct Record {
    pub sequence: u64,
    pub event_id: String,
    pub body: String,
}

pub enum Answer {
    Acknowledged,
    Refused(&'static str),
    SequenceConflict { actual_next: u64 },
}

/// What the adapter needs of your journal.
pub trait Journal: Sized {
    /// All state lives in `state_dir`, under `namespace`, and nowhere else.
    fn open(state_dir: &str, namespace: &str) -> io::Result<Self>;
    fn append(&mut self, run_id: &str, next: u64, records: &[Record]) -> io::Result<Answer>;
    /// A page, and whether no record follows it.
    fn load(&mut self, run_id: &str, from: u64, limit: usize) -> io::Result<(Vec<Record>, bool)>;
    fn close(self) -> io::Result<()>;
}

const PAGE_BYTES: usize = 1 << 20;

/// How many records fit in a line, at least one: text takes up to twice its bytes as JSON.
fn fitting(records: &[Record]) -> usize {
    let mut size = 0;
    let is_over = |record: &Record| {
        size += record.body.len() + 100;
        size > PAGE_BYTES
    };
    let over = records.iter().position(is_over);
    over.map_or(records.len(), |count| count.max(1))
}

fn records_of(params: &Value) -> Option<Vec<Record>> {
    let record = |value: &Value| {
        Some(Record {
            sequence: value["sequence"].as_u64()?,
            event_id: value["event_id"].as_str()?.to_owned(),
            body: value["body"].as_str()?.to_owned(),
        })
    };
    params["records"].as_array()?.iter().map(record).collect()
}

fn initialize(journal: &mut Option<FileJournal>, params: &Value) -> Option<io::Result<Value>> {
    match FileJournal::open(params["state_dir"].as_str()?, params["namespace"].as_str()?) {
        Ok(opened) => *journal = Some(opened),
        Err(error) => return Some(Err(error)),
    }
    // What is claimed is judged. What is not claimed must be refused as unsupported (JRN-022).
    let capabilities = json!({
        "exact_replay": true,       // JRN-008
        "event_id_dedup": true,     // JRN-009, JRN-023
        "atomic_batch": true,       // JRN-015
        "durable": "process-crash", // JRN-017
    });
    Some(Ok(json!({
        "protocol": 1, "name": "my-journal", "version": "0.1.0", "capabilities": capabilities,
        "limits": {
            "max_batch_records": LIMITS.batch_records,
            "max_batch_bytes": LIMITS.batch_bytes,
            "max_snapshot_bytes": LIMITS.snapshot_bytes,
        },
    })))
}

/// `epoch` is null, unless `fencing` is claimed.
fn append(journal: &mut Option<FileJournal>, params: &Value) -> Option<io::Result<Value>> {
    let records = records_of(params)?;
    let (run_id, next) = (
        params["run_id"].as_str()?,
        params["expected_next"].as_u64()?,
    );
    let id_of = |record: &Record| json!({"sequence": record.sequence, "event_id": record.event_id});
    let told = |answer| match answer {
        Answer::Acknowledged => {
            json!({"acknowledged": records.iter().map(id_of).collect::<Vec<_>>()})
        }
        Answer::Refused(why) => json!({"refused": why}),
        Answer::SequenceConflict { actual_next } => {
            json!({"refused": "sequence_conflict", "actual_next": actual_next})
        }
    };
    Some(journal.as_mut()?.append(run_id, next, &records).map(told))
}

fn load(journal: &mut Option<FileJournal>, params: &Value) -> Option<io::Result<Value>> {
    let (run_id, from) = (
        params["run_id"].as_str()?,
        params["from_sequence"].as_u64()?,
    );
    let limit = params["limit"].as_u64()? as usize;
    let told = |(records, end): (Vec<Record>, bool)| {
        let count = fitting(&records); // A page that ends early is not the end (JRN-021).
        let record = |record: &Record| json!({"sequence": record.sequence, "event_id": record.event_id, "body": record.body});
        let page: Vec<Value> = records[..count].iter().map(record).collect();
        json!({"records": page, "end": end && count == records.len()})
    };
    Some(journal.as_mut()?.load(run_id, from, limit).map(told))
}

fn shutdown(journal: &mut Option<FileJournal>) -> io::Result<Value> {
    journal.take().map_or(Ok(()), Journal::close)?;
    Ok(json!({}))
}

/// The message that answers a request. An error is a fault of this program, never a refusal.
fn answer(journal: &mut Option<FileJournal>, request: &Value) -> Value {
    let (id, params) = (&request["id"], &request["params"]);
    let method = request["method"].as_str().unwrap_or_default();
    let result = match method {
        "initialize" => initialize(journal, params),
        "append" => append(journal, params),
        "load" => load(journal, params),
        "shutdown" => Some(shutdown(journal)),
        _ => {
            let error = json!({"code": -32601, "message": format!("method not found: {method}")});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    let message = match result {
        Some(Ok(result)) => return json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Some(Err(error)) => error.to_string(),
        None => format!("{method} lacks a param, or came before initialize"),
    };
    eprintln!("{message}"); // Logs go to standard error: standard output is for messages alone.
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message}})
}

fn main() -> io::Result<()> {
    let mut journal = None;
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let request: Value = serde_json::from_slice(&line)?;
        writeln!(output, "{}", answer(&mut journal, &request))?;
        output.flush()?; // Else the answer may stay in this process.
        if request["method"] == "shutdown" {
            break;
        }
        line.clear();
    }
    Ok(())
}
