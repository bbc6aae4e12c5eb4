//! `evercrawl crawl`: discovers, fetches, archives and revisits pages.

mod keeper;
mod label;
mod screen;
mod several;

use std::io::Write;
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use evercrawl_archive as archive;
use evercrawl_engine::config::CrawlConfig;
use evercrawl_engine::importance::RankSnapshots;
use evercrawl_engine::live::{
    self, Ended, Inbox, Progress, Services, ServicesConfig, Stopper, SystemClock,
};
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{DataDir, freshness};
use evercrawl_model::{Outcome, Refusal};
use evercrawl_query::{Totals, run_hosts};
use evercrawl_state::{Counters, DiskStore};
use evercrawl_urls::{ScopeKind, Seed, SeedTarget};

use super::take;
use crate::args::{Common, Crawl, CrawlRules, RunArgs};
use crate::control::{Door, StatusBoard};
use crate::doorbell::{self, Doorbell};
use crate::report::run_end::RunEnd;
use crate::settings::{Origin, Settings};
use crate::units::{show_counted, show_size};
use crate::verbs::alerts::Beside;
use crate::{access, crawl_config, exit, print, seeds};
use keeper::Keeper;
use label::Label;
pub(crate) use screen::Screen;

pub(crate) fn run(args: &Crawl) -> anyhow::Result<u8> {
    match args.common.each().as_slice() {
        [common] => run_one(args, common),
        several => several::run(args, several),
    }
}

fn run_one(args: &Crawl, common: &Common) -> anyhow::Result<u8> {
    let directory =
        Directory { args, common, rules: &args.rules, run: &args.run, label: Label::default() };
    if args.seeds.urls.is_empty() && args.seeds.seeds.is_empty() && !common.data.exists() {
        return Err(directory.nothing_to_crawl());
    }
    let (_, config) = directory.settings()?;
    let mut given = Vec::new();
    seeds::read(&args.seeds, config.walk.reading.steps, |seed, _| {
        given.push(seed);
        Ok(())
    })?;
    let services =
        Services::start(ServicesConfig { workers: config.workers, ..Default::default() })?;
    let stopper = Stopper::default();
    let listen = || listen_for_signals(vec![stopper.clone()], args.quiet);
    let code = directory.crawl(&given, &services, &stopper, listen)?;
    services.stop()?;
    Ok(code)
}

/// A data directory to be crawled, and how.
struct Directory<'a> {
    args: &'a Crawl,
    common: &'a Common,
    rules: &'a CrawlRules,
    run: &'a RunArgs,
    label: Label,
}

impl Directory<'_> {
    fn path(&self) -> &Path {
        &self.common.data
    }

    /// What the crawl is to do, as of now.
    fn settings(&self) -> anyhow::Result<(Arc<Settings>, CrawlConfig)> {
        let mut settings = crawl_config::settings(self.common, Some(self.rules))?;
        if let Some(address) = &self.args.push {
            settings.set("push.listen", vec![address.clone()], Origin::Flag)?;
        }
        let mut config = crawl_config::crawl_config(&settings, self.run)?;
        config.ranking.kept_in = Some(RankSnapshots::dir_in(self.path()));
        let ways_in = access::read(&settings, self.path())?;
        config.fetch.access = ways_in.access;
        config.cookie_file = ways_in.cookie_file;
        Ok((Arc::new(settings), config))
    }

    /// Crawls until the end of the run, and sends what rules find; `began` is called once the crawl can be resumed,
    /// whatever happens.
    fn crawl(
        &self,
        given: &[Seed],
        services: &Services<DiskStore>,
        stopper: &Stopper,
        began: impl FnOnce(),
    ) -> anyhow::Result<u8> {
        let alerts = Beside::start(self.common, self.args.quiet)?;
        let crawled = self.crawl_only(given, services, stopper, began);
        alerts.finish();
        crawled
    }

    fn crawl_only(
        &self,
        given: &[Seed],
        services: &Services<DiskStore>,
        stopper: &Stopper,
        began: impl FnOnce(),
    ) -> anyhow::Result<u8> {
        let (settings, _) = self.settings()?;
        if given.is_empty() && !self.path().exists() {
            return Err(self.nothing_to_crawl());
        }
        let listener = doorbell::listener(&settings)?;
        let dir = take(self.path(), DataDir::open_or_create)?;
        let begun = self.open(given, dir)?;
        began();
        self.drive(begun, listener, services, stopper)
    }

    /// Opens a directory and adds seeds to it.
    fn open(&self, given: &[Seed], dir: DataDir) -> anyhow::Result<Begun> {
        // Before it was ours, another verb may have changed what is remembered there.
        let (settings, config) = self.settings()?;
        let (mut walk, cut_bytes) = open_walk_quietly(&dir, &settings, &config)?;
        if !self.args.quiet {
            tell_of_cut(cut_bytes, &self.label);
        }
        require_identity(&config, &settings, &walk, given)?;
        settings.remember(&crawl_config::remembered(dir.path()))?;
        for seed in given {
            walk.add_seed(seed, SystemClock.now())?;
        }
        // Whatever happens from here on, the crawl can be gone on with.
        walk.commit_now()?;
        if walk.counters().pages == 0 {
            return Err(self.nothing_to_crawl());
        }
        Ok(Begun { dir, settings, config, walk })
    }

    /// Drives a walk to the end of the run, and answers other verbs meanwhile.
    fn drive(
        &self,
        begun: Begun,
        listener: Option<TcpListener>,
        services: &Services<DiskStore>,
        stopper: &Stopper,
    ) -> anyhow::Result<u8> {
        let Begun { dir, settings, config, walk } = begun;
        let (board, inbox, before) =
            (StatusBoard::default(), Inbox::default(), walk.counters().clone());
        let mut screen = Screen::new(self.args.json, self.args.quiet, board.clone())
            .labelled(&self.label, dir.path());
        let _door = self.open_door(&dir, &walk, &settings, &inbox, board);
        if let Some(listener) = listener {
            // Where the system chose the port, nothing else tells it.
            let is_chosen = settings.items("push.listen").iter().any(|at| at.ends_with(":0"));
            if !self.args.quiet || is_chosen {
                let address = listener.local_addr()?;
                self.label.print(&format!("accepting pushes at http://{address}/push"));
            }
            let reading = walk.state().reading().committed_reader();
            Doorbell::open(listener, settings.clone(), reading, inbox.clone())?;
        }
        let mut keeper = Keeper::new(dir.path(), &self.label);
        let show = |progress: &Progress, walk: &Walk<DiskStore>| {
            keeper.keep(walk, progress.at);
            screen.show(progress, walk);
        };
        let (name, free_disk) = (dir.path().display().to_string(), || dir.free_disk());
        let crawl = live::Crawl {
            name: &name,
            walk,
            config: &config,
            stopper,
            inbox: &inbox,
            free_disk: &free_disk,
        };
        let (ended, progress, walk) = services.run(crawl, show)?;
        drop(keeper);
        screen.clear();
        self.finish(walk, ended, &progress, &before, &dir)
    }

    /// Without a door the crawl is as good; only verbs have to wait until it ends.
    fn open_door(
        &self,
        dir: &DataDir,
        walk: &Walk<DiskStore>,
        settings: &Arc<Settings>,
        inbox: &Inbox,
        board: StatusBoard,
    ) -> Option<Door> {
        let reading = walk.state().reading().committed_reader();
        let door = Door::open(dir.path(), reading, settings.clone(), inbox.clone(), board);
        door.inspect_err(|error| {
            self.label.print(&format!("other commands cannot reach this crawl: {error}"));
        })
        .ok()
    }

    fn nothing_to_crawl(&self) -> anyhow::Error {
        let data = self.path().display();
        exit::Failure::usage(match self.label.is_one_of_several() {
            false => "nothing to crawl; give a URL, or a list with --input-file FILE".to_owned(),
            true => format!("nothing to crawl; add seeds with `evercrawl add URL --data {data}`"),
        })
    }
}

/// A walk that can begin, and what it was made from.
struct Begun {
    dir: DataDir,
    settings: Arc<Settings>,
    config: CrawlConfig,
    walk: Walk<DiskStore>,
}

/// Opens state and archive and puts the walk together; says what an abrupt end has cost.
pub(crate) fn open_walk(
    dir: &DataDir,
    settings: &Settings,
    config: &CrawlConfig,
) -> anyhow::Result<Walk<DiskStore>> {
    let (walk, cut_bytes) = open_walk_quietly(dir, settings, config)?;
    tell_of_cut(cut_bytes, &Label::default());
    Ok(walk)
}

/// Says what an abrupt end has cost, if anything.
fn tell_of_cut(cut_bytes: u64, label: &Label) {
    if cut_bytes > 0 {
        let cut = show_size(cut_bytes);
        label.print(&format!(
            "the last run ended abruptly; {cut} of uncommitted data is fetched again"
        ));
    }
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
pub(crate) fn listen_for_signals(stoppers: Vec<Stopper>, quiet: bool) {
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
                stoppers.iter().for_each(Stopper::stop);
                if asked == 1 && !quiet {
                    eprintln!("\nFinishing requests in flight; press Ctrl-C again to stop now");
                }
            }
        });
    });
}

impl Directory<'_> {
    fn finish(
        &self,
        walk: Walk<DiskStore>,
        ended: Ended,
        progress: &Progress,
        before: &Counters,
        dir: &DataDir,
    ) -> anyhow::Result<u8> {
        let now = SystemClock.now();
        let fresh = freshness::collection_freshness(walk.planner(), walk.state(), now)?;
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
        self.args.report.as_deref().map_or(Ok(()), |path| end.write_file(path))?;
        if self.args.quiet {
            return Ok(code);
        }
        let mut out = print::data();
        if self.args.json {
            end.write_json(&mut out)?;
            return Ok(code);
        }
        write!(out, "{}", self.label.line(""))?;
        end.write_words(&mut out)?;
        out.flush()?;
        let private = |counters: &Counters| counters.refused(Refusal::PrivateAddress);
        if private(&counters) > private(before) {
            self.label.print(
                "some hosts have private addresses; use --allow-private=NETWORK to crawl them",
            );
        }
        self.tell_what_next(ended, resting);
        Ok(code)
    }

    fn tell_what_next(&self, ended: Ended, resting: u64) {
        let dir = self.path().display();
        match ended {
            Ended::Done => {}
            Ended::DoneButResting => self.label.print(&format!(
                "{} left, on hosts that are paused, asked for a pause or do not answer.\n\
                 Retry with: evercrawl crawl --data {dir} --new-only",
                show_counted(resting, "page")
            )),
            Ended::DiskFull => self
                .label
                .print(&format!("Free some space, then resume with: evercrawl crawl --data {dir}")),
            _ => {
                self.label.print(&format!("State saved. Resume with: evercrawl crawl --data {dir}"))
            }
        }
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
