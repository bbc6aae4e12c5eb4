//! Who is served, and within which bounds?

use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use evercrawl_engine::live::Inbox;
use evercrawl_query::{
    Answer, Call, ChangesRequest, Failed, FailureKind, LogRequest, PROTOCOL_VERSION, Request,
};
use evercrawl_state::{CommittedReader, DiskStore};
use serde::Deserialize;

use super::{Posted, SOCKET, StatusBoard, at_any_depth, desk, failed, now};
use crate::settings::Settings;
use crate::verbs::{self, Opened};

/// Callers that are served at a time.
const MOST_CALLERS: usize = 16;
/// The longest request.
const MOST_ASKED: usize = 1 << 20;
/// How long a caller may take to ask, and to take a part of the answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the log is read for more.
const POLL: Duration = Duration::from_millis(500);

/// The open door of a running crawl; shut when dropped.
pub(crate) struct Door(PathBuf);

impl Door {
    /// Begins to answer requests about the data directory `dir`, which this process holds.
    pub(crate) fn open(
        dir: &Path,
        reading: CommittedReader<DiskStore>,
        settings: Arc<Settings>,
        inbox: Inbox,
        board: StatusBoard,
    ) -> io::Result<Self> {
        let path = dir.join(SOCKET);
        // What a crawl that was killed left behind: nobody listens there, since we hold the lock.
        let _ = std::fs::remove_file(&path);
        let listener = at_any_depth(dir, |socket| UnixListener::bind(socket))?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let settings = RwLock::new(settings);
        let service = Service { dir: dir.to_owned(), reading, settings, inbox, board };
        let service = Arc::new(service);
        std::thread::Builder::new()
            .name("control".into())
            .spawn(move || service.listen(&listener))?;
        Ok(Door(path))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What is needed to answer.
struct Service {
    dir: PathBuf,
    reading: CommittedReader<DiskStore>,
    /// In force: a request can change them.
    settings: RwLock<Arc<Settings>>,
    inbox: Inbox,
    board: StatusBoard,
}

impl Service {
    fn listen(self: Arc<Self>, listener: &UnixListener) {
        for caller in listener.incoming().flatten() {
            let service = self.clone();
            // The listener and this clone are two; every caller being served holds one more.
            if Arc::strong_count(&self) >= MOST_CALLERS + 2 {
                let _ = refuse(
                    &caller,
                    FailureKind::Busy,
                    "too many verbs at once; try again in a moment",
                );
                continue;
            }
            // A caller that cannot be served sees the connection end.
            let _ = std::thread::Builder::new().name("verb".into()).spawn(move || {
                let _ = service.serve(&caller);
            });
        }
    }

    fn serve(&self, caller: &UnixStream) -> anyhow::Result<()> {
        caller.set_write_timeout(Some(PATIENCE))?;
        if !is_ourselves(caller) {
            let why = "only the user who runs the crawl may ask it";
            return Ok(refuse(caller, FailureKind::Storage, why)?);
        }
        let request = match read_request(caller) {
            Ok(request) => request,
            Err(why) => return Ok(refuse(caller, FailureKind::Protocol, &why)?),
        };
        let last = match self.answer(request, caller) {
            Ok(()) => Answer::End,
            Err(error) => Answer::Failed(failed(&error)),
        };
        Ok(send(caller, &last)?)
    }

    fn answer(&self, request: Request, caller: &UnixStream) -> anyhow::Result<()> {
        let mut reply = |part: Answer| -> anyhow::Result<()> { Ok(send(caller, &part)?) };
        match request {
            Request::Status => reply(Answer::Status(Box::new(self.posted()?.status.clone()))),
            Request::Metrics => reply(Answer::Metrics(Box::new(self.posted()?.metrics()))),
            Request::Changes(asked) if asked.follow => self.follow(asked, caller),
            Request::Log(asked) if asked.follow => self.follow_log(asked, caller),
            Request::SetBudget(asked) => {
                let (view, changed) = verbs::budget::running(&asked, &self.opened()?, &self.inbox)?;
                *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(changed);
                reply(Answer::Budget(view))
            }
            Request::Push(asked) => {
                let pushed = verbs::push::running(&asked, &self.opened()?, &self.inbox)?;
                reply(Answer::Pushed(pushed))
            }
            Request::Add(asked) => {
                let added = verbs::add::running(&asked, &self.opened()?, &self.inbox)?;
                reply(Answer::Added(added))
            }
            Request::Override(asked) => {
                let view = verbs::overrides::running(&asked, &self.opened()?, &self.inbox)?;
                reply(Answer::Overrides(view))
            }
            read => desk::answer(&self.opened()?, read, now(), &mut reply),
        }
    }

    /// How the run is doing.
    fn posted(&self) -> anyhow::Result<Arc<Posted>> {
        let starting = || anyhow::anyhow!("the crawl is starting; ask again in a moment");
        self.board.last().ok_or_else(starting)
    }

    /// What is committed by now.
    fn opened(&self) -> anyhow::Result<Opened> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner).clone();
        let regions = crate::regions::declared(&settings)?.into();
        let (path, state) = (self.dir.clone(), self.reading.view()?);
        Ok(Opened { path, state, settings, regions, held: None })
    }

    /// The log, and what comes to it, until the caller or the crawl goes away. What is committed is opened anew
    /// each time: a caller that waits must not keep open what the crawl wants to close.
    fn follow(&self, mut asked: ChangesRequest, caller: &UnixStream) -> anyhow::Result<()> {
        let mut left = asked.limit.unwrap_or(u64::MAX);
        caller.set_read_timeout(Some(POLL))?;
        loop {
            asked.limit = Some(left);
            let mut reply = |part: Answer| -> anyhow::Result<()> {
                if let Answer::Changes(part) = &part {
                    left = left.saturating_sub(part.changes.len() as u64);
                }
                Ok(send(caller, &part)?)
            };
            let last = desk::changes(&self.opened()?, asked.clone(), now(), &mut reply)?;
            asked.after = last.or(asked.after);
            if left == 0 || has_left(caller) {
                return Ok(());
            }
        }
    }

    /// The same with what is known of the pages.
    fn follow_log(&self, mut asked: LogRequest, caller: &UnixStream) -> anyhow::Result<()> {
        caller.set_read_timeout(Some(POLL))?;
        let mut reply = |part: Answer| -> anyhow::Result<()> { Ok(send(caller, &part)?) };
        loop {
            desk::log(&self.opened()?, &mut asked, now(), &mut reply)?;
            if asked.limit == Some(0) || has_left(caller) {
                return Ok(());
            }
        }
    }
}

/// Waits a while for more; true when the caller has left meanwhile, or has said more than its request.
fn has_left(mut caller: &UnixStream) -> bool {
    let mut more = [0];
    // Nothing is read where the caller has left, and a byte where it says more.
    let said = caller.read(&mut more).map(|count| count <= more.len());
    said.unwrap_or_else(|error| !is_no_answer_yet(&error))
}

/// True when nothing came in time, and something still may.
fn is_no_answer_yet(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// The version of a call, whatever else is in it.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Reads the request of a caller, which may take so long for it and no longer.
fn read_request(caller: &UnixStream) -> Result<Request, String> {
    let line = read_line(caller)?;
    let garbled =
        |error: serde_json::Error| format!("the crawl does not understand the request: {error}");
    let Version { version } = serde_json::from_slice(&line).map_err(garbled)?;
    if version != PROTOCOL_VERSION {
        return Err(format!(
            "the crawl does not understand version {version} of requests, only version \
             {PROTOCOL_VERSION}; use the same version of Evercrawl for both"
        ));
    }
    let call: Call = serde_json::from_slice(&line).map_err(garbled)?;
    Ok(call.request)
}

fn read_line(mut caller: &UnixStream) -> Result<Vec<u8>, String> {
    let until = now().after(PATIENCE);
    let (mut line, mut piece) = (Vec::new(), [0; 1 << 14]);
    loop {
        let left = until.since(now());
        if left.is_zero() {
            return Err(format!("no whole request came within {} s", PATIENCE.as_secs()));
        }
        let set = caller.set_read_timeout(Some(left));
        let got = set.and_then(|()| caller.read(&mut piece));
        let got = match got {
            Ok(0) => return Err("the request ends before its line does".to_owned()),
            Ok(got) => &piece[..got],
            Err(error) if is_no_answer_yet(&error) => continue,
            Err(error) => return Err(format!("the request cannot be read: {error}")),
        };
        let end = got.iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&got[..end.unwrap_or(got.len())]);
        if line.len() > MOST_ASKED {
            return Err(format!("the request is longer than {MOST_ASKED} bytes"));
        }
        if end.is_some() {
            return Ok(line);
        }
    }
}

/// True when the same user runs both ends, whatever the directory's permissions are.
fn is_ourselves(caller: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(caller);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn refuse(caller: &UnixStream, kind: FailureKind, why: &str) -> io::Result<()> {
    caller.set_write_timeout(Some(PATIENCE))?;
    send(caller, &Answer::Failed(Failed { kind, message: why.to_owned() }))?;
    drain(caller)
}

/// Reads what a caller has sent already: where that is left unread, the caller may not get to see its answer.
fn drain(mut caller: &UnixStream) -> io::Result<()> {
    caller.set_nonblocking(true)?;
    let mut piece = [0; 1 << 14];
    for _ in 0..2 * MOST_ASKED / piece.len() {
        match caller.read(&mut piece) {
            Ok(1..) => {}
            Ok(0) | Err(_) => break,
        }
    }
    Ok(())
}

/// Sends a part of an answer; waits where the caller does not take it.
fn send(mut caller: &UnixStream, part: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(part)?;
    line.push(b'\n');
    caller.write_all(&line)
}
