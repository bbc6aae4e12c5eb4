//! How are commands sent to the browser, and who receives its events?
//!
//! Messages of the DevTools protocol are JSON and end with a zero byte. Each belongs to a session: a tab, or a worker
//! or frame of it. Events of sessions that nobody listens to are dropped; requests of such sessions are refused.

use std::collections::HashMap;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use crate::error::RenderError;

/// The longest message that is read; a longer one ends the browser.
const MOST_MESSAGE: usize = 96 << 20;

/// The events that somebody listens to. A page can cause any number of others.
const EVENTS: [&str; 8] = [
    "Fetch.requestPaused",
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Emulation.virtualTimeBudgetExpired",
    "Page.frameNavigated",
    "Page.frameAttached",
    "Page.javascriptDialogOpening",
    "Inspector.targetCrashed",
];

/// What happened in a session.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// The pipe to a browser. Copies share it.
#[derive(Clone, Debug)]
pub(crate) struct Connection(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    is_gone: AtomicBool,
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
    listeners: Mutex<HashMap<String, mpsc::UnboundedSender<Event>>>,
}

impl Connection {
    /// Takes over our end of the pipe.
    pub(crate) fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let (reading, writing) = UnixStream::from_std(stream)?.into_split();
        let (outgoing, queue) = mpsc::unbounded_channel();
        let connection = Connection(Arc::new(Shared {
            next: AtomicU64::new(1),
            is_gone: AtomicBool::new(false),
            outgoing,
            waiting: Mutex::default(),
            listeners: Mutex::default(),
        }));
        tokio::spawn(write_all(writing, queue));
        tokio::spawn(read_all(reading, connection.clone()));
        Ok(connection)
    }

    /// Whether the browser has closed the pipe.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.is_gone.load(Ordering::Relaxed)
    }

    /// Sends the events of `session` to `listener`.
    pub(crate) fn listen(&self, session: &str, listener: mpsc::UnboundedSender<Event>) {
        lock(&self.0.listeners).insert(session.to_owned(), listener);
    }

    /// Forgets the listener of a session.
    pub(crate) fn stop_listening(&self, session: &str) {
        lock(&self.0.listeners).remove(session);
    }

    /// Sends a command whose answer nobody needs.
    pub(crate) fn send(&self, session: &str, method: &'static str, params: Value) {
        self.write(0, session, method, params);
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn call(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
    ) -> Result<Value, RenderError> {
        let (sender, answer) = oneshot::channel();
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.waiting).insert(id, sender);
        let _forgotten = Forget { connection: self, id };
        if self.is_gone() {
            return Err(RenderError::Gone);
        }
        self.write(id, session, method, params);
        let answer = answer.await.map_err(|_| RenderError::Gone)?;
        answer.map_err(|message| RenderError::Refused { method, message })
    }

    fn write(&self, id: u64, session: &str, method: &str, params: Value) {
        let id = if id == 0 { self.0.next.fetch_add(1, Ordering::Relaxed) } else { id };
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        // Where this fails the browser is gone, and whoever waits is told so.
        let _ = self.0.outgoing.send(bytes);
    }

    /// Hands a message to whom it is for.
    fn deliver(&self, bytes: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(bytes) else { return };
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            if let Some(waiting) = lock(&self.0.waiting).remove(&id) {
                let error = message.get("error").map(|error| error["message"].to_string());
                let _ = waiting.send(match error {
                    Some(message) => Err(message),
                    None => Ok(message["result"].take()),
                });
            }
            return;
        }
        let Some(method) = message.get("method").and_then(Value::as_str) else { return };
        if EVENTS.contains(&method) {
            let method = method.to_owned();
            let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
            self.tell(Event { session, method, params: message["params"].take() });
        }
    }

    fn tell(&self, event: Event) {
        let listener = lock(&self.0.listeners).get(&event.session).cloned();
        let unheard = match listener {
            Some(listener) => listener.send(event).err().map(|unsent| unsent.0),
            None => Some(event),
        };
        if let Some(event) = unheard.filter(|event| event.method == "Fetch.requestPaused") {
            let params =
                json!({ "requestId": event.params["requestId"], "errorReason": "Aborted" });
            self.send(&event.session, "Fetch.failRequest", params);
        }
    }

    /// Tells all who wait that nothing will come.
    fn end(&self) {
        self.0.is_gone.store(true, Ordering::Relaxed);
        lock(&self.0.waiting).clear();
        lock(&self.0.listeners).clear();
    }
}

/// An answer that nobody waits for any more is not kept a place for.
struct Forget<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        lock(&self.connection.0.waiting).remove(&self.id);
    }
}

async fn write_all(mut stream: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read_all(mut stream: OwnedReadHalf, connection: Connection) {
    let mut held = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let count = match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let mut rest = &piece[..count];
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            held.extend_from_slice(&rest[..end]);
            connection.deliver(&held);
            held.clear();
            rest = &rest[end + 1..];
        }
        held.extend_from_slice(rest);
        if held.len() > MOST_MESSAGE {
            break;
        }
    }
    connection.end();
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
