//! Which addresses does this name have?
//!
//! One table of names stands above the name servers. It asks once for all who wait, remembers what
//! it heard, also that there was nothing, and asks again in the background before an answer that is
//! still in use runs out.

mod table;
mod upstream;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tracing::debug;

pub(crate) use self::table::DnsAnswer;
use self::table::{AnswerTable, TableLookup};
use self::upstream::Upstream;
use crate::addr::literal_address;
use crate::config::FetchConfigError;
use crate::failure::DnsFailure;

/// How names are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsSettings {
    /// Who is asked.
    pub servers: NameServers,
    /// How long a name server has for one try.
    pub try_timeout: Duration,
    /// How often one lookup is tried.
    pub tries: u8,
    /// The least an address is kept.
    pub min_ttl: Duration,
    /// The most an address is kept.
    pub max_ttl: Duration,
    /// The most it is remembered that a name does not exist.
    pub negative_ttl: Duration,
    /// How long it is remembered that the name servers failed; also the least for negative answers.
    pub failure_ttl: Duration,
    /// How many names are remembered.
    pub capacity: usize,
}

impl Default for DnsSettings {
    fn default() -> Self {
        DnsSettings {
            servers: NameServers::FromSystem,
            try_timeout: Duration::from_secs(3),
            tries: 2,
            min_ttl: Duration::from_secs(5 * 60),
            max_ttl: Duration::from_secs(24 * 60 * 60),
            negative_ttl: Duration::from_secs(10 * 60),
            failure_ttl: Duration::from_secs(30),
            capacity: 100_000,
        }
    }
}

/// Who is asked for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameServers {
    /// The name servers that the system is set up with; its own resolver if that cannot be read.
    FromSystem,
    /// The system's own resolver: slower, one thread a lookup, but it sees all the system sees.
    SystemResolver,
    /// These.
    These(Vec<SocketAddr>),
}

/// Looks names up, once for all who wait.
#[derive(Debug)]
pub(crate) struct Resolver {
    settings: DnsSettings,
    upstream: Upstream,
    table: Mutex<AnswerTable>,
    flights: Mutex<HashMap<Box<str>, PendingLookup>>,
}

/// A lookup under way, and what will come of it.
type PendingLookup = watch::Receiver<Option<DnsAnswer>>;

impl Resolver {
    pub(crate) fn new(settings: DnsSettings) -> Result<Arc<Self>, FetchConfigError> {
        Ok(Arc::new(Resolver {
            upstream: Upstream::new(&settings)?,
            settings,
            table: Mutex::default(),
            flights: Mutex::default(),
        }))
    }

    /// The addresses of a host that is a literal address or this machine.
    pub(crate) fn answer_without_dns(host: &str) -> Option<Arc<[IpAddr]>> {
        answer_without_dns(host)
    }

    /// The answer for `host`, when it can be given without waiting.
    pub(crate) fn cached_answer(self: &Arc<Self>, host: &str) -> Option<DnsAnswer> {
        if let Some(addresses) = answer_without_dns(host) {
            return Some(Ok(addresses));
        }
        let found = lock(&self.table).find(host, Instant::now());
        match found {
            TableLookup::Fresh(answer) => Some(answer),
            TableLookup::Aging(answer) => {
                self.start_lookup(host);
                Some(answer)
            }
            TableLookup::Nothing => None,
        }
    }

    /// The answer for `host`. The query continues when the caller stops waiting.
    pub(crate) async fn lookup(self: &Arc<Self>, host: &str) -> DnsAnswer {
        if let Some(answer) = self.cached_answer(host) {
            return answer;
        }
        let mut flight = self.start_lookup(host);
        let landed = flight.wait_for(Option::is_some).await;
        let answer = landed.ok().and_then(|answer| answer.clone());
        answer.unwrap_or_else(|| Err(DnsFailure::Temporary("the lookup was given up".to_owned())))
    }

    /// Joins the lookup of `host` that is under way, or starts one.
    fn start_lookup(self: &Arc<Self>, host: &str) -> PendingLookup {
        let mut flights = lock(&self.flights);
        if let Some(flight) = flights.get(host)
            && flight.has_changed().is_ok()
        {
            return flight.clone();
        }
        let (landing, flight) = watch::channel(None);
        flights.insert(host.into(), flight.clone());
        tokio::spawn(Arc::clone(self).run_lookup(host.into(), landing));
        flight
    }

    async fn run_lookup(
        self: Arc<Self>,
        host: Box<str>,
        landing: watch::Sender<Option<DnsAnswer>>,
    ) {
        let (news, ttl) = self.upstream.look_up(&host).await;
        match &news {
            Ok(addresses) => debug!(%host, addresses = addresses.len(), ?ttl, "name resolved"),
            Err(error) => debug!(%host, %error, "name not resolved"),
        }
        let now = Instant::now();
        let answer = lock(&self.table).learn(&host, news, ttl, &self.settings, now);
        lock(&self.flights).remove(&host);
        landing.send_replace(Some(answer));
    }
}

/// The addresses of a host that needs no name server: a literal address, or this machine.
fn answer_without_dns(host: &str) -> Option<Arc<[IpAddr]>> {
    if let Some(ip) = literal_address(host) {
        return Some(Arc::from([ip]));
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let top = name.rsplit('.').next().unwrap_or(name);
    top.eq_ignore_ascii_case("localhost")
        .then(|| Arc::from([IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()]))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
