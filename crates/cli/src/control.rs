//! How do verbs work on a data directory that a crawl is working in? Through the crawl.
//!
//! Only one process may have the state open. So a crawl listens on `DIR/control.sock`; a verb that
//! finds the directory in use sends its own command line there, and the crawl runs that verb over
//! what it has committed so far, on a thread of its own. What a verb changes is left to the walk's
//! thread, and the verb ends once that has committed it. Nobody but the user who runs the crawl is
//! let in.
//!
//! An answer is a row of frames: a letter (`o` output, `e` a word to the user, `x` the exit code),
//! the length in four bytes, the bytes.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use clap::Parser;
use evercrawl_engine::live::Inbox;
use evercrawl_state::{CommittedReader, DiskStore};

use crate::args::{Cli, Verb};
use crate::settings::Settings;
use crate::verbs::{self, Opened};
use crate::{exit, print};

const SOCKET: &str = "control.sock";
/// Verbs that are answered at a time.
const MOST_CALLERS: usize = 16;
/// The longest command line.
const MOST_ASKED: u64 = 1 << 20;
/// How long a caller may take to ask, and to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(30);

const OUTPUT: u8 = b'o';
const WORD: u8 = b'e';
const EXIT: u8 = b'x';

/// The open door of a running crawl; shut when dropped.
pub(crate) struct Door(PathBuf);

impl Door {
    /// Begins to answer verbs about the data directory `dir`, which this process holds.
    pub(crate) fn open(
        dir: &Path,
        reading: CommittedReader<DiskStore>,
        settings: Arc<Settings>,
        inbox: Inbox,
    ) -> io::Result<Self> {
        let path = dir.join(SOCKET);
        // What a crawl that was killed left behind: nobody listens there, since we hold the lock.
        let _ = std::fs::remove_file(&path);
        let listener = at_any_depth(dir, |socket| UnixListener::bind(socket))?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let settings = RwLock::new(settings);
        let desk = Arc::new(Desk { dir: dir.to_owned(), reading, settings, inbox });
        std::thread::Builder::new().name("control".into()).spawn(move || desk.answer(&listener))?;
        Ok(Door(path))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// True when a crawl that works in `dir` can be asked.
pub(crate) fn answers(dir: &Path) -> bool {
    at_any_depth(dir, |socket| UnixStream::connect(socket)).is_ok()
}

/// Has the crawl that works in `dir` run this process's own command line, with `more` words
/// after its verb, and passes on what it says. `None` when nobody answers.
pub(crate) fn forward(dir: &Path, more: &[&str]) -> anyhow::Result<Option<u8>> {
    let own = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = own.collect();
    let verb_end = words.len().min(2);
    words.splice(verb_end..verb_end, more.iter().map(|&word| word.to_owned()));
    call(dir, &words, &mut io::stdout().lock())
}

/// Has the crawl that works in `dir` run a command line, and writes what it says to `out`. `None`
/// when nobody answers.
pub(crate) fn call(
    dir: &Path,
    words: &[String],
    out: &mut dyn Write,
) -> anyhow::Result<Option<u8>> {
    let Ok(mut crawl) = at_any_depth(dir, |socket| UnixStream::connect(socket)) else {
        return Ok(None);
    };
    serde_json::to_writer(&mut crawl, words)?;
    crawl.write_all(b"\n")?;
    let mut answer = BufReader::new(crawl);
    while let Some((kind, bytes)) = read_frame(&mut answer)? {
        match (kind, bytes.first()) {
            (EXIT, Some(code)) => return Ok(Some(*code)),
            (WORD, _) => eprintln!("{}", print::complaint(&String::from_utf8_lossy(&bytes))),
            _ => out.write_all(&bytes).and_then(|()| out.flush())?,
        }
    }
    eprintln!("evercrawl: the crawl ended before all was said; ask again");
    Ok(Some(exit::INTERRUPTED))
}

/// What is needed to answer.
struct Desk {
    dir: PathBuf,
    reading: CommittedReader<DiskStore>,
    /// In force: a verb can change them.
    settings: RwLock<Arc<Settings>>,
    inbox: Inbox,
}

impl Desk {
    fn answer(self: Arc<Self>, listener: &UnixListener) {
        for caller in listener.incoming().flatten() {
            let desk = self.clone();
            // The listener and this clone are two; every caller being served holds one more.
            if Arc::strong_count(&self) >= MOST_CALLERS + 2 {
                let _ = refuse(caller, "too many verbs at once; try again in a moment");
                continue;
            }
            // Whoever cannot be served sees the connection end.
            let _ = std::thread::Builder::new().name("verb".into()).spawn(move || {
                let _ = desk.serve(caller);
            });
        }
    }

    fn serve(&self, caller: UnixStream) -> io::Result<()> {
        caller.set_read_timeout(Some(PATIENCE))?;
        caller.set_write_timeout(Some(PATIENCE))?;
        if !is_ourselves(&caller) {
            return refuse(caller, "only the user who runs the crawl may ask it");
        }
        let mut line = String::new();
        BufReader::new(caller.try_clone()?.take(MOST_ASKED)).read_line(&mut line)?;
        let Ok(words) = serde_json::from_str::<Vec<String>>(&line) else {
            return refuse(caller, "the crawl does not understand this version's question");
        };
        let mut out = BufWriter::with_capacity(1 << 14, Framed(&caller));
        let code = match self.run(&words, &mut out) {
            Ok(code) => code,
            Err(error) => {
                out.flush()?;
                write_frame(&caller, WORD, format!("evercrawl: {error:#}").as_bytes())?;
                exit::code_of(&error)
            }
        };
        out.flush()?;
        write_frame(&caller, EXIT, &[code])
    }

    /// What is committed by now.
    fn opened(&self) -> anyhow::Result<Opened> {
        Ok(Opened {
            path: self.dir.clone(),
            state: self.reading.view()?,
            settings: self.settings.read().unwrap_or_else(PoisonError::into_inner).clone(),
            held: None,
        })
    }

    fn run(&self, words: &[String], out: &mut dyn Write) -> anyhow::Result<u8> {
        let verb = Cli::try_parse_from(words)?.verb;
        if let Verb::Changes(args) = verb {
            return verbs::changes::running(&args, || self.opened(), out);
        }
        let opened = self.opened()?;
        match verb {
            Verb::Urls(args) => verbs::urls::show(&args, &opened, out),
            Verb::Why(args) => verbs::why::show(&args, &opened, out),
            Verb::Plan(args) => verbs::plan::show(&args, &opened, out),
            Verb::History(args) => verbs::history::show(&args, &opened, out),
            Verb::Diff(args) => verbs::diff::show(&args, &opened, out),
            Verb::Rank(args) => verbs::rank::show(&args, &opened, out),
            Verb::Spam(args) => verbs::spam::show(&args, &opened, out),
            Verb::Retain(args) => verbs::retain::show(&args, &opened, out),
            Verb::Budget(args) => {
                let changed = verbs::budget::running(&args, &opened, &self.inbox, out)?;
                *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(changed);
                Ok(exit::OK)
            }
            Verb::Push(args) => verbs::push::running(&args, &opened, &self.inbox, out),
            Verb::Override(verb) => verbs::overrides::running(&verb, &opened, &self.inbox, out),
            _ => anyhow::bail!("a running crawl cannot do this; stop it first"),
        }
    }
}

/// True when the same user runs both ends, whatever the directory's permissions are.
fn is_ourselves(caller: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(caller);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn refuse(caller: UnixStream, why: &str) -> io::Result<()> {
    write_frame(&caller, WORD, format!("evercrawl: {why}").as_bytes())?;
    write_frame(&caller, EXIT, &[exit::STORAGE])
}

/// Output as frames.
struct Framed<'a>(&'a UnixStream);

impl Write for Framed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_frame(self.0, OUTPUT, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_frame(mut to: &UnixStream, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let [a, b, c, d] = length.to_be_bytes();
    to.write_all(&[kind, a, b, c, d])?;
    to.write_all(bytes)
}

fn read_frame(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 5];
    match from.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let [kind, a, b, c, d] = head;
    let length = u32::from_be_bytes([a, b, c, d]);
    let mut bytes = Vec::new();
    let got = from.take(length.into()).read_to_end(&mut bytes)?;
    Ok((got == length as usize).then_some((kind, bytes)))
}

/// Names the socket in `dir` through an open directory: the system takes a name of some hundred
/// bytes only, and directories lie deeper than that.
fn at_any_depth<T>(dir: &Path, name: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let open = std::fs::File::open(dir)?;
    name(Path::new(&format!("/proc/self/fd/{}/{SOCKET}", open.as_raw_fd())))
}
