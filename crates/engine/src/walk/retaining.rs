//! How does what is dropped leave the walk's state and archive? In one commit, and nothing that
//! stays refers to it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use evercrawl_model::{Event, Time};
use evercrawl_state::{Store, View};

use super::Walk;
use crate::EngineError;
use crate::retention::{Piece, Retention, Rewrite};

impl<S: Store> Walk<S> {
    /// The rules of the configuration, to be applied to what was committed. A file is written anew
    /// when at least the share `worth` of its records goes.
    pub fn retention(&self, worth: f64, now: Time, stop: Arc<AtomicBool>) -> Retention<S> {
        let writer = &self.recorder.writer;
        let archive = (Arc::clone(writer.segments()), writer.serials());
        let config = self.config.retention.clone();
        Retention::new(self.ledger.state.reading(), archive, config, worth, now, stop)
    }

    /// Takes over a piece of what is dropped, as part of the next commit; false when something
    /// refers to it by now, and all is as it was.
    pub fn retain(&mut self, piece: &Piece, now: Time) -> Result<bool, EngineError> {
        match piece {
            Piece::Visits(dropped) => {
                self.ledger.apply(&Event::VisitsDropped(dropped.clone()), now)?;
                Ok(true)
            }
            Piece::File(rewrite) if is_overtaken(self.ledger.view(), rewrite)? => {
                self.discard(piece)?;
                Ok(false)
            }
            Piece::File(rewrite) => {
                self.ledger.apply(&Event::Rewritten(Box::new(rewrite.event.clone())), now)?;
                self.ledger.state.leave_archive(rewrite.from.serial)?;
                self.recorder.writer.leave(rewrite.from.clone());
                rewrite.to.clone().into_iter().for_each(|file| self.recorder.writer.adopt(file));
                self.recorder.drops = true;
                Ok(true)
            }
        }
    }

    /// Removes what was written for a piece that is not taken over.
    pub fn discard(&self, piece: &Piece) -> Result<(), EngineError> {
        if let Piece::File(rewrite) = piece
            && let Some(file) = &rewrite.to
        {
            file.discard(&**self.recorder.writer.segments())?;
        }
        Ok(())
    }
}

/// True when a visit refers to content that would go.
fn is_overtaken<S: Store>(view: &View<S>, rewrite: &Rewrite) -> Result<bool, EngineError> {
    let contents: HashSet<&[u8; 20]> = rewrite.event.contents.iter().collect();
    for entry in view.visits(rewrite.seen) {
        if entry?.1.digest.is_some_and(|digest| contents.contains(&digest)) {
            return Ok(true);
        }
    }
    Ok(false)
}
