//! Which collections are there, and who answers for each: the crawl that works there, or nobody but us?

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, mpsc};
use std::time::Duration;

use evercrawl_engine::DataDir;
use evercrawl_query::{Answer, Failed, FailureKind, Request};
use evercrawl_serve::{
    AskError, CollectionView, Collections, CrawlProcessView, Flow, NewCollection, Parts, PushKeys,
    RunState, SeedPreview, Supervisor,
};

use super::resting::{Enough, Resting, busy, common};
use super::{is_name, name_of, preview};
use crate::args::ServeArgs;
use crate::control::{self, failed};
use crate::settings::Origin;
use crate::verbs::{add, config, init, take};
use crate::{crawl_config, exit};

/// The file that says what a directory is.
const MARK: &str = "evercrawl.data";
/// How often idle directories are looked for.
const TICK: Duration = Duration::from_millis(500);

/// All collections.
pub(super) struct Home {
    /// Where collections are found and made; `None` where they were given one by one.
    root: Option<PathBuf>,
    given: Vec<(String, PathBuf)>,
    files: PathBuf,
    supervisor: Mutex<Option<Arc<Supervisor>>>,
    /// Which collections the user wants to run, or not.
    wanted: Mutex<BTreeMap<String, bool>>,
    resting: Mutex<HashMap<String, Arc<Resting>>>,
}

impl Home {
    pub(super) fn open(
        args: &ServeArgs,
        files: PathBuf,
        supervisor: Option<Supervisor>,
    ) -> anyhow::Result<Self> {
        let mut given = Vec::new();
        for path in &args.data {
            let name = name_of(path).ok_or_else(|| {
                let shown = path.display();
                exit::Failure::usage(format!(
                    "--data {shown}: the directory's name is not one for addresses; use letters, \
                     digits, dots, dashes and underscores"
                ))
            })?;
            if given.iter().any(|(other, _)| *other == name) {
                return Err(exit::Failure::usage(format!("two directories are called {name}")));
            }
            given.push((name, path.clone()));
        }
        let wanted = match std::fs::read(files.join("collections.json")) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(_) => BTreeMap::new(),
        };
        Ok(Home {
            root: given.is_empty().then(|| args.home.clone()),
            given,
            files,
            supervisor: Mutex::new(supervisor.map(Arc::new)),
            wanted: Mutex::new(wanted),
            resting: Mutex::default(),
        })
    }

    /// Begins to crawl what should run, and to close directories that nobody asks about.
    pub(super) fn begin(self: &Arc<Self>) {
        let home = Arc::downgrade(self);
        let _ = std::thread::Builder::new().name("janitor".into()).spawn(move || tidy(&home));
        let Some(supervisor) = self.supervisor() else { return };
        for (name, path) in self.all() {
            if self.is_wanted(&name) {
                supervisor.run(&name, &path);
            }
        }
    }

    /// Asks all crawls to end.
    pub(super) fn ask_to_end(&self) {
        self.supervisor().iter().for_each(|supervisor| supervisor.ask_to_end());
    }

    /// Returns once all crawls have ended.
    pub(super) fn end(&self) {
        drop(lock(&self.supervisor).take());
        lock(&self.resting).clear();
    }

    fn supervisor(&self) -> Option<Arc<Supervisor>> {
        lock(&self.supervisor).clone()
    }

    /// Whether a collection should run: where the user said nothing, those given one by one.
    fn is_wanted(&self, name: &str) -> bool {
        lock(&self.wanted).get(name).copied().unwrap_or(self.root.is_none())
    }

    /// Notes whether a collection should run, also for later.
    fn want(&self, name: &str, runs: bool) -> Result<(), Failed> {
        let mut wanted = lock(&self.wanted);
        wanted.insert(name.to_owned(), runs);
        let path = self.files.join("collections.json");
        let text = serde_json::to_vec_pretty(&*wanted).unwrap_or_default();
        evercrawl_serve::write_whole(&path, &text).map_err(|error| Failed {
            kind: FailureKind::Storage,
            message: format!("cannot write {}: {error}", path.display()),
        })
    }

    /// All collections with their data directories, by name.
    fn all(&self) -> Vec<(String, PathBuf)> {
        let Some(root) = &self.root else { return self.given.clone() };
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let dirs = entries.map(|entry| entry.path()).filter(|path| path.join(MARK).is_file());
        let mut found: Vec<_> = dirs.filter_map(|path| Some((name_of(&path)?, path))).collect();
        found.sort();
        found
    }

    fn path(&self, name: &str) -> Result<PathBuf, AskError> {
        let found = match &self.root {
            None => {
                self.given.iter().find(|(other, _)| other == name).map(|(_, path)| path.clone())
            }
            Some(root) => {
                let path = root.join(name);
                (is_name(name) && path.join(MARK).is_file()).then_some(path)
            }
        };
        found.ok_or(AskError::NoCollection)
    }

    fn resting(&self, name: &str) -> Arc<Resting> {
        lock(&self.resting).entry(name.to_owned()).or_default().clone()
    }

    fn view(&self, name: &str, path: &Path) -> CollectionView {
        let known = self.supervisor().and_then(|supervisor| supervisor.state(name));
        let (state, message) = known.unwrap_or((RunState::Stopped, None));
        let is_elsewhere = state == RunState::Stopped && control::answers(path);
        CollectionView {
            name: name.to_owned(),
            path: path.display().to_string(),
            state: if is_elsewhere { RunState::Running } else { state },
            supervised: state != RunState::Stopped,
            message,
        }
    }

    fn make(&self, root: &Path, name: &str, asked: &NewCollection) -> anyhow::Result<()> {
        let path = root.join(name);
        if path.exists() {
            let why = format!("there is something called {name} already; choose another name");
            return Err(exit::Failure::usage(why));
        }
        let made = begin(&path, asked);
        if made.is_err() {
            // Nobody but us has put anything there.
            let _ = std::fs::remove_dir_all(&path);
        }
        made
    }
}

/// Makes a data directory with its configuration and its first seeds.
fn begin(path: &Path, asked: &NewCollection) -> anyhow::Result<()> {
    let common = common(path);
    let dir = take(path, DataDir::open_or_create)?;
    std::fs::write(path.join("evercrawl.toml"), init::template(asked.contact.as_deref(), None))?;
    let mut settings = crawl_config::settings(&common, None)?;
    for (key, value) in [("crawl.scope", &asked.scope), ("budget.rate", &asked.budget)] {
        if let Some(value) = value {
            settings.set(key, vec![value.clone()], Origin::Flag)?;
        }
    }
    crawl_config::crawl_config(&settings, &crate::args::RunArgs::default())?;
    settings.remember(&crawl_config::remembered(path))?;
    let seeds = evercrawl_query::AddRequest { urls: asked.seeds.clone(), tags: asked.tags.clone() };
    add::stopped(&seeds, &dir, &common).map(drop)
}

/// Closes directories that nobody asks about, until the home is gone.
fn tidy(home: &Weak<Home>) {
    // Nobody ever sends.
    let (_never, never) = mpsc::channel::<()>();
    while let Some(home) = home.upgrade() {
        let all: Vec<Arc<Resting>> = lock(&home.resting).values().cloned().collect();
        drop(home);
        all.iter().for_each(|resting| resting.close_when_idle());
        let _ = never.recv_timeout(TICK);
    }
}

impl Collections for Home {
    fn list(&self) -> Vec<CollectionView> {
        self.all().iter().map(|(name, path)| self.view(name, path)).collect()
    }

    fn process(&self) -> Option<CrawlProcessView> {
        self.supervisor().map(|supervisor| supervisor.process())
    }

    fn ask(&self, name: &str, request: Request, part: &mut Parts<'_>) -> Result<(), AskError> {
        let path = self.path(name)?;
        let mut show = |answer: Answer| match part(answer) {
            Flow::More => Ok(()),
            Flow::Enough => Err(Enough.into()),
        };
        match control::call(&path, &request, &mut show) {
            Ok(Some(())) => return Ok(()),
            Ok(None) => {}
            Err(error) if error.downcast_ref::<Enough>().is_some() => return Ok(()),
            Err(error) => return Err(failed(&error).into()),
        }
        let known = self.supervisor().and_then(|supervisor| supervisor.state(name));
        if let Some((RunState::Starting | RunState::Stopping, _)) = known {
            return Err(busy("the crawl is starting or stopping; ask again in a moment").into());
        }
        let resting = self.resting(name);
        let asked = resting.ask(&path, &request, &mut show);
        if known.is_some() && self.is_wanted(name) {
            // A crawl is about to begin here again.
            resting.close();
        }
        Ok(asked?)
    }

    fn start(&self, name: &str) -> Result<(), AskError> {
        let path = self.path(name)?;
        let Some(supervisor) = self.supervisor() else {
            return Err(unsupervised().into());
        };
        self.want(name, true)?;
        self.resting(name).close();
        supervisor.run(name, &path);
        Ok(())
    }

    fn stop(&self, name: &str) -> Result<(), AskError> {
        self.path(name)?;
        let Some(supervisor) = self.supervisor() else {
            return Err(unsupervised().into());
        };
        self.want(name, false)?;
        supervisor.stop(name);
        Ok(())
    }

    fn create(&self, asked: &NewCollection) -> Result<CollectionView, AskError> {
        let Some(root) = &self.root else {
            let why = "this server serves the directories given with --data; start it with --home \
                       to make collections";
            return Err(refused(why).into());
        };
        let name = asked.name.clone().or_else(|| preview::name_for(asked));
        let name = name.unwrap_or_else(|| "crawl".to_owned());
        if !is_name(&name) {
            let why = format!(
                "`{name}` is not a name; use up to 64 letters, digits, dots, dashes and underscores"
            );
            return Err(refused(&why).into());
        }
        self.make(root, &name, asked).map_err(|error| failed(&error))?;
        if asked.start && self.supervisor().is_some() {
            self.start(&name)?;
        }
        Ok(self.view(&name, &root.join(&name)))
    }

    fn preview(&self, asked: &NewCollection) -> Result<Vec<SeedPreview>, AskError> {
        Ok(preview::preview(asked).map_err(|error| failed(&error))?)
    }

    fn settings(&self, name: &str) -> Result<serde_json::Value, AskError> {
        let common = crate::args::Common { set: Vec::new(), ..common(&self.path(name)?) };
        let settings = crawl_config::settings(&common, None).map_err(|error| failed(&error))?;
        Ok(serde_json::Value::Array(config::lines(&settings)))
    }

    fn push_keys(&self, name: &str) -> Result<PushKeys, AskError> {
        let settings = crawl_config::settings(&common(&self.path(name)?), None);
        let settings = settings.map_err(|error| failed(&error))?;
        let word = |name| settings.items(name).first().cloned();
        Ok(PushKeys { token: word("push.token"), secret: word("push.secret") })
    }
}

fn refused(why: &str) -> Failed {
    Failed { kind: FailureKind::BadRequest, message: why.to_owned() }
}

fn unsupervised() -> Failed {
    refused("this server was started with --no-crawl; run `evercrawl crawl --data DIR` beside it")
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
