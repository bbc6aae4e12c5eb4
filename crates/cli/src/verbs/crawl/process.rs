//! The crawl process of `evercrawl serve`: it takes collections over its standard input, and crawls all of them on the
//! threads of one `Services`.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use evercrawl_engine::live::{Services, ServicesConfig, Stopper};
use evercrawl_serve::{CrawlNews, CrawlOrder};
use evercrawl_state::DiskStore;

use super::{Directory, Label, on_signals};
use crate::args::{
    Common, CommonOfSeveral, Crawl, CrawlProcess, CrawlRules, RenderingArgs, RunArgs, Seeds,
};
use crate::settings::Settings;
use crate::{crawl_config, exit, print, units};

/// The collections that are crawled, and how to stop each.
type Stoppers = Arc<Mutex<HashMap<String, Stopper>>>;

/// Does what is ordered until the orders end.
pub(crate) fn run(args: &CrawlProcess) -> anyhow::Result<u8> {
    let stoppers = Stoppers::default();
    let of_signals = stoppers.clone();
    on_signals(move |_| stop_all(&of_signals));
    let services = Services::start(together(args)?)?;
    std::thread::scope(|scope| {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(CrawlOrder::Start { name, data }) => {
                    let stopper = Stopper::default();
                    if lock(&stoppers).insert(name.clone(), stopper.clone()).is_some() {
                        continue;
                    }
                    let (services, stoppers) = (&services, &stoppers);
                    scope.spawn(move || {
                        let news = crawl(&name, &data, services, &stopper);
                        lock(stoppers).remove(&name);
                        tell(&news);
                    });
                }
                Ok(CrawlOrder::Stop { name }) => {
                    lock(&stoppers).get(&name).into_iter().for_each(Stopper::stop);
                }
                Ok(CrawlOrder::End) => stop_all(&stoppers),
                Err(error) => eprintln!("evercrawl: an order is not understood: {error}"),
            }
        }
        stop_all(&stoppers);
    });
    services.stop()?;
    Ok(exit::OK)
}

/// What the collections may do together.
fn together(args: &CrawlProcess) -> anyhow::Result<ServicesConfig> {
    let config = crawl_config::crawl_config(&Settings::defaults(), &RunArgs::default())?;
    let budget = args.budget.as_deref().map(units::rate).transpose();
    Ok(ServicesConfig {
        workers: config.workers,
        are_several: true,
        concurrency: Some(config.limits.concurrency),
        budget: budget.map_err(|error| exit::Failure::usage(format!("--budget: {error}")))?,
        ..Default::default()
    })
}

fn crawl(name: &str, data: &Path, services: &Services<DiskStore>, stopper: &Stopper) -> CrawlNews {
    let (args, common) = quiet(data);
    let label = Label::of(data);
    let directory =
        Directory { args: &args, common: &common, rules: &args.rules, run: &args.run, label };
    let began = || tell(&CrawlNews::Began { name: name.to_owned() });
    let crawled = directory.crawl(&[], services, stopper, began);
    let (code, fault) = match crawled {
        // The disk is nearly full, or all is crawled that may be: not what was asked for.
        Ok(code @ (exit::OK | exit::INTERRUPTED)) => (code, None),
        Ok(code) => (code, Some(exit::meaning(code).to_owned())),
        Err(error) => (exit::code_of(&error), Some(print::complaint(&format!("{error:#}")))),
    };
    CrawlNews::Ended { name: name.to_owned(), code, fault }
}

/// What a crawl without flags has on its command line.
fn quiet(data: &Path) -> (Crawl, Common) {
    let common = Common { data: data.to_owned(), config: None, set: Vec::new() };
    let args = Crawl {
        seeds: Seeds { urls: Vec::new(), seeds: Vec::new(), tag: Vec::new() },
        common: CommonOfSeveral { data: vec![data.to_owned()], config: None, set: Vec::new() },
        rules: CrawlRules::default(),
        rendering: RenderingArgs::default(),
        run: RunArgs::default(),
        push: None,
        json: false,
        quiet: true,
        report: None,
    };
    (args, common)
}

/// News go out whole, one at a time; where nobody listens, the orders will end.
fn tell(news: &CrawlNews) {
    if let Ok(mut line) = serde_json::to_vec(news) {
        line.push(b'\n');
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}

fn stop_all(stoppers: &Stoppers) {
    lock(stoppers).values().for_each(Stopper::stop);
}

fn lock(stoppers: &Stoppers) -> std::sync::MutexGuard<'_, HashMap<String, Stopper>> {
    stoppers.lock().unwrap_or_else(PoisonError::into_inner)
}
