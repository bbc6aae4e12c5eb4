//! How do documents get to an index? In batches, each sent again while the index is busy or away.

use std::time::Duration;

use evercrawl_export::{DocumentForm, Operation, Refused};
use evercrawl_fetch::{Endpoint, PostError};

use crate::exit::{self, Failure};

/// Documents and bytes of a batch.
const MOST_DOCUMENTS: usize = 1000;
const MOST_BYTES: usize = 5 << 20;

/// How long is waited before a batch is sent again, and how often that is done.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const TRIES: u32 = 10;

/// Sends documents to an index.
pub(super) struct Sender {
    endpoint: Endpoint,
    form: DocumentForm,
    /// Documents that were put.
    pub(super) puts: u64,
    /// Documents that were deleted.
    pub(super) deletes: u64,
}

impl Sender {
    /// Sends to the index at `url`. A header is `NAME: VALUE`; a value `@FILE` is read from the file.
    pub(super) fn new(url: &str, form: DocumentForm, headers: &[String]) -> anyhow::Result<Self> {
        let headers: Result<Vec<_>, _> = headers.iter().map(|text| header(text)).collect();
        let endpoint = Endpoint::new(url, headers?).map_err(failed)?;
        Ok(Sender { endpoint, form, puts: 0, deletes: 0 })
    }

    /// Sends operations; returns when the index took them all.
    pub(super) fn send(&mut self, operations: &[Operation]) -> anyhow::Result<()> {
        let mut rest = operations;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(self.fitting(rest));
            self.send_batch(batch)?;
            let puts = batch.iter().filter(|one| matches!(one, Operation::Put(_))).count();
            self.puts += puts as u64;
            self.deletes += (batch.len() - puts) as u64;
            rest = later;
        }
        Ok(())
    }

    /// How many operations fit into a batch; one at least.
    fn fitting(&self, operations: &[Operation]) -> usize {
        let mut bytes = 0;
        let fits = |operation: &&Operation| {
            bytes += self.form.lines(operation).len();
            bytes <= MOST_BYTES
        };
        operations.iter().take(MOST_DOCUMENTS).take_while(fits).count().max(1)
    }

    fn send_batch(&self, operations: &[Operation]) -> anyhow::Result<()> {
        for batch in self.form.batches(operations) {
            let mut pause = FIRST_PAUSE;
            for attempt in 1.. {
                let sent =
                    self.endpoint.send(batch.method, &batch.path, batch.content_type, &batch.body);
                let why = match sent {
                    Ok(answer) => match self.form.check(answer.status, &answer.body) {
                        Ok(()) => break,
                        Err(Refused::Busy(why)) => why,
                        Err(Refused::Wrong(why)) => return Err(self.refused(&why)),
                    },
                    Err(PostError::Io(_, error)) => error.to_string(),
                    Err(error) => return Err(failed(error)),
                };
                if attempt == TRIES {
                    return Err(self.away(&why));
                }
                wait(pause);
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
        Ok(())
    }

    fn refused(&self, why: &str) -> anyhow::Error {
        let message = format!(
            "{} refuses documents ({why}); nothing after them was sent; correct the cause, then run the command again",
            self.endpoint.name()
        );
        Failure { code: exit::UNEXPECTED, message }.into()
    }

    fn away(&self, why: &str) -> anyhow::Error {
        let message = format!(
            "{} takes no documents ({why}); run the command again to continue",
            self.endpoint.name()
        );
        Failure { code: exit::UNREACHABLE, message }.into()
    }
}

fn failed(error: PostError) -> anyhow::Error {
    match error {
        PostError::Usage(message) => Failure::usage(format!("--to: {message}")),
        error => Failure { code: exit::UNREACHABLE, message: error.to_string() }.into(),
    }
}

fn header(text: &str) -> anyhow::Result<(String, String)> {
    let wrong =
        || Failure::usage(format!("`{text}` is not a header; use e.g. `Authorization: @key.txt`"));
    let (name, value) = text.split_once(':').ok_or_else(wrong)?;
    let value = match value.trim().strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?
            .trim()
            .to_owned(),
        None => value.trim().to_owned(),
    };
    Ok((name.trim().to_owned(), value))
}

#[allow(clippy::disallowed_methods, reason = "nothing else is to be done while an index is busy")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}
