//! How do threads hand things to each other? Through queues whose receivers sleep at once, and are
//! woken when it is worth it.
//!
//! Where every core reads pages, a receiver that spins before it sleeps takes time from them, and one
//! that is woken for each item switches between threads as often as there are items. A sender that
//! has more to do can [`leave`](Sender::leave) an item: it is taken with those that follow.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Items that are left wake their receiver when so many wait.
const WORTH_WAKING: usize = 8;

/// Another receiver is woken when so many wait for those that are awake.
const CROWD: usize = 3;

/// A queue without a bound: where items are put, and where they are taken.
pub(super) fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let inner = Inner {
        front: VecDeque::new(),
        behind: VecDeque::new(),
        senders: 1,
        receivers: 1,
        sleeping: 0,
        roused: 0,
        occupied: 0,
    };
    let shared = Arc::new(Shared { inner: Mutex::new(inner), came: Condvar::new() });
    (
        Sender(shared.clone()),
        Receiver { shared, takes_behind: true, is_occupied: AtomicBool::new(false) },
    )
}

/// Nobody takes items any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disconnected;

/// Why there is no item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecvError {
    /// None came in time.
    Yet,
    /// Nobody is left who could send one.
    ForGood,
}

#[derive(Debug)]
struct Shared<T> {
    inner: Mutex<Inner<T>>,
    came: Condvar,
}

#[derive(Debug)]
struct Inner<T> {
    front: VecDeque<T>,
    /// What is taken only where nothing is in front.
    behind: VecDeque<T>,
    senders: usize,
    receivers: usize,
    /// Receivers that sleep, and that nobody has roused yet.
    sleeping: usize,
    /// Those that were roused, and have not got up yet.
    roused: usize,
    /// Those that took something from behind, which may take long.
    occupied: usize,
}

impl<T> Inner<T> {
    /// Whether items would wait too long for those that are awake.
    fn is_crowded(&self) -> bool {
        self.sleeping + self.occupied >= self.receivers || self.front.len() >= CROWD
    }

    /// Counts `many` sleepers as roused: until they are up, nobody need rouse others in their stead.
    fn rouse(&mut self, many: usize) {
        self.sleeping -= many;
        self.roused += many;
    }

    /// Counts one who is up again, roused or not.
    fn get_up(&mut self) {
        *(if self.roused > 0 { &mut self.roused } else { &mut self.sleeping }) -= 1;
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item where `put` says, unless nobody is left to take it; wakes a sleeper where `is_worth` says so.
    fn put(
        &self,
        put: impl FnOnce(&mut Inner<T>),
        is_worth: impl FnOnce(&Inner<T>) -> bool,
    ) -> Result<(), Disconnected> {
        let mut inner = self.lock();
        if inner.receivers == 0 {
            return Err(Disconnected);
        }
        put(&mut inner);
        self.wake_one(inner, is_worth);
        Ok(())
    }

    /// Wakes a sleeper, if there is one and it is worth it: to wake nobody is a call to the system too.
    fn wake_one(
        &self,
        mut inner: MutexGuard<'_, Inner<T>>,
        is_worth: impl FnOnce(&Inner<T>) -> bool,
    ) {
        let wakes = inner.sleeping > 0 && is_worth(&inner);
        if wakes {
            inner.rouse(1);
        }
        // Whoever wakes finds the queue unlocked.
        drop(inner);
        if wakes {
            self.came.notify_one();
        }
    }

    fn wake_all(&self, mut inner: MutexGuard<'_, Inner<T>>) {
        let all = inner.sleeping;
        inner.rouse(all);
        drop(inner);
        self.came.notify_all();
    }
}

/// Where items are put.
#[derive(Debug)]
pub(super) struct Sender<T>(Arc<Shared<T>>);

impl<T> Sender<T> {
    /// Hands an item on, and wakes somebody who waits for one; as long as few wait, not where somebody else is
    /// awake and will take it.
    pub(super) fn send(&self, item: T) -> Result<(), Disconnected> {
        self.0.put(|inner| inner.front.push_back(item), Inner::is_crowded)
    }

    /// Hands on an item that must not let others wait: those that come later are taken before it.
    pub(super) fn send_behind(&self, item: T) -> Result<(), Disconnected> {
        self.0.put(|inner| inner.behind.push_back(item), |_| false)?;
        // Not every thread takes it: one that does must be among those woken.
        self.0.wake_all(self.0.lock());
        Ok(())
    }

    /// Leaves an item for the thread that takes the next ones. Until many wait, a sleeping thread
    /// is not woken: call [`wake`](Self::wake) before doing nothing for long.
    pub(super) fn leave(&self, item: T) -> Result<(), Disconnected> {
        let many = |inner: &Inner<T>| inner.front.len() >= WORTH_WAKING;
        self.0.put(|inner| inner.front.push_back(item), many)
    }

    /// Wakes somebody for what was left, if anything was.
    pub(super) fn wake(&self) {
        self.0.wake_one(self.0.lock(), |inner| !inner.front.is_empty());
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.senders -= 1;
        if inner.senders == 0 {
            self.0.wake_all(inner);
        }
    }
}

/// Where items are taken.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    shared: Arc<Shared<T>>,
    takes_behind: bool,
    /// Whether what it took last came from behind.
    is_occupied: AtomicBool,
}

impl<T> Drop for Receiver<T> {
    /// Nothing can be sent once the last of them is gone.
    fn drop(&mut self) {
        let mut inner = self.back();
        inner.receivers -= 1;
        if inner.receivers == 0 {
            let untaken = (std::mem::take(&mut inner.front), std::mem::take(&mut inner.behind));
            drop(inner);
            // With them goes what they hold: somebody may wait for an answer to one, and hears so that none comes.
            drop(untaken);
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.another(self.takes_behind)
    }
}

impl<T> Receiver<T> {
    /// Another receiver of the same queue; one that takes nothing from behind never lets what comes
    /// in front wait for it.
    pub(super) fn another(&self, takes_behind: bool) -> Self {
        self.shared.lock().receivers += 1;
        Receiver { shared: self.shared.clone(), takes_behind, is_occupied: AtomicBool::new(false) }
    }

    /// The queue, for one who is done with what it took.
    fn back(&self) -> MutexGuard<'_, Inner<T>> {
        let mut inner = self.shared.lock();
        inner.occupied -= usize::from(self.is_occupied.swap(false, Ordering::Relaxed));
        inner
    }

    /// What is in front, if anything is.
    pub(super) fn try_recv(&self) -> Option<T> {
        self.back().front.pop_front()
    }

    /// The next item; `None` when nobody is left who could send one.
    pub(super) fn recv(&self) -> Option<T> {
        let mut inner = self.back();
        loop {
            if let Some(item) = self.take(&mut inner) {
                return Some(item);
            }
            if inner.senders == 0 {
                return None;
            }
            inner.sleeping += 1;
            inner = self.shared.came.wait(inner).unwrap_or_else(PoisonError::into_inner);
            inner.get_up();
        }
    }

    /// The next item, unless none comes within `patience`.
    pub(super) fn recv_timeout(&self, patience: Duration) -> Result<T, RecvError> {
        let mut inner = self.back();
        if inner.front.is_empty() && inner.senders > 0 {
            inner.sleeping += 1;
            let slept = self.shared.came.wait_timeout(inner, patience);
            inner = slept.unwrap_or_else(PoisonError::into_inner).0;
            inner.get_up();
        }
        let silence = if inner.senders == 0 { RecvError::ForGood } else { RecvError::Yet };
        self.take(&mut inner).ok_or(silence)
    }

    fn take(&self, inner: &mut Inner<T>) -> Option<T> {
        if !inner.front.is_empty() || !self.takes_behind {
            return inner.front.pop_front();
        }
        let item = inner.behind.pop_front()?;
        self.is_occupied.store(true, Ordering::Relaxed);
        inner.occupied += 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_is_sent_comes_in_order_and_then_the_end() {
        let (sender, receiver) = queue();
        (0..3).for_each(|n| sender.send(n).unwrap());
        drop(sender.clone());
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(0));
        assert_eq!(receiver.try_recv(), Some(1));
        assert_eq!(receiver.recv(), Some(2));
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvError::Yet));
        drop(sender);
        assert_eq!(receiver.recv(), None);
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvError::ForGood));
    }

    #[test]
    fn what_goes_behind_comes_last_and_not_to_all() {
        let (sender, receiver) = queue();
        let front_only = receiver.another(false);
        sender.send_behind("large").unwrap();
        sender.send("small").unwrap();
        assert_eq!(receiver.try_recv(), Some("small"));
        assert_eq!(receiver.try_recv(), None, "who only looks does not take it");
        assert_eq!(front_only.recv_timeout(Duration::ZERO), Err(RecvError::Yet));
        assert_eq!(receiver.recv(), Some("large"));
        drop((receiver, front_only));
        assert_eq!(sender.send("late"), Err(Disconnected));
    }

    #[test]
    fn a_caller_whose_item_nobody_took_learns_of_the_end() {
        let (sender, receiver) = queue();
        let ((in_front, first), (behind, second)) = (queue::<()>(), queue::<()>());
        sender.send(in_front).unwrap();
        sender.send_behind(behind).unwrap();
        drop(receiver);
        assert_eq!((first.recv(), second.recv()), (None, None));
        assert!(sender.send(queue().0).is_err());
    }

    #[test]
    fn what_is_left_wakes_nobody_before_many_wait_or_it_is_asked_for() {
        for is_asked in [false, true] {
            let (sender, receiver) = queue();
            let taker = std::thread::spawn(move || {
                let first = receiver.recv();
                (first, std::iter::from_fn(|| receiver.try_recv()).count())
            });
            while sender.0.lock().sleeping == 0 {
                std::thread::yield_now();
            }
            let many = if is_asked { 3 } else { WORTH_WAKING };
            (0..many - 1).for_each(|n| sender.leave(n).unwrap());
            assert_eq!(sender.0.lock().sleeping, 1);
            sender.leave(many - 1).unwrap();
            if is_asked {
                sender.wake();
            }
            assert_eq!(taker.join().unwrap(), (Some(0), many - 1));
        }
    }

    #[test]
    fn another_wakes_where_nobody_is_awake_or_many_wait() {
        let (sender, receiver) = queue();
        let taker = receiver.clone();
        let taker = std::thread::spawn(move || taker.recv());
        while sender.0.lock().sleeping == 0 {
            std::thread::yield_now();
        }
        // Whoever has the other receiver is awake.
        (1..CROWD).for_each(|n| sender.send(n).unwrap());
        assert_eq!(sender.0.lock().sleeping, 1);
        sender.send(CROWD).unwrap();
        assert_eq!(taker.join().unwrap(), Some(1));
        // Both sleep: the first item wakes one of them, and the next waits for it.
        let takers = [receiver.clone(), receiver].map(|taker| {
            std::iter::from_fn(|| taker.try_recv()).for_each(drop);
            std::thread::spawn(move || taker.recv())
        });
        while sender.0.lock().sleeping < 2 {
            std::thread::yield_now();
        }
        sender.send(7).unwrap();
        assert_eq!(sender.0.lock().sleeping, 1);
        drop(sender);
        let taken = takers.map(|taker| taker.join().unwrap());
        assert!(taken == [Some(7), None] || taken == [None, Some(7)], "{taken:?}");
    }

    #[test]
    fn nothing_waits_for_one_who_took_from_behind() {
        let (sender, receiver) = queue();
        let taker = receiver.another(false);
        let taker = std::thread::spawn(move || taker.recv());
        sender.send_behind("large").unwrap();
        assert_eq!(receiver.recv(), Some("large"));
        while sender.0.lock().sleeping == 0 {
            std::thread::yield_now();
        }
        sender.send("small").unwrap();
        assert_eq!(taker.join().unwrap(), Some("small"));
        assert_eq!(receiver.try_recv(), None);
        assert_eq!(sender.0.lock().occupied, 0);
    }

    #[test]
    fn a_sleeper_is_woken_by_items_it_takes_and_by_the_end() {
        let (sender, receiver) = queue();
        let takers = [true, false].map(|behind| {
            let receiver = receiver.another(behind);
            std::thread::spawn(move || receiver.recv())
        });
        while sender.0.lock().sleeping < 2 {
            std::thread::yield_now();
        }
        sender.send_behind(1).unwrap();
        let [both, front_only] = takers;
        assert_eq!(both.join().unwrap(), Some(1));
        drop(sender);
        assert_eq!(front_only.join().unwrap(), None);
    }
}
