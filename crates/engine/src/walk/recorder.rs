//! How does an answer get into the archive? As it was encoded, or anew where the file or what it refers to changed.

use std::sync::Arc;

use evercrawl_archive as archive;
use evercrawl_model::{Outcome, RecordAt, Time};
use evercrawl_state::{Reading, Store, View};

use crate::EngineError;
use crate::config::WalkConfig;
use crate::links::LinkReader;
use crate::process::{Ids, Processed, Processor};
use crate::recent::{Holder, Recent};

/// The archive's writer, with what it takes to make records again.
pub(super) struct Recorder<S> {
    pub(super) writer: archive::Writer,
    /// Content that is on its way to disk.
    pub(super) recent: Arc<Recent>,
    /// Makes records again, and reads answers where no other thread does.
    pub(super) processor: Processor<S>,
    /// True once records were dropped in this run.
    pub(super) drops: bool,
}

impl<S: Store> Recorder<S> {
    /// Writes to `writer`; `reading` says what was archived before.
    pub(super) fn new(
        config: &WalkConfig,
        writer: archive::Writer,
        links: LinkReader,
        reading: Reading<S>,
        seed: u64,
    ) -> Self {
        let recent = Arc::new(Recent::default());
        let ids = Ids::new(seed);
        let config = (config.reading.clone(), config.schedule);
        let processor = Processor::new(config, links, reading, recent.clone(), ids);
        Recorder { writer, recent, processor, drops: false }
    }

    /// Archives what a visit recorded, if anything; returns how many bytes that took.
    pub(super) fn record(
        &mut self,
        view: &View<S>,
        processed: &mut Processed,
        now: Time,
    ) -> Result<u64, EngineError> {
        self.refer_anew(view, processed)?;
        let Some(records) = processed.records.take() else { return Ok(0) };
        let Some((at, bytes)) = self.append(records, processed, now)? else { return Ok(0) };
        processed.visited.visit.record = Some(at);
        Ok(bytes)
    }

    /// While an answer was read, the record that it refers to may have been dropped. Then it
    /// holds its content itself, or refers to the record that does now.
    fn refer_anew(&mut self, view: &View<S>, processed: &mut Processed) -> Result<(), EngineError> {
        let Some(digest) = processed.refers_to().filter(|_| self.drops) else { return Ok(()) };
        let holder = match view.first_seen(&digest)? {
            // A 304 has no content of its own to hold.
            None if processed.visited.visit.outcome == Outcome::NotModified => {
                processed.records = None;
                return Ok(());
            }
            Some(first) => {
                let url = view.page(first.page)?.map(|row| row.url).unwrap_or_default();
                Some(Holder { page: first.page, url, at: first.at })
            }
            None => None,
        };
        if processed.refer_to(holder) {
            processed.records = self.processor.encode(processed, self.writer.file());
            if processed.visited.first_of_digest {
                self.recent.hold(digest, processed.holder());
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        mut records: archive::Encoded,
        processed: &Processed,
        now: Time,
    ) -> Result<Option<(RecordAt, u64)>, EngineError> {
        loop {
            match self.writer.append(&records, now) {
                Ok(at) => return Ok(Some((at, records.size() as u64))),
                Err(archive::WriteError::Stale) => {
                    match self.processor.encode(processed, self.writer.file()) {
                        Some(fresh) => records = fresh,
                        None => return Ok(None),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
