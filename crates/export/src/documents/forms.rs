//! In which form do search indexes take documents, and what do they answer?
//!
//! | form | put | delete | told twice |
//! |---|---|---|---|
//! | OpenSearch | `index` in `_bulk` | `delete` in `_bulk` | refused by `version`, which counts as done |
//! | Meilisearch | NDJSON to `documents` | `documents/delete-batch` | replaces the same by the same |
//! | Typesense | `documents/import?action=upsert` | `documents?filter_by=id` | replaces the same by the same |
//! | Quickwit | NDJSON to `ingest` | the operation itself, as a document | take the highest `seq` of an `id` |

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Operation;

/// The form of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentForm {
    /// An operation a line.
    JsonLines,
    /// The `_bulk` request of OpenSearch and Elasticsearch.
    OpenSearch,
    /// Meilisearch.
    Meilisearch,
    /// Typesense.
    Typesense,
    /// Quickwit, which only adds.
    Quickwit,
}

/// A request to a search index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// `POST` or `DELETE`.
    pub method: &'static str,
    /// What follows the URL of the index.
    pub path: String,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// What an index did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It cannot just now: send the batch again later.
    Busy(String),
    /// It never will: what it says of the request or of some documents.
    Wrong(String),
}

/// Documents of which an answer is quoted.
const MOST_QUOTED: usize = 300;

impl DocumentForm {
    /// An operation as lines, each with its end, for standard output.
    pub fn lines(self, operation: &Operation) -> String {
        match self {
            DocumentForm::OpenSearch => bulk_lines(operation),
            // These have no line for a deletion; the operation says what to do.
            DocumentForm::Meilisearch | DocumentForm::Typesense => match operation {
                Operation::Put(document) => line(&json!(document)),
                Operation::Delete { .. } => line(&json!(operation)),
            },
            DocumentForm::JsonLines | DocumentForm::Quickwit => line(&json!(operation)),
        }
    }

    /// The requests that tell an index of some operations. Of several for one document, the last counts.
    pub fn batches(self, operations: &[Operation]) -> Vec<Batch> {
        let last: HashMap<&str, u64> =
            operations.iter().map(|operation| (id_of(operation), operation.seq())).collect();
        let kept = operations.iter().filter(|operation| last[id_of(operation)] == operation.seq());
        let (puts, deletes): (Vec<&Operation>, Vec<&Operation>) =
            kept.partition(|operation| matches!(operation, Operation::Put(_)));
        let both = || puts.iter().chain(&deletes).copied();
        let batches = match self {
            DocumentForm::JsonLines => vec![ndjson("", both().map(|one| line(&json!(one))))],
            DocumentForm::OpenSearch => vec![ndjson("/_bulk", both().map(bulk_lines))],
            DocumentForm::Quickwit => vec![ndjson("/ingest", both().map(|one| line(&json!(one))))],
            DocumentForm::Meilisearch => vec![
                ndjson("/documents?primaryKey=id", puts.iter().map(|one| self.lines(one))),
                meilisearch_deletes(&deletes),
            ],
            DocumentForm::Typesense => vec![
                ndjson("/documents/import?action=upsert", puts.iter().map(|one| self.lines(one))),
                typesense_deletes(&deletes),
            ],
        };
        let is_empty = |batch: &Batch| batch.body.is_empty() && !batch.path.ends_with(']');
        batches.into_iter().filter(|batch| !is_empty(batch)).collect()
    }

    /// Whether an index took a batch, by its answer.
    pub fn check(self, status: u16, body: &[u8]) -> Result<(), Refused> {
        let text = String::from_utf8_lossy(body);
        let quoted: String = text.chars().take(MOST_QUOTED).collect();
        match status {
            200..=299 => {}
            429 | 502 | 503 | 504 => return Err(Refused::Busy(format!("{status}: {quoted}"))),
            _ => return Err(Refused::Wrong(format!("{status}: {quoted}"))),
        }
        match self {
            DocumentForm::OpenSearch => check_bulk(body),
            DocumentForm::Typesense => check_lines(&text),
            DocumentForm::Quickwit => check_ingested(body),
            DocumentForm::Meilisearch | DocumentForm::JsonLines => Ok(()),
        }
    }
}

fn id_of(operation: &Operation) -> &str {
    match operation {
        Operation::Put(document) => &document.id,
        Operation::Delete { id, .. } => id,
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn ndjson(path: &str, lines: impl Iterator<Item = String>) -> Batch {
    let body = lines.collect::<String>().into_bytes();
    Batch { method: "POST", path: path.to_owned(), content_type: "application/x-ndjson", body }
}

/// The index is told the number as the version: it refuses what is older than what it has.
fn bulk_lines(operation: &Operation) -> String {
    let action = |name: &str| {
        let seq = operation.seq();
        line(
            &json!({name: {"_id": id_of(operation), "version": seq, "version_type": "external_gte"}}),
        )
    };
    match operation {
        Operation::Put(document) => action("index") + &line(&json!(document)),
        Operation::Delete { .. } => action("delete"),
    }
}

fn meilisearch_deletes(deletes: &[&Operation]) -> Batch {
    let ids: Vec<&str> = deletes.iter().map(|one| id_of(one)).collect();
    let body = if ids.is_empty() { Vec::new() } else { json!(ids).to_string().into_bytes() };
    let path = "/documents/delete-batch".to_owned();
    Batch { method: "POST", path, content_type: "application/json", body }
}

fn typesense_deletes(deletes: &[&Operation]) -> Batch {
    let ids: Vec<&str> = deletes.iter().map(|one| id_of(one)).collect();
    let path = match ids.is_empty() {
        true => String::new(),
        false => format!("/documents?filter_by=id:[{}]", ids.join(",")),
    };
    Batch { method: "DELETE", path, content_type: "application/json", body: Vec::new() }
}

/// One status for each document. That an index has a newer version, or nothing to delete, is as it should be.
fn check_bulk(body: &[u8]) -> Result<(), Refused> {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return Err(Refused::Wrong("the answer to the bulk request is not JSON".to_owned()));
    };
    let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let results = items.iter().filter_map(|item| item.as_object()?.values().next());
    let mut busy = None;
    for result in results {
        let status = result["status"].as_u64().unwrap_or(0);
        let told = || format!("{} for {}: {}", status, result["_id"], result["error"]);
        match status {
            200..=299 | 404 | 409 => {}
            429 | 503 => busy = Some(Refused::Busy(told())),
            _ => return Err(Refused::Wrong(told())),
        }
    }
    busy.map_or(Ok(()), Err)
}

/// One line for each document. A deletion is answered by a count.
fn check_lines(text: &str) -> Result<(), Refused> {
    let wrong = text.lines().find(|line| line.contains("\"success\":false"));
    wrong.map_or(Ok(()), |line| Err(Refused::Wrong(line.chars().take(MOST_QUOTED).collect())))
}

fn check_ingested(body: &[u8]) -> Result<(), Refused> {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    match answer["num_rejected_docs"].as_u64() {
        Some(1..) => Err(Refused::Wrong(answer.to_string().chars().take(MOST_QUOTED).collect())),
        _ => Ok(()),
    }
}
