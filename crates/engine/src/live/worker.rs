//! Who reads pages and writes commits? Threads of their own, away from the sockets.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use evercrawl_state::Store;

use super::handover::Receiver;
use super::walk_port::WalkPort;
use super::{Report, SystemClock};
use crate::EngineError;
use crate::process::Job;
use crate::walk::Commit;

/// A page that came, and the walk that asked for it.
pub(super) type WalkJob<S> = (Arc<WalkPort<S>>, Job);

/// Changes to be made durable, and the walk that made them.
pub(super) type WalkCommit<S> = (Arc<WalkPort<S>>, Commit<S>);

/// Reads pages, away from the sockets.
pub(super) struct Worker<S> {
    /// Large pages are behind the others, and some workers do not take them, so that small ones never
    /// wait for them.
    jobs: Receiver<WalkJob<S>>,
    busy: Busy,
    /// The walk whose page was read last, which may not know it yet.
    served: Option<Arc<WalkPort<S>>>,
}

impl<S: Store> Worker<S> {
    /// So many workers, one for each thread.
    pub(super) fn crew(count: usize, jobs: &Receiver<WalkJob<S>>) -> Vec<Self> {
        let worker =
            |n| Worker { jobs: jobs.another(2 * n < count), busy: Busy::default(), served: None };
        (0..count).map(worker).collect()
    }

    /// Reads pages until no more can come.
    pub(super) fn run(mut self) {
        while let Some((walk, job)) = self.next_job() {
            let busy = &mut self.busy;
            let read = catch_unwind(AssertUnwindSafe(|| walk.read(job, busy)));
            // A fault that one walk's page brings to light ends that walk, and no other.
            read.unwrap_or_else(|_| walk.fail("a worker"));
            if !self.served.as_ref().is_some_and(|served| Arc::ptr_eq(served, &walk)) {
                self.report();
                self.served = Some(walk);
            }
        }
    }

    /// The next page to read, small ones first; `None` when no more can come. Whoever would have to
    /// wait for one, or begins with a large one, first lets the walk know what was done.
    fn next_job(&mut self) -> Option<WalkJob<S>> {
        self.jobs.try_recv().or_else(|| {
            self.report();
            self.jobs.recv()
        })
    }

    /// Lets the walk that was served last know what was done for it.
    fn report(&mut self) {
        self.served.take().iter().for_each(|walk| walk.reports().wake());
    }
}

/// For how long do pages keep a core busy?
#[derive(Default)]
pub(super) struct Busy {
    /// For how long the thread had had a core when that was last asked for: a call to the system, which is
    /// saved where a page took no time to speak of.
    asked: Duration,
    /// What was told of pages since.
    told: Duration,
}

/// A page that was read within this time did not keep a core from others.
const SOON_READ: Duration = Duration::from_millis(5);

impl Busy {
    /// The time of a core that a page took which was read while so much `passed`.
    pub(super) fn with_page(
        &mut self,
        passed: Duration,
        thread_time: impl FnOnce() -> Duration,
    ) -> Duration {
        if passed < SOON_READ {
            self.told += passed;
            return passed;
        }
        let now = thread_time();
        let took = now.saturating_sub(self.asked).saturating_sub(self.told);
        *self = Busy { asked: now, told: Duration::ZERO };
        // The thread may have done other work besides.
        took.min(passed)
    }
}

/// Makes commits durable, one after another. Cookies come first: what a page showed may depend on them.
pub(super) fn commit_all<S: Store>(commits: &Receiver<WalkCommit<S>>) {
    while let Some((walk, commit)) = commits.recv() {
        let began = SystemClock.passed();
        let run = || walk.save_cookies().and_then(|()| commit.run());
        let report = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(done)) => {
                commit.observe(SystemClock.passed().saturating_sub(began), SystemClock.now());
                Report::Committed(done)
            }
            Ok(Err(error)) => Report::Uncommitted(error),
            Err(_) => Report::Uncommitted(EngineError::Broken("the committer")),
        };
        // A walk that does not hear of it is over.
        let _ = walk.reports().send(report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_that_takes_long_is_measured_by_the_core() {
        let ms = Duration::from_millis;
        let mut busy = Busy { asked: ms(100), told: ms(0) };
        let unasked = || unreachable!("short pages take no call");
        assert_eq!(busy.with_page(ms(1), unasked), ms(1));
        assert_eq!(busy.with_page(ms(2), unasked), ms(2));
        // It had to wait for a core for most of the time.
        assert_eq!(busy.with_page(ms(500), || ms(143)), ms(40));
        assert_eq!(busy.with_page(ms(90), || ms(223)), ms(80));
        // What was told of short pages was more than they took.
        assert_eq!(busy.with_page(ms(4), unasked), ms(4));
        assert_eq!(busy.with_page(ms(6), || ms(226)), ms(0));
    }
}
