//! How does what is dropped leave the walk's state and archive? In one commit, and nothing that
//! stays refers to it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use evercrawl_model::{Event, Outcome, Time};
use evercrawl_state::Store;

use super::Walk;
use crate::EngineError;
use crate::process::Processed;
use crate::recent::Holder;
use crate::retention::{Piece, Retention, Rewrite};

impl<S: Store> Walk<S> {
    /// The rules of the configuration, to be applied to what was committed. A file is written anew
    /// when at least the share `worth` of its records goes.
    pub fn retention(&self, worth: f64, now: Time, stop: Arc<AtomicBool>) -> Retention<S> {
        let archive = (Arc::clone(self.archive.segments()), self.archive.serials());
        let config = self.config.retention.clone();
        Retention::new(self.state.reading(), archive, config, worth, now, stop)
    }

    /// Takes over a piece of what is dropped, as part of the next commit; false when something
    /// refers to it by now, and all is as it was.
    pub fn retain(&mut self, piece: &Piece, now: Time) -> Result<bool, EngineError> {
        match piece {
            Piece::Visits(dropped) => {
                self.apply(&Event::VisitsDropped(dropped.clone()), now)?;
                Ok(true)
            }
            Piece::File(rewrite) if self.is_overtaken(rewrite)? => {
                self.discard(piece)?;
                Ok(false)
            }
            Piece::File(rewrite) => {
                self.apply(&Event::Rewritten(Box::new(rewrite.event.clone())), now)?;
                self.state.leave_archive(rewrite.from.serial)?;
                self.archive.leave(rewrite.from.clone());
                rewrite.to.clone().into_iter().for_each(|file| self.archive.adopt(file));
                self.drops = true;
                Ok(true)
            }
        }
    }

    /// Removes what was written for a piece that is not taken over.
    pub fn discard(&self, piece: &Piece) -> Result<(), EngineError> {
        if let Piece::File(rewrite) = piece
            && let Some(file) = &rewrite.to
        {
            file.discard(&**self.archive.segments())?;
        }
        Ok(())
    }

    /// True when a visit refers to content that would go.
    fn is_overtaken(&self, rewrite: &Rewrite) -> Result<bool, EngineError> {
        let contents: HashSet<&[u8; 20]> = rewrite.event.contents.iter().collect();
        for entry in self.state.view().visits(rewrite.seen) {
            if entry?.1.digest.is_some_and(|digest| contents.contains(&digest)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// While an answer was read, the record that it refers to may have been dropped. Then it
    /// holds its content itself, or refers to whoever does now.
    pub(super) fn refer_anew(&mut self, processed: &mut Processed) -> Result<(), EngineError> {
        let Some(digest) = processed.refers_to().filter(|_| self.drops) else { return Ok(()) };
        let holder = match self.state.view().first_seen(&digest)? {
            // A 304 has no content of its own to hold.
            None if processed.visited.visit.outcome == Outcome::NotModified => {
                processed.records = None;
                return Ok(());
            }
            Some(first) => {
                let url =
                    self.state.view().page(first.page)?.map(|row| row.url).unwrap_or_default();
                Some(Holder { page: first.page, url, at: first.at })
            }
            None => None,
        };
        if processed.refer_to(holder) {
            processed.records = self.again.encode(processed, self.archive.file());
            if processed.visited.first_of_digest {
                self.recent.hold(digest, processed.holder());
            }
        }
        Ok(())
    }
}
