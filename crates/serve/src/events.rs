//! How does a page hear of what is new without asking again and again?
//!
//! One thread asks each collection that somebody listens to once a second, whatever the number of listeners, and sends
//! them what is new as server-sent events. The number of an entry of the log is the event's id, so a listener that comes
//! back with `Last-Event-ID` misses nothing. Who does not take what is sent is told that it lags, and goes on from now.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_httpd::{StreamBody, StreamEnd, StreamSender, stream};
use evercrawl_model::Time;
use evercrawl_query::{Answer, At, ChangeView, ChangesRequest, Request};

use crate::collections::{Collections, Flow, RunState};

/// Listeners at a time.
pub(crate) const MOST_STREAMS: usize = 32;
/// How often collections are asked.
const EVERY: Duration = Duration::from_secs(1);
/// A connection on which nothing happens is shown to live.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// Whoever missed more entries than these should load the page again.
const MOST_MISSED: u64 = 10_000;
/// Parts of the log that are read at a time.
const MOST_PARTS: usize = 4;

/// Whoever sends events.
pub(crate) struct EventHub {
    shared: Arc<Shared>,
}

struct Shared {
    collections: Arc<dyn Collections>,
    listeners: Mutex<HashMap<String, Vec<Listener>>>,
    count: AtomicUsize,
    /// Dropped to end the thread.
    open: Mutex<Option<mpsc::Sender<()>>>,
}

struct Listener {
    sender: StreamSender,
    /// The last entry that was sent; `None` before the present end of the log is known.
    after: Option<u64>,
    last_sent: Time,
    /// The status that was sent last.
    status: String,
    lags: bool,
}

impl EventHub {
    /// Begins to listen for those who will.
    pub(crate) fn new(collections: Arc<dyn Collections>) -> Self {
        let (open, closed) = mpsc::channel();
        let shared = Arc::new(Shared {
            collections,
            listeners: Mutex::default(),
            count: AtomicUsize::new(0),
            open: Mutex::new(Some(open)),
        });
        let teller = shared.clone();
        // Where no thread can be had, streams stay silent, and pages are as they were loaded.
        let _ = std::thread::Builder::new().name("events".into()).spawn(move || {
            while closed.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                teller.tell_all(SystemClock.now());
            }
            teller.listeners().clear();
        });
        EventHub { shared }
    }

    /// Lets somebody listen to a collection from after an entry of the log, or from now; `None` where too many do.
    pub(crate) fn listen(&self, name: &str, after: Option<u64>) -> Option<StreamBody> {
        let shared = &self.shared;
        let mut listeners = shared.listeners();
        if shared.count.load(Ordering::Relaxed) >= MOST_STREAMS {
            shared.forget_those_who_left(&mut listeners);
        }
        if shared.count.load(Ordering::Relaxed) >= MOST_STREAMS {
            return None;
        }
        let (sender, body) = stream();
        // Told at once how long to wait before coming back.
        let _ = sender.try_send("retry: 3000\n\n");
        let (last_sent, status) = (SystemClock.now(), String::new());
        let listener = Listener { sender, after, last_sent, status, lags: false };
        listeners.entry(name.to_owned()).or_default().push(listener);
        shared.count.fetch_add(1, Ordering::Relaxed);
        Some(body)
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        drop(self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.shared.listeners().clear();
    }
}

impl Drop for EventHub {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn listeners(&self) -> MutexGuard<'_, HashMap<String, Vec<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_those_who_left(&self, listeners: &mut HashMap<String, Vec<Listener>>) {
        listeners.values_mut().for_each(|some| some.retain(|one| !one.sender.is_closed()));
        listeners.retain(|_, some| !some.is_empty());
        self.count.store(listeners.values().map(Vec::len).sum(), Ordering::Relaxed);
    }

    fn tell_all(&self, now: Time) {
        let names: Vec<(String, Option<u64>, bool)> = {
            let mut listeners = self.listeners();
            self.forget_those_who_left(&mut listeners);
            let wanted = |some: &Vec<Listener>| {
                let known = some.iter().filter_map(|one| one.after).min();
                (known, some.iter().any(|one| one.after.is_none()))
            };
            let each = listeners.iter().map(|(name, some)| (name, wanted(some)));
            each.map(|(name, (after, is_new))| (name.clone(), after, is_new)).collect()
        };
        if names.is_empty() {
            return;
        }
        let states = self.collections.list();
        for (name, after, is_new) in names {
            let state = states.iter().find(|one| one.name == name).map(|one| one.state);
            // Nothing is asked while nobody crawls: the directory would have to be opened.
            let is_running = state == Some(RunState::Running);
            let news = News {
                status: is_running.then(|| self.status(&name)).flatten(),
                end: (is_running && is_new).then(|| self.end(&name, now)).flatten(),
                changes: after.filter(|_| is_running).map(|after| self.changes(&name, after)),
            };
            let mut listeners = self.listeners();
            for one in listeners.get_mut(&name).into_iter().flatten() {
                one.tell(&news, now);
            }
        }
    }

    fn status(&self, name: &str) -> Option<String> {
        let mut found = None;
        let _ = self.collections.ask(name, Request::Status, &mut |answer| {
            if let Answer::Status(status) = answer {
                found = serde_json::to_string(&status).ok();
            }
            Flow::Enough
        });
        found
    }

    /// The number of the last entry of the log.
    fn end(&self, name: &str, now: Time) -> Option<u64> {
        let asked = ChangesRequest { since: Some(At(now)), ..Default::default() };
        let mut last = None;
        let _ = self.collections.ask(name, Request::Changes(asked), &mut |answer| {
            if let Answer::Changes(part) = answer {
                last = part.last;
            }
            Flow::More
        });
        // Nothing is sent where there is nothing.
        last.or(Some(0))
    }

    /// Some entries after one, and the last that was looked at.
    fn changes(&self, name: &str, after: u64) -> (Vec<ChangeView>, u64) {
        let asked = ChangesRequest { after: Some(after), ..Default::default() };
        let (mut found, mut last, mut parts) = (Vec::new(), after, 0);
        let _ = self.collections.ask(name, Request::Changes(asked), &mut |answer| {
            if let Answer::Changes(part) = answer {
                found.extend(part.changes);
                last = part.last.unwrap_or(last);
            }
            parts += 1;
            if parts < MOST_PARTS { Flow::More } else { Flow::Enough }
        });
        (found, last)
    }
}

/// What one look at a collection brought.
struct News {
    status: Option<String>,
    end: Option<u64>,
    changes: Option<(Vec<ChangeView>, u64)>,
}

impl Listener {
    fn tell(&mut self, news: &News, now: Time) {
        let mut text = String::new();
        if self.lags {
            text += "event: lagged\ndata: {}\n\n";
        }
        if let Some(status) = news.status.as_ref().filter(|status| **status != self.status) {
            let _ = write!(text, "event: status\ndata: {status}\n\n");
        }
        let after = self.add_changes(news, &mut text);
        if text.is_empty() && now.since(self.last_sent) >= COMMENT_EVERY {
            text += ":\n\n";
        }
        if text.is_empty() {
            self.after = after;
            return;
        }
        match self.sender.try_send(text) {
            Ok(()) => {
                (self.after, self.last_sent, self.lags) = (after, now, false);
                self.status = news.status.clone().unwrap_or_default();
            }
            // It is told so once there is room, and goes on from then.
            Err(StreamEnd::Full) => (self.after, self.lags) = (None, true),
            // It is forgotten with the next look.
            Err(StreamEnd::Gone) => {}
        }
    }

    /// Adds the entries that this listener has not got; returns the last one it then has.
    fn add_changes(&self, news: &News, text: &mut String) -> Option<u64> {
        let Some(after) = self.after else { return news.end };
        let Some((changes, last)) = &news.changes else { return Some(after) };
        if last.saturating_sub(after) > MOST_MISSED {
            *text += "event: lagged\ndata: {}\n\n";
            return None;
        }
        for change in changes.iter().filter(|change| change.number > after) {
            let data = serde_json::to_string(change).unwrap_or_default();
            let _ = write!(text, "id: {}\nevent: change\ndata: {data}\n\n", change.number);
        }
        Some(after.max(*last))
    }
}
