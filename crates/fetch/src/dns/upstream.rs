//! Which name servers are asked about an unknown name?

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::Name;
use tracing::warn;

use super::{DnsAnswer, DnsSettings, NameServers};
use crate::config::FetchConfigError;
use crate::failure::DnsFailure;

/// The most addresses kept of one name.
const MOST_ADDRESSES: usize = 16;

/// Where answers come from.
#[derive(Debug)]
pub(super) struct Upstream {
    source: LookupSource,
    patience: Duration,
}

#[derive(Debug)]
enum LookupSource {
    Servers(Box<TokioResolver>),
    System,
}

impl Upstream {
    pub(super) fn new(settings: &DnsSettings) -> Result<Self, FetchConfigError> {
        let source = match &settings.servers {
            NameServers::SystemResolver => LookupSource::System,
            NameServers::These(servers) => {
                let servers = servers.iter().map(name_server).collect();
                let config = ResolverConfig::from_name_servers(servers);
                servers_source(config, ResolverOpts::default(), settings)?
            }
            NameServers::FromSystem => match hickory_resolver::system_conf::read_system_conf() {
                Ok((config, options)) => servers_source(config, options, settings)?,
                Err(_) => LookupSource::System,
            },
        };
        // Each of the two questions (IPv4, IPv6) has its tries; one more is slack.
        let patience = settings.try_timeout.saturating_mul(u32::from(settings.tries) + 1);
        Ok(Upstream { source, patience })
    }

    /// Asks for `host`, and how long the answer may be kept if it says so. Always comes to an end.
    pub(super) async fn look_up(&self, host: &str) -> (DnsAnswer, Option<Duration>) {
        let asked = async {
            match &self.source {
                LookupSource::Servers(resolver) => ask_servers(resolver, host).await,
                LookupSource::System => (ask_system(host).await, None),
            }
        };
        tokio::time::timeout(self.patience, asked).await.unwrap_or_else(|_| {
            warn!(%host, "no name server answered in time");
            (temporary("no name server answered in time"), None)
        })
    }
}

fn name_server(address: &SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

fn servers_source(
    config: ResolverConfig,
    mut options: ResolverOpts,
    settings: &DnsSettings,
) -> Result<LookupSource, FetchConfigError> {
    // Our table is the one cache: another below it would answer a refresh with the old answer.
    options.cache_size = 0;
    options.timeout = settings.try_timeout;
    options.attempts = usize::from(settings.tries.saturating_sub(1));
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.max_active_requests = 1024;
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    let resolver = builder.build().map_err(|error| FetchConfigError::Dns(error.to_string()))?;
    Ok(LookupSource::Servers(Box::new(resolver)))
}

async fn ask_servers(resolver: &TokioResolver, host: &str) -> (DnsAnswer, Option<Duration>) {
    // Rooted, so that the system's search domains never make another name of it.
    let name = Name::from_ascii(format!("{}.", host.trim_end_matches('.')));
    let Some(name) = name.ok().filter(|name| !name.is_root()) else {
        return (Err(DnsFailure::NotFound), None);
    };
    match resolver.lookup_ip(name).await {
        Ok(found) => addresses(&found),
        Err(NetError::Dns(DnsError::NoRecordsFound(none))) => {
            (Err(DnsFailure::NotFound), none.negative_ttl.map(seconds))
        }
        Err(error) => (temporary(&error.to_string()), None),
    }
}

fn addresses(found: &LookupIp) -> (DnsAnswer, Option<Duration>) {
    let ttl = found.as_lookup().answers().iter().map(|record| record.ttl).min();
    (interleaved(found.iter().collect()), ttl.map(seconds))
}

async fn ask_system(host: &str) -> DnsAnswer {
    match tokio::net::lookup_host((host, 0)).await {
        Ok(found) => interleaved(found.map(|address| address.ip()).collect()),
        Err(error) => Err(system_trouble(error.to_string())),
    }
}

/// The system says only in words whether a name does not exist or could not be looked up.
fn system_trouble(words: String) -> DnsFailure {
    const NO_SUCH_NAME: [&str; 4] =
        ["not known", "does not resolve", "nodename nor servname", "No address associated"];
    if NO_SUCH_NAME.iter().any(|phrase| words.contains(phrase)) {
        DnsFailure::NotFound
    } else {
        DnsFailure::Temporary(words)
    }
}

/// IPv4 and IPv6 in turns, so that few attempts reach both.
fn interleaved(found: Vec<IpAddr>) -> DnsAnswer {
    let (v4, v6): (Vec<IpAddr>, Vec<IpAddr>) = found.into_iter().partition(IpAddr::is_ipv4);
    let longer = v4.len().max(v6.len());
    let pairs = (0..longer).flat_map(|i| [v4.get(i), v6.get(i)]).flatten();
    let addresses: Arc<[IpAddr]> = pairs.copied().take(MOST_ADDRESSES).collect();
    if addresses.is_empty() { Err(DnsFailure::NotFound) } else { Ok(addresses) }
}

fn temporary(reason: &str) -> DnsAnswer {
    Err(DnsFailure::Temporary(reason.to_owned()))
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}
