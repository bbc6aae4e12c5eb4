//! `evercrawl crawl`: discovers, fetches, archives and revisits pages.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_engine::config::CrawlConfig;
use evercrawl_engine::importance::RankSnapshots;
use evercrawl_engine::live::{self, Ended, Inbox, Progress, Stopper, SystemClock};
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{DataDir, EngineError, freshness};
use evercrawl_model::{Outcome, Refusal, Time};
use evercrawl_query::{RunReport, Status, Survey, Totals, run_hosts};
use evercrawl_state::{Counters, DiskStore};
use evercrawl_urls::{ScopeKind, Seed, SeedTarget};
use serde_json::json;

use super::take;
use crate::args::Crawl;
use crate::control::{Door, Posted, StatusBoard};
use crate::doorbell::{self, Doorbell};
use crate::report::run_end::RunEnd;
use crate::settings::{Origin, Settings};
use crate::units::{show_counted, show_size};
use crate::{access, crawl_config, exit, print, report, seeds};

pub(crate) fn run(args: &Crawl) -> anyhow::Result<u8> {
    if args.seeds.urls.is_empty() && args.seeds.seeds.is_empty() && !args.common.data.exists() {
        return Err(nothing_to_crawl());
    }
    let (settings, config) = settings(args)?;
    let mut given = Vec::new();
    seeds::read(&args.seeds, config.walk.reading.steps, |seed, _| {
        given.push(seed);
        Ok(())
    })?;
    if given.is_empty() && !args.common.data.exists() {
        return Err(nothing_to_crawl());
    }
    let listener = doorbell::listener(&settings)?;
    let dir = take(&args.common.data, DataDir::open_or_create)?;
    // Before it was ours, another verb may have changed what is remembered there.
    let (settings, config) = self::settings(args)?;
    let clock = SystemClock;
    let mut walk = match args.quiet {
        true => open_walk_quietly(&dir, &settings, &config)?.0,
        false => open_walk(&dir, &settings, &config)?,
    };
    require_identity(&config, &settings, &walk, &given)?;
    settings.remember(&crawl_config::remembered(dir.path()))?;
    for seed in &given {
        walk.add_seed(seed, clock.now())?;
    }
    // Whatever happens from here on, the crawl can be gone on with.
    walk.commit_now()?;
    if walk.counters().pages == 0 {
        return Err(nothing_to_crawl());
    }
    let before = walk.counters().clone();
    let board = StatusBoard::default();
    let mut screen = Screen::new(args.json, args.quiet, board.clone());
    let stopper = Stopper::default();
    listen_for_signals(stopper.clone(), args.quiet);
    let inbox = Inbox::default();
    let _door = open_doors(args, &walk, &dir, &settings, &inbox, board, listener)?;
    let mut keeper = Keeper::new(dir.path());
    let show = |progress: &Progress, walk: &Walk<DiskStore>| {
        keeper.keep(walk, progress.at);
        screen.show(progress, walk);
    };
    let (ended, progress, walk) =
        live::run(walk, &config, &stopper, &inbox, || dir.free_disk(), show)?;
    drop(keeper);
    screen.clear();
    finish(args, walk, ended, &progress, &before, &dir)
}

/// Lets other verbs and pushes reach the crawl. Without a door the crawl is as good; only verbs have to wait until it
/// ends.
fn open_doors(
    args: &Crawl,
    walk: &Walk<DiskStore>,
    dir: &DataDir,
    settings: &Arc<Settings>,
    inbox: &Inbox,
    board: StatusBoard,
    listener: Option<TcpListener>,
) -> anyhow::Result<Option<Door>> {
    let reading = || walk.state().reading().committed_reader();
    let door = Door::open(dir.path(), reading(), settings.clone(), inbox.clone(), board);
    if let Err(error) = &door {
        eprintln!("other commands cannot reach this crawl: {error}");
    }
    if let Some(listener) = listener {
        // Where the system chose the port, nothing else tells it.
        let is_chosen = settings.items("push.listen").iter().any(|at| at.ends_with(":0"));
        if !args.quiet || is_chosen {
            eprintln!("accepting pushes at http://{}/push", listener.local_addr()?);
        }
        Doorbell::open(listener, settings.clone(), reading(), inbox.clone())?;
    }
    Ok(door.ok())
}

/// What the crawl is to do, as of now.
fn settings(args: &Crawl) -> anyhow::Result<(Arc<Settings>, CrawlConfig)> {
    let mut settings = crawl_config::settings(&args.common, Some(&args.rules))?;
    if let Some(address) = &args.push {
        settings.set("push.listen", vec![address.clone()], Origin::Flag)?;
    }
    let mut config = crawl_config::crawl_config(&settings, &args.run)?;
    config.ranking.kept_in = Some(RankSnapshots::dir_in(&args.common.data));
    let ways_in = access::read(&settings, &args.common.data)?;
    config.fetch.access = ways_in.access;
    config.cookie_file = ways_in.cookie_file;
    Ok((Arc::new(settings), config))
}

fn nothing_to_crawl() -> anyhow::Error {
    exit::Failure::usage("nothing to crawl; give a URL, or a list with --input-file FILE")
}

/// Opens state and archive and puts the walk together; says what an abrupt end has cost.
pub(crate) fn open_walk(
    dir: &DataDir,
    settings: &Settings,
    config: &CrawlConfig,
) -> anyhow::Result<Walk<DiskStore>> {
    let (walk, cut_bytes) = open_walk_quietly(dir, settings, config)?;
    if cut_bytes > 0 {
        let cut = show_size(cut_bytes);
        eprintln!("the last run ended abruptly; {cut} of uncommitted data is fetched again");
    }
    Ok(walk)
}

/// The same; returns how many bytes that no commit knew were cut off.
fn open_walk_quietly(
    dir: &DataDir,
    settings: &Settings,
    config: &CrawlConfig,
) -> anyhow::Result<(Walk<DiskStore>, u64)> {
    let _start_up = tracing::debug_span!("start_up").entered();
    let state = dir.state(crawl_config::store_limits(settings)?, random())?;
    let now = SystemClock.not_before(state.view().last_logged()?.unwrap_or_default());
    let writer_settings = archive::Settings {
        prefix: config.archive.prefix.clone(),
        host: config.archive.machine.clone(),
        software: format!("evercrawl/{}", env!("CARGO_PKG_VERSION")),
        operator: config.archive.operator.clone(),
        user_agent: config.fetch.identity.user_agent(),
        robots: "obey".to_owned(),
        is_part_of: dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
        roll_at: config.archive.roll_at,
        first_serial: 1,
    };
    let (writer, recovery) = dir.archive(state.view(), writer_settings, now)?;
    let learned = DataDir::learned(dir.path());
    let walk_config = Arc::new(config.walk.clone());
    let walk = Walk::resume(walk_config, state, writer, learned.as_deref(), random(), now)?;
    Ok((walk, recovery.cut_bytes))
}

/// A number that nobody can guess.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds its hash maps from the operating system.
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// Requires a contact, except where only this machine is crawled.
fn require_identity(
    config: &CrawlConfig,
    settings: &Settings,
    walk: &Walk<DiskStore>,
    given: &[Seed],
) -> anyhow::Result<()> {
    if config.fetch.identity.contact.is_some() || connects_home(settings) {
        return Ok(());
    }
    let known: Result<Vec<String>, _> = walk.state().seeds().take(1000).collect();
    let given = given.iter().map(|seed| match &seed.target {
        SeedTarget::Url(url) => url.as_str().to_owned(),
        SeedTarget::Domain(domain) => format!("https://{domain}"),
    });
    let stays_home = config.walk.scope != ScopeKind::Any
        && known?.into_iter().chain(given).all(|url| is_own_machine(&url));
    if stays_home {
        return Ok(());
    }
    Err(exit::Failure::config(
        "no contact set: site operators must be able to reach you; use --contact URL|EMAIL \
         (remembered for later runs), or set identity.contact in evercrawl.toml",
    ))
}

/// True when every connection is directed to this machine.
fn connects_home(settings: &Settings) -> bool {
    settings.items("fetch.connect_to").iter().any(|rule| {
        rule.strip_prefix("::").is_some_and(|to| {
            let host = to.rsplit_once(':').map_or(to, |(host, _)| host);
            is_loopback(host.trim_matches(['[', ']']))
        })
    })
}

fn is_own_machine(url: &str) -> bool {
    let host = evercrawl_urls::Canonical::parse(url);
    host.is_ok_and(|url| is_loopback(url.host().trim_matches(['[', ']'])))
}

fn is_loopback(host: &str) -> bool {
    let literal = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    literal || host == "localhost" || host.ends_with(".localhost")
}

/// Ctrl-C and a polite kill: once lets what is in flight finish, twice does not.
pub(crate) fn listen_for_signals(stopper: Stopper, quiet: bool) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
            let mut asked = 0;
            loop {
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminate.recv() => {}
                }
                asked += 1;
                stopper.stop();
                if asked == 1 && !quiet {
                    eprintln!("\nFinishing requests in flight; press Ctrl-C again to stop now");
                }
            }
        });
    });
}

/// Keeps what the planner learns, now and then and at the end: it can be learned again, but that takes
/// as long as it took.
struct Keeper<'a> {
    dir: &'a Path,
    began: Time,
    kept: Time,
    /// Who is writing it: the crawl does not wait for the disk.
    writing: Option<JoinHandle<Result<(), EngineError>>>,
    failed: bool,
}

impl<'a> Keeper<'a> {
    fn new(dir: &'a Path) -> Self {
        let now = SystemClock.now();
        Keeper { dir, began: now, kept: now, writing: None, failed: false }
    }

    fn keep(&mut self, walk: &Walk<DiskStore>, now: Time) {
        // Soon at first, when every minute doubles what is known.
        let every = (now.since(self.began) / 4).clamp(KEEP_FIRST, KEEP_EVERY);
        let busy = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if now.since(self.kept) < every || busy {
            return;
        }
        self.kept = now;
        self.settle();
        let (dir, learned) = (self.dir.to_owned(), walk.planner().encode_learned());
        self.writing = Some(std::thread::spawn(move || DataDir::keep_learned(&dir, &learned)));
    }

    /// Waits for what is being written.
    fn settle(&mut self) {
        let written = self.writing.take().map(JoinHandle::join);
        // Said once: the crawl goes on, and a full disk will stop it soon enough.
        if let (Some(Ok(Err(error))), false) = (written, self.failed) {
            self.failed = true;
            eprintln!("cannot save the learned change rates: {error}");
        }
    }
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}

/// How often what the planner learns is kept.
const KEEP_EVERY: Duration = Duration::from_secs(60);
const KEEP_FIRST: Duration = Duration::from_secs(3);

/// What counts as lately.
const LATELY: Duration = Duration::from_secs(60);

/// How often a status says anew what takes a walk through the sample to find out.
const SURVEY_EVERY: Duration = Duration::from_secs(5);

/// Shows progress: one line that changes on a terminal, a line now and then elsewhere, and a status
/// for `evercrawl status`.
pub(crate) struct Screen {
    json: bool,
    quiet: bool,
    terminal: bool,
    board: StatusBoard,
    shown: Time,
    put: Time,
    /// What takes longer to find out, and when that was done.
    survey: Option<(Time, Survey)>,
    /// How many requests there had been, second by second for a minute.
    lately: VecDeque<(Time, u64)>,
    /// What was last said of a proxy that failed.
    said_of_proxy: Option<String>,
}

impl Screen {
    pub(crate) fn new(json: bool, quiet: bool, board: StatusBoard) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let (shown, put, lately) = (Time::EPOCH, Time::EPOCH, VecDeque::new());
        Screen {
            json,
            quiet,
            terminal,
            board,
            shown,
            put,
            survey: None,
            lately,
            said_of_proxy: None,
        }
    }

    pub(crate) fn show(&mut self, progress: &Progress, walk: &Walk<DiskStore>) {
        if progress.at.since(self.put) >= Duration::from_secs(1) {
            self.put = progress.at;
            self.put_status(progress, walk);
        }
        self.tell_of_proxy(progress);
        let every = if self.terminal && !self.json { 200 } else { 10_000 };
        if self.quiet || progress.at.since(self.shown) < Duration::from_millis(every) {
            return;
        }
        self.shown = progress.at;
        if self.json {
            let line = json!({"event": "progress", "run": RunReport::of(progress)});
            // Whoever reads may go away; the crawl goes on.
            let _ = writeln!(std::io::stdout(), "{line}");
        } else if self.terminal {
            eprint!("\r\x1b[2K{}", fit(&report::progress_line(progress)));
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{}", report::progress_line(progress));
        }
    }

    /// Says each time that a proxy fails why nothing is fetched through it.
    fn tell_of_proxy(&mut self, progress: &Progress) {
        let Some(trouble) = &progress.proxy_trouble else { return };
        if self.said_of_proxy.as_ref() != Some(trouble) {
            self.clear();
            eprintln!("{}", print::plain(trouble));
            self.said_of_proxy = Some(trouble.clone());
        }
    }

    /// Puts up how the run is doing, for other verbs. What cannot be found out now is found out next time.
    fn put_status(&mut self, progress: &Progress, walk: &Walk<DiskStore>) {
        let last = self.survey.as_ref().map_or(Time::EPOCH, |(at, _)| *at);
        if progress.at.since(last) >= SURVEY_EVERY
            && let Ok(survey) = Survey::of_walk(walk, progress.at)
        {
            self.survey = Some((progress.at, survey));
        }
        let lately = self.lately(progress);
        if let Some((_, survey)) = &self.survey
            && let Ok(status) = Status::of_walk(progress, walk, lately, survey.clone())
        {
            let (next, meters) = (progress.next.distribution(), walk.meters());
            self.board.put(Posted { status, next, meters });
        }
    }

    /// Requests a second in the last minute, or since the run began.
    fn lately(&mut self, progress: &Progress) -> f64 {
        let requests = progress.tally.pages + progress.tally.robots;
        if self.lately.is_empty() {
            self.lately.push_back((progress.began, 0));
        }
        while self.lately.len() > 1 && progress.at.since(self.lately[0].0) > LATELY {
            self.lately.pop_front();
        }
        let (since, before) = self.lately[0];
        self.lately.push_back((progress.at, requests));
        requests.saturating_sub(before) as f64 / progress.at.since(since).as_secs_f64().max(1.0)
    }

    pub(crate) fn clear(&self) {
        if self.terminal && !self.json && !self.quiet {
            eprint!("\r\x1b[2K");
        }
    }
}

/// As much of a line as the terminal is wide.
fn fit(line: &str) -> String {
    let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(100, |size| size.ws_col);
    line.chars().take(usize::from(width.max(20)) - 1).collect()
}

fn finish(
    args: &Crawl,
    walk: Walk<DiskStore>,
    ended: Ended,
    progress: &Progress,
    before: &Counters,
    dir: &DataDir,
) -> anyhow::Result<u8> {
    let fresh = freshness::collection_freshness(walk.planner(), walk.state(), SystemClock.now())?;
    DataDir::keep_learned(dir.path(), &walk.planner().encode_learned())?;
    let resting = walk.counters().by_status[0];
    let hosts = run_hosts(&walk)?;
    let counters = walk.close()?;
    let code = exit_code(ended, before, &counters, progress);
    let end = RunEnd {
        reason: (reason(ended), words(ended)),
        exit_code: code,
        data: dir.path(),
        progress,
        total: Totals::of(&counters),
        freshness: fresh.into(),
        hosts,
    };
    args.report.as_deref().map_or(Ok(()), |path| end.write_file(path))?;
    if args.quiet {
        return Ok(code);
    }
    let mut out = print::data();
    if args.json {
        end.write_json(&mut out)?;
        return Ok(code);
    }
    end.write_words(&mut out)?;
    out.flush()?;
    let private = |counters: &Counters| counters.refused(Refusal::PrivateAddress);
    if private(&counters) > private(before) {
        eprintln!("some hosts have private addresses; use --allow-private=NETWORK to crawl them");
    }
    say_what_next(ended, resting, dir.path());
    Ok(code)
}

fn say_what_next(ended: Ended, resting: u64, dir: &Path) {
    let dir = dir.display();
    match ended {
        Ended::Done => {}
        Ended::DoneButResting => eprintln!(
            "{} left, on hosts that are paused, asked for a pause or do not answer.\n\
             Retry with: evercrawl crawl --data {dir} --new-only",
            show_counted(resting, "page")
        ),
        Ended::DiskFull => {
            eprintln!("Free some space, then resume with: evercrawl crawl --data {dir}")
        }
        _ => eprintln!("State saved. Resume with: evercrawl crawl --data {dir}"),
    }
}

fn exit_code(ended: Ended, before: &Counters, after: &Counters, progress: &Progress) -> u8 {
    let answered = |counters: &Counters| -> u64 {
        let outcomes = Outcome::ALL.iter().filter(|outcome| outcome.has_answer());
        outcomes.map(|&outcome| counters.ended(outcome)).sum()
    };
    let private = after.refused(Refusal::PrivateAddress) > before.refused(Refusal::PrivateAddress);
    let failed = private || progress.proxy_trouble.is_some();
    let asked = failed || progress.tally.pages + progress.tally.robots > 0;
    let silent = asked && answered(after) == answered(before);
    match ended {
        Ended::Done | Ended::DoneButResting if silent => exit::UNREACHABLE,
        Ended::Done | Ended::DoneButResting => exit::OK,
        Ended::SizeLimit => exit::SIZE_LIMIT,
        Ended::TimeLimit => exit::TIME_LIMIT,
        Ended::DiskFull => exit::DISK_LIMIT,
        Ended::Interrupted => exit::INTERRUPTED,
    }
}

fn reason(ended: Ended) -> &'static str {
    match ended {
        Ended::Done => "done",
        Ended::DoneButResting => "done_but_resting",
        Ended::SizeLimit => "size_limit",
        Ended::TimeLimit => "time_limit",
        Ended::DiskFull => "disk_full",
        Ended::Interrupted => "interrupted",
    }
}

fn words(ended: Ended) -> &'static str {
    match ended {
        Ended::Done => "every known page was visited",
        Ended::DoneButResting => "every reachable page was visited",
        Ended::SizeLimit => "size limit reached",
        Ended::TimeLimit => "time limit reached",
        Ended::DiskFull => "the disk is nearly full",
        Ended::Interrupted => "interrupted",
    }
}
