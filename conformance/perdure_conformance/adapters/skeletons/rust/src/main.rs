//! Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.rs.
//!
//! cargo build --release
//! perdure adapter smoke --command target/release/journal-adapter
//! perdure check journal --command target/release/journal-adapter

mod journal;

use journal::{FileJournal, Record, MAX_BYTES, MAX_RECORDS};
use serde::Deserialize;
use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    state_dir: String,
    namespace: String,
    run_id: String,
    expected_next: usize,
    records: Vec<Record>, // `epoch` is null, unless `fencing` is claimed
    from_sequence: usize,
    limit: usize,
}

/// What is claimed is judged. What is not claimed is refused as unsupported (JRN-022). To claim more, ask what it takes:
/// perdure explain snapshots, or leases, fencing, multi_process, read, durable.
fn about() -> Value {
    json!({
        "protocol": 1, "name": "my-journal", "version": "0.1.0", "capabilities": {
            "exact_replay": true,       // JRN-008
            "event_id_dedup": true,     // JRN-009, JRN-023
            "atomic_batch": true,       // JRN-015
            "durable": "process-crash", // JRN-017
        },
        "limits": {"max_batch_records": MAX_RECORDS, "max_batch_bytes": MAX_BYTES, "max_snapshot_bytes": MAX_BYTES},
    })
}

/// A refusal is a result. An error is a fault, and ends this program: standard error tells it, and takes logs too.
fn main() -> io::Result<()> {
    let mut journal = FileJournal::default();
    for line in io::stdin().lock().split(b'\n') {
        let mut request: Value = serde_json::from_slice(&line?)?;
        let ask: Params = serde_json::from_value(request["params"].take())?;
        let mut reply = json!({"jsonrpc": "2.0", "id": request["id"]});
        match request["method"].as_str().unwrap_or_default() {
            "initialize" => {
                journal = FileJournal::open(&ask.state_dir, &ask.namespace);
                reply["result"] = about();
            }
            "append" => {
                reply["result"] = journal.append(&ask.run_id, ask.expected_next, &ask.records)?
            }
            "load" => reply["result"] = journal.load(&ask.run_id, ask.from_sequence, ask.limit)?,
            "shutdown" => reply["result"] = json!({}), // Close what is open.
            _ => reply["error"] = json!({"code": -32601, "message": "method not found"}),
        }
        writeln!(io::stdout(), "{reply}")?;
        io::stdout().flush()?; // Else the answer may stay in this process.
        if request["method"] == "shutdown" {
            break;
        }
    }
    Ok(())
}
