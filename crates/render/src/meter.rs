//! How much CPU does each page use, of one browser for all?

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::lock;
use crate::process::{GroupUsage, Process};

/// How old a sample of its usage may be.
const SAMPLE: Duration = Duration::from_millis(100);

/// How much each page uses: what all processes used since the last sample is divided among the pages that run.
#[derive(Debug)]
pub(crate) struct Meter(Mutex<Sampled>);

#[derive(Debug)]
struct Sampled {
    process: Process,
    last: GroupUsage,
    at: Option<Instant>,
    running: HashMap<u64, Duration>,
}

impl Meter {
    pub(crate) fn new(process: Process) -> Self {
        let (last, running) = (GroupUsage::default(), HashMap::new());
        Meter(Mutex::new(Sampled { process, last, at: None, running }))
    }

    /// A page begins to run in this tab.
    pub(crate) fn begin(&self, tab: u64) {
        let mut sampled = lock(&self.0);
        sampled.divide();
        sampled.running.insert(tab, Duration::ZERO);
    }

    /// The CPU of this tab's page so far, and the memory of all.
    pub(crate) fn sample(&self, tab: u64) -> (Duration, u64) {
        let mut sampled = lock(&self.0);
        if sampled.at.is_none_or(|at| at.elapsed() >= SAMPLE) {
            sampled.divide();
        }
        (sampled.running.get(&tab).copied().unwrap_or_default(), sampled.last.memory)
    }

    /// The page in this tab has ended; what did it use?
    pub(crate) fn end(&self, tab: u64) -> Duration {
        let mut sampled = lock(&self.0);
        sampled.divide();
        sampled.running.remove(&tab).unwrap_or_default()
    }

    pub(crate) fn memory(&self) -> u64 {
        lock(&self.0).last.memory
    }

    pub(crate) fn kill(&self) {
        lock(&self.0).process.kill();
    }
}

impl Sampled {
    fn divide(&mut self) {
        let now = self.process.usage();
        let used = now.cpu.saturating_sub(self.last.cpu);
        if let Ok(count) = u32::try_from(self.running.len())
            && count > 0
        {
            self.running.values_mut().for_each(|cpu| *cpu += used / count);
        }
        self.last = now;
        self.at = Some(Instant::now());
    }
}
