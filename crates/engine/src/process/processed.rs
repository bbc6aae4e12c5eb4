//! What came of a page that was asked for?

use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_fetch::Fetched;
use evercrawl_model::{Change, Outcome, Refusal, Time, Visited};

use super::answer::is_guess;
use crate::frontier::Lease;
use crate::links::FoundLinks;
use crate::recent::{Digest, Holder};
use evercrawl_compare::Soft404Profile;

/// A page that was asked for, with what came.
#[derive(Debug)]
pub struct Job {
    /// What was asked for.
    pub lease: Box<Lease>,
    /// What came.
    pub fetched: Fetched,
    /// When the request was sent.
    pub asked: Time,
    /// When the answer was complete.
    pub ended: Time,
}

/// What is known of an answer without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// How it ended.
    pub outcome: Outcome,
    /// The HTTP status; 0 where no answer came.
    pub status: u16,
    /// What identifies its content, and whether that is the SHA-1 of the payload.
    pub content: Option<([u8; 20], bool)>,
    /// Bytes of the content.
    pub bytes: u64,
}

/// What an answer means.
pub struct Processed {
    /// The visit, but for where its record lies.
    pub visited: Box<Visited>,
    /// What to record of it, if anything.
    pub plan: Option<RecordPlan>,
    /// Its records, made for the archive file that was current then.
    pub records: Option<archive::Encoded>,
    /// Why the page is not to be fetched again as things are, and when to look again.
    pub verdict: Option<(Refusal, Option<Time>)>,
    /// Content that this visit claimed to store.
    pub claim: Option<Digest>,
    /// Where it found_links.
    pub links: FoundLinks,
    /// How much it is about what the user looks for, from 0 to 1.
    pub topic_likeness: f64,
    /// How many words its text has.
    pub words: u32,
    /// True when it cannot be told whether this is the page itself before its host was asked for
    /// something that cannot exist.
    pub is_in_doubt: bool,
    /// True when others asked: that says nothing of when the host may be asked by us.
    pub is_imported: bool,
    /// How the host answers for what does not exist, where that was asked.
    pub soft_404_profile: Option<Soft404Profile>,
    /// True when the host, not the page, was the trouble.
    pub host_trouble: bool,
    /// How long a pause the host asked for.
    pub asked_pause: Option<Duration>,
    /// For how long a core was busy reading it.
    pub reading: Duration,
    /// What was asked and came, in case the records must be made again.
    pub job: Job,
}

impl Processed {
    /// True when a list was looked for where lists usually are, and there is none.
    pub(crate) fn is_empty_guess(&self) -> bool {
        is_guess(&self.job.lease.row) && self.visited.visit.change == Change::Gone
    }

    /// True when there is something at an address, and nothing that was known before.
    pub(super) fn led_somewhere(&self) -> bool {
        let visit = &self.visited.visit;
        let is_copy = visit.near.is_some() || self.held_by().is_some_and(|h| h.page != visit.page);
        matches!(visit.outcome, Outcome::Ok | Outcome::Redirect) && !is_copy
    }

    /// True when the page changed to what it had been before.
    pub(crate) fn went_back(&self) -> bool {
        let visit = &self.visited.visit;
        let holder = self.plan.as_ref().and_then(|plan| plan.holder.as_ref());
        let changed = matches!(visit.change, Change::Changed | Change::Near);
        changed && holder.is_some_and(|holder| holder.page == visit.page)
    }

    /// Who had its content before.
    pub(crate) fn held_by(&self) -> Option<&Holder> {
        self.plan.as_ref()?.holder.as_ref()
    }

    /// The content whose record, of another visit, this one refers to.
    pub(crate) fn refers_to(&self) -> Option<Digest> {
        self.plan.as_ref().filter(|plan| plan.holder.is_some()).map(|plan| plan.digest)
    }

    /// Lets its record refer to `holder`, or hold the content itself; true when that is
    /// otherwise than it was.
    pub(crate) fn refer_to(&mut self, holder: Option<Holder>) -> bool {
        let Some(plan) = &mut self.plan else { return false };
        let before = std::mem::replace(&mut plan.holder, holder);
        self.visited.first_of_digest = plan.holder.is_none();
        before != plan.holder
    }

    /// This visit, as the one that holds its content.
    pub(crate) fn holder(&self) -> Holder {
        let lease = &self.job.lease;
        Holder { page: lease.page, url: lease.row.url.clone(), at: self.job.asked }
    }
}

/// What a record says, so that it can be made again for another file.
#[derive(Debug)]
pub struct RecordPlan {
    pub(super) digest: Digest,
    /// The record that holds the content already.
    pub(super) holder: Option<Holder>,
    pub(super) media_type: Option<&'static str>,
}
