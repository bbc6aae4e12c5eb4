//! Who may ask what? Tokens and sessions, of which only digests are kept.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use evercrawl_engine::live::SystemClock;
use evercrawl_httpd::Head;
use evercrawl_model::Time;
use evercrawl_query::At;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

/// What a token may be used for. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Look at everything but tokens.
    Read,
    /// Steer crawls.
    Write,
    /// Make and remove collections and tokens.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Scope; 3] = [Scope::Read, Scope::Write, Scope::Admin];

    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Admin => "admin",
        }
    }

    /// The scope with this code.
    pub fn named(code: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.code() == code)
    }
}

/// How long a session lasts that nobody ends.
const SESSION: Duration = Duration::from_secs(30 * 86_400);
/// Sessions and tokens that are kept.
const MOST_SESSIONS: usize = 100;
const MOST_TOKENS: usize = 1_000;
/// Wrong tokens at once, and how many more each second.
const WRONG_AT_ONCE: f64 = 20.0;
const WRONG_A_SECOND: f64 = 0.5;

/// A token as users list it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenView {
    /// Its number, by which it is removed.
    pub id: u64,
    /// What the user calls it.
    pub name: String,
    /// `read`, `write` or `admin`.
    pub scope: String,
    /// When it was made.
    pub created: At,
}

/// A token as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptToken {
    #[serde(flatten)]
    view: TokenView,
    sha256: String,
}

/// A session as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptSession {
    sha256: String,
    scope: String,
    until: At,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    tokens: Vec<KeptToken>,
    #[serde(default)]
    sessions: Vec<KeptSession>,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Nothing was shown.
    Nothing,
    /// It does not hold.
    Wrong,
    /// It does not hold, and too many did not lately.
    TooMany,
}

/// Somebody who is let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// For what.
    pub scope: Scope,
    /// The session, where it is one: its requests must prove that they come from our own pages.
    pub session: Option<String>,
}

impl Granted {
    /// What forms of this session carry, so that other sites cannot send them.
    pub fn form_token(&self) -> String {
        self.session.as_deref().map(form_token_of).unwrap_or_default()
    }
}

fn form_token_of(session: &str) -> String {
    hashed(&format!("form {session}"))
}

/// Who may ask.
pub struct Keyring {
    path: PathBuf,
    kept: Mutex<Kept>,
    /// The token in the address that is printed at the start.
    first: String,
    wrong: Mutex<(f64, Time)>,
    cookie: String,
    behind_tls: bool,
}

impl Keyring {
    /// Reads what is kept in `dir`, or begins anew. The port tells apart the cookies of several servers on this machine.
    pub fn open(dir: &Path, port: u16, behind_tls: bool) -> io::Result<Self> {
        let path = dir.join("access.json");
        let kept = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(error),
        };
        let cookie = match behind_tls {
            true => "__Host-evercrawl".to_owned(),
            false => format!("evercrawl_{port}"),
        };
        Ok(Keyring {
            path,
            kept: Mutex::new(kept),
            first: secret()?,
            wrong: Mutex::new((WRONG_AT_ONCE, now())),
            cookie,
            behind_tls,
        })
    }

    /// The token that holds while this process runs, for all.
    pub fn first(&self) -> &str {
        &self.first
    }

    /// Whether a caller is let in, by its bearer token or its session.
    pub fn admit(&self, head: &Head) -> Result<Granted, Refused> {
        if let Some(given) = head.header("authorization") {
            let token = given.strip_prefix("Bearer ").ok_or(Refused::Wrong)?;
            return self.admit_token(token.trim());
        }
        let Some(session) = head.cookie(&self.cookie) else { return Err(Refused::Nothing) };
        let (hash, now) = (hashed(session), now());
        let kept = self.kept();
        let found =
            kept.sessions.iter().find(|kept| same(&kept.sha256, &hash) && kept.until.0 > now);
        let scope = found.and_then(|kept| Scope::named(&kept.scope)).ok_or(Refused::Nothing)?;
        Ok(Granted { scope, session: Some(session.to_owned()) })
    }

    /// Whether a token holds, and for what.
    pub fn admit_token(&self, token: &str) -> Result<Granted, Refused> {
        if same(token, &self.first) {
            return Ok(Granted { scope: Scope::Admin, session: None });
        }
        let hash = hashed(token);
        let scope = {
            let kept = self.kept();
            let found = kept.tokens.iter().find(|kept| same(&kept.sha256, &hash));
            found.and_then(|kept| Scope::named(&kept.view.scope))
        };
        match scope {
            Some(scope) => Ok(Granted { scope, session: None }),
            None if self.may_be_wrong_again() => Err(Refused::Wrong),
            None => Err(Refused::TooMany),
        }
    }

    /// Whether a wrong token may still be answered now.
    fn may_be_wrong_again(&self) -> bool {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now();
        let more = now.since(wrong.1).as_secs_f64() * WRONG_A_SECOND;
        *wrong = ((wrong.0 + more).min(WRONG_AT_ONCE), now);
        let may = wrong.0 >= 1.0;
        wrong.0 -= if may { 1.0 } else { 0.0 };
        may
    }

    /// Begins a session; returns the `Set-Cookie` header for it.
    pub fn begin_session(&self, scope: Scope) -> io::Result<String> {
        let (session, now) = (secret()?, now());
        let mut kept = self.kept();
        kept.sessions.retain(|session| session.until.0 > now);
        let too_many = (kept.sessions.len() + 1).saturating_sub(MOST_SESSIONS);
        kept.sessions.drain(..too_many);
        let (sha256, until) = (hashed(&session), At(now.after(SESSION)));
        kept.sessions.push(KeptSession { sha256, scope: scope.code().to_owned(), until });
        self.keep(&kept)?;
        let age = SESSION.as_secs();
        let secure = if self.behind_tls { "; Secure" } else { "" };
        let cookie = &self.cookie;
        Ok(format!("{cookie}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}"))
    }

    /// Ends a session; returns the `Set-Cookie` header that removes it.
    pub fn end_session(&self, session: &str) -> io::Result<String> {
        let hash = hashed(session);
        let mut kept = self.kept();
        kept.sessions.retain(|kept| kept.sha256 != hash);
        self.keep(&kept)?;
        Ok(format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", self.cookie))
    }

    /// All tokens.
    pub fn tokens(&self) -> Vec<TokenView> {
        self.kept().tokens.iter().map(|kept| kept.view.clone()).collect()
    }

    /// Makes a token; the token itself is told this once. `None` where there are too many.
    pub fn make_token(&self, name: &str, scope: Scope) -> io::Result<Option<(TokenView, String)>> {
        let token = secret()?;
        let mut kept = self.kept();
        if kept.tokens.len() >= MOST_TOKENS {
            return Ok(None);
        }
        let id = kept.tokens.iter().map(|kept| kept.view.id).max().unwrap_or(0) + 1;
        let (name, scope, created) = (name.to_owned(), scope.code().to_owned(), At(now()));
        let view = TokenView { id, name, scope, created };
        kept.tokens.push(KeptToken { view: view.clone(), sha256: hashed(&token) });
        self.keep(&kept)?;
        Ok(Some((view, token)))
    }

    /// Removes a token; false where there is none of this number.
    pub fn remove_token(&self, id: u64) -> io::Result<bool> {
        let mut kept = self.kept();
        let before = kept.tokens.len();
        kept.tokens.retain(|kept| kept.view.id != id);
        let removed = kept.tokens.len() < before;
        if removed {
            self.keep(&kept)?;
        }
        Ok(removed)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, kept: &Kept) -> io::Result<()> {
        write_whole(&self.path, &serde_json::to_vec_pretty(kept)?)
    }
}

/// Writes a file that only its owner can read, whole or not at all.
pub fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let new = path.with_extension("new");
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// Whether the form token of a session was sent.
pub(crate) fn is_form_token(granted: &Granted, given: &str) -> bool {
    granted.session.as_deref().is_some_and(|session| same(&form_token_of(session), given))
}

/// Whether two texts are the same, in a time that does not tell where they differ.
pub(crate) fn same(left: &str, right: &str) -> bool {
    let pairs = left.bytes().zip(right.bytes());
    left.len() == right.len() && pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn hashed(text: &str) -> String {
    HEXLOWER.encode(digest(&SHA256, text.as_bytes()).as_ref())
}

/// 192 bits that nobody can guess.
fn secret() -> io::Result<String> {
    let mut bytes = [0; 24];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system has no random numbers"))?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}

fn now() -> Time {
    SystemClock.now()
}
