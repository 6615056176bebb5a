//! Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.rs.
//!
//! cargo build --release
//! perdure adapter smoke --command target/release/journal-adapter
//! perdure check journal --command target/release/journal-adapter

mod journal;

use journal::{size_of, FileJournal, Record, MAX_BYTES, MAX_RECORDS};
use serde::Deserialize;
use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

#[derive(Deserialize)]
struct Request {
    id: String,
    method: String,
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    state_dir: String,
    namespace: String,
    run_id: String,
    expected_next: u64,
    records: Vec<Record>, // `epoch` is null, unless `fencing` is claimed
    from_sequence: usize,
    limit: usize,
}

/// These fit in a line, in which text takes up to twice its bytes.
const PAGE_RECORDS: usize = 1_000;
const PAGE_BYTES: usize = 1 << 19;

/// What is claimed is judged. What is not claimed is refused as unsupported (JRN-022). To claim more, ask what it takes:
/// perdure explain snapshots, or leases, fencing, multi_process, read, durable.
fn about() -> Value {
    json!({
        "protocol": 1, "name": "my-journal", "version": "0.1.0",
        "capabilities": {
            "exact_replay": true,       // JRN-008
            "event_id_dedup": true,     // JRN-009, JRN-023
            "atomic_batch": true,       // JRN-015
            "durable": "process-crash", // JRN-017
        },
        "limits": {"max_batch_records": MAX_RECORDS, "max_batch_bytes": MAX_BYTES, "max_snapshot_bytes": MAX_BYTES},
    })
}

/// A page that would not fit in a line ends early, and is then not the end (JRN-021).
fn load(journal: &FileJournal, ask: &Params) -> io::Result<Value> {
    let limit = ask.limit.min(PAGE_RECORDS);
    let (mut page, mut is_end) = journal.load(&ask.run_id, ask.from_sequence, limit)?;
    while page.len() > 1 && size_of(&page) > PAGE_BYTES {
        page.truncate(page.len() / 2);
        is_end = false;
    }
    Ok(json!({"records": page, "end": is_end}))
}

/// A refusal is a result. An error is a fault, and ends this program: standard error tells it, and takes logs too.
fn main() -> io::Result<()> {
    let mut journal = None;
    for line in io::stdin().lock().split(b'\n') {
        let request: Request = serde_json::from_slice(&line?)?;
        let (method, ask) = (request.method.as_str(), &request.params);
        let result = match (method, &journal) {
            ("initialize", _) => {
                journal = Some(FileJournal::open(&ask.state_dir, &ask.namespace)?);
                Some(about())
            }
            ("append", Some(open)) => {
                Some(open.append(&ask.run_id, ask.expected_next, &ask.records)?)
            }
            ("load", Some(open)) => Some(load(open, ask)?),
            ("shutdown", _) => Some(json!({})), // Close what is open.
            _ => None,
        };
        let mut answer = json!({"jsonrpc": "2.0", "id": request.id});
        match result {
            Some(result) => answer["result"] = result,
            None => answer["error"] = json!({"code": -32601, "message": "method not found"}),
        }
        writeln!(io::stdout(), "{answer}")?;
        io::stdout().flush()?; // Else the answer may stay in this process.
        if method == "shutdown" {
            break;
        }
    }
    Ok(())
}
