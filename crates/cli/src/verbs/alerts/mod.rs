//! Who is told of what a crawl finds? `rules.toml` in the data directory says it.
//!
//! A [`Round`] judges what is new in the log and sends what waits. `crawl` makes one every few seconds on a thread of
//! its own, and a last one at its end; `evercrawl rules run` makes them without a crawl. Both come to the log as any
//! verb does: through the crawl that has the data directory open, or here.

mod beside;
mod question;

use std::path::{Path, PathBuf};
use std::time::Duration;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_export::Contents;
use evercrawl_model::Time;
use evercrawl_notify::{Follower, NotifyError, Outbox, Sender, Sent, load_materials};
use evercrawl_query::{Answer, At, LogRequest, LogView, Request};
use evercrawl_rules::Rules;

use crate::exit::{self, Failure};
use crate::secret;

pub(crate) use beside::Beside;
pub(crate) use question::Questions;

/// How long another process that has the outbox open is waited for.
const PATIENCE: u32 = 200;
const LOOK: Duration = Duration::from_millis(50);
/// Rows that are judged before the outbox is closed again.
const ROWS: u64 = 2_000;

/// Where the rules stand.
pub(crate) fn rules_path(data: &Path) -> PathBuf {
    data.join("rules.toml")
}

/// Reads the rules of a data directory; `None` where there is no file.
pub(crate) fn read_rules(data: &Path) -> anyhow::Result<Option<Rules>> {
    let path = rules_path(data);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Failure::config(format!("cannot read {}: {error}", path.display())));
        }
    };
    let rules = Rules::read(&text);
    rules.map(Some).map_err(|error| Failure::config(format!("{}:\n{error}", path.display())))
}

/// The rules, where a verb needs them.
pub(crate) fn need_rules(data: &Path) -> anyhow::Result<Rules> {
    read_rules(data)?.ok_or_else(|| {
        Failure::config(format!(
            "there are no rules; write them into {}, beginning with a line [watch.NAME]",
            rules_path(data).display()
        ))
    })
}

/// Opens the outbox; waits for another process that has it open for a moment.
pub(crate) fn outbox(data: &Path) -> anyhow::Result<Outbox> {
    if !is_data_dir(data) {
        return Err(Failure {
            code: exit::STORAGE,
            message: format!(
                "{} is no data directory; `evercrawl crawl` makes one",
                data.display()
            ),
        }
        .into());
    }
    wait_for_outbox(data)
}

/// Whether a crawl keeps its data there.
fn is_data_dir(data: &Path) -> bool {
    data.join("evercrawl.data").exists()
}

fn wait_for_outbox(data: &Path) -> anyhow::Result<Outbox> {
    for _ in 0..PATIENCE {
        match Outbox::open(data).map_err(broken)? {
            Some(outbox) => return Ok(outbox),
            None => pause(LOOK),
        }
    }
    let message = format!("another process keeps {}/alerts open; try again", data.display());
    Err(Failure { code: exit::STORAGE, message }.into())
}

#[allow(clippy::disallowed_methods, reason = "a verb that waits has nothing else to do")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// What went wrong with rules, by whose fault it is.
pub(crate) fn broken(error: NotifyError) -> anyhow::Error {
    match error {
        NotifyError::Material { .. } | NotifyError::Channel(..) => {
            Failure::config(error.to_string())
        }
        NotifyError::Unknown(_) => Failure::usage(error.to_string()),
        NotifyError::File(..) => Failure { code: exit::STORAGE, message: error.to_string() }.into(),
        NotifyError::Archive(error) => error.into(),
        NotifyError::Question(_) => {
            Failure { code: exit::INTERRUPTED, message: error.to_string() }.into()
        }
    }
}

/// What was found and sent in a round.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: u64,
    pub(crate) unread: u64,
    pub(crate) hits: Vec<evercrawl_notify::Hit>,
    pub(crate) sent: Sent,
    /// Whether rows are left.
    pub(crate) more: bool,
}

/// Judges and sends, again and again.
pub(crate) struct Round {
    data: PathBuf,
    sender: Sender,
    judge: Option<Judge>,
}

/// What judges rows, kept from round to round: the user's own texts are read once a minute, and whenever the rules change.
struct Judge {
    read_at: Time,
    rules_of: Option<std::time::SystemTime>,
    follower: Follower,
    contents: Contents,
}

impl Judge {
    const LASTS: Duration = Duration::from_secs(60);

    fn read(data: &Path, rules: &Rules, now: Time) -> anyhow::Result<Self> {
        let materials = load_materials(rules, data).map_err(broken)?;
        Ok(Judge {
            read_at: now,
            rules_of: Self::time_of_rules(data),
            follower: Follower::new(rules.clone(), materials),
            contents: Contents::open(DataDir::segments_in(data))?,
        })
    }

    fn time_of_rules(data: &Path) -> Option<std::time::SystemTime> {
        std::fs::metadata(rules_path(data)).ok()?.modified().ok()
    }

    fn is_current(&self, data: &Path, now: Time) -> bool {
        now.since(self.read_at) < Self::LASTS && self.rules_of == Self::time_of_rules(data)
    }
}

impl Round {
    pub(crate) fn new(data: &Path) -> Self {
        Round { data: data.to_owned(), sender: Sender::default(), judge: None }
    }

    /// One round. Where nobody has judged before, it begins with what is found from now on; with `since`, with that.
    pub(crate) fn go(
        &mut self,
        rules: &Rules,
        questions: &mut dyn FnMut() -> anyhow::Result<Option<Questions>>,
        since: Option<At>,
    ) -> anyhow::Result<Found> {
        let mut found = Found::default();
        let mut outbox = outbox(&self.data)?;
        for channel in &rules.channels {
            outbox.meet(&channel.name).map_err(broken)?;
        }
        if let Some(mut questions) = questions()? {
            self.look(rules, &mut outbox, &mut questions, since, &mut found)?;
        }
        let now = || SystemClock.now();
        let mut chance = || f64::from(crate::verbs::crawl::random() as u32) / f64::from(u32::MAX);
        let sent =
            self.sender.round(rules, &mut outbox, &|name| secret::read(name), &now, &mut chance);
        found.sent = sent.map_err(broken)?;
        Ok(found)
    }

    fn look(
        &mut self,
        rules: &Rules,
        outbox: &mut Outbox,
        questions: &mut Questions,
        since: Option<At>,
        found: &mut Found,
    ) -> anyhow::Result<()> {
        if !outbox.has_begun() && since.is_none() {
            let now = SystemClock.now();
            return outbox.begin(questions.last_number(now)?).map_err(broken);
        }
        let mut request =
            LogRequest { limit: Some(ROWS), without_imported: true, ..LogRequest::default() };
        match since {
            Some(_) => request.since = since,
            None => request.after = outbox.cursor(),
        }
        let parts = questions.parts(request)?;
        if parts.iter().all(|part| part.rows.is_empty() && part.last == outbox.cursor()) {
            return Ok(());
        }
        let now = SystemClock.now();
        let judge = match self.judge.take().filter(|judge| judge.is_current(&self.data, now)) {
            Some(judge) => judge,
            None => Judge::read(&self.data, rules, now)?,
        };
        let judge = self.judge.insert(judge);
        for part in parts {
            let mut ask = |request| questions.ask(request);
            let progress = judge.follower.take(&part, outbox, &mut judge.contents, &mut ask);
            let progress = progress.map_err(broken)?;
            found.rows += progress.rows;
            found.unread += progress.unread;
            found.hits.extend(progress.hits);
            found.more = !part.complete;
        }
        Ok(())
    }
}

/// What rules would find in what is stored; nothing is kept or sent.
pub(crate) fn rehearse(
    data: &Path,
    rules: &Rules,
    questions: &mut Questions,
    since: Option<At>,
    show: &mut dyn FnMut(&evercrawl_notify::Hit) -> anyhow::Result<()>,
) -> anyhow::Result<(u64, u64)> {
    // Beside the real one: what is found now must not change what is told later.
    let scratch = data.join("alerts").join(format!("rehearsal-{}", std::process::id()));
    let removed = |path: &Path| std::fs::remove_dir_all(path);
    std::fs::create_dir_all(&scratch)?;
    let result = (|| {
        let mut outbox = wait_for_outbox(&scratch)?;
        let materials = load_materials(rules, data).map_err(broken)?;
        let follower = Follower::new(rules.clone(), materials);
        let mut contents = Contents::open(DataDir::segments_in(data))?;
        let mut request = LogRequest { since, limit: Some(ROWS), ..LogRequest::default() };
        let (mut rows, mut unread) = (0, 0);
        loop {
            let mut more = None;
            for part in questions.parts(request.clone())? {
                let mut ask = |request| questions.ask(request);
                let progress =
                    follower.take(&part, &mut outbox, &mut contents, &mut ask).map_err(broken)?;
                progress.hits.iter().try_for_each(&mut *show)?;
                (rows, unread) = (rows + progress.rows, unread + progress.unread);
                more = part.last.filter(|last| !part.complete && request.after != Some(*last));
            }
            match more {
                Some(last) => request.after = Some(last),
                None => return Ok((rows, unread)),
            }
        }
    })();
    removed(&scratch)?;
    result
}

/// An answer that holds a part of the log.
fn log_part(answer: Answer) -> anyhow::Result<LogView> {
    match answer {
        Answer::Log(part) => Ok(part),
        other => Err(crate::control::unexpected(&other)),
    }
}

/// A request for rows from now on, which has none, but says the last number.
fn from_now_on(now: Time) -> Request {
    Request::Log(LogRequest { since: Some(At(now)), limit: Some(1), ..LogRequest::default() })
}
