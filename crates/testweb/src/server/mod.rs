//! The half with sockets: how does a world get served, measured and stopped?

mod access_log;
mod clock;
mod connection;
mod control;
mod hostile;
mod limits;
mod request;
mod stats;

pub(crate) use access_log::LogLine;
pub use hostile::{TROUBLES, Trouble};

use crate::World;
use access_log::AccessLog;
use clock::ServerClock;
use limits::RateLimits;
use stats::Stats;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

/// How to serve a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeConfig {
    /// Addresses to listen on; port 0 takes a free one.
    pub listen: Vec<SocketAddr>,
    /// Number of threads that serve connections.
    pub threads: usize,
    /// File that receives one JSON line a request.
    pub access_log: Option<PathBuf>,
    /// File that receives the truth about all pages, as JSON Lines, when the server stops.
    pub truth: Option<PathBuf>,
    /// Also serve a host for each of [`TROUBLES`].
    pub hostile: bool,
}

impl Default for ServeConfig {
    fn default() -> Self {
        ServeConfig {
            listen: vec![(Ipv4Addr::LOCALHOST, 0).into()],
            threads: 1,
            access_log: None,
            truth: None,
            hostile: false,
        }
    }
}

/// Why a world cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address is taken or not ours.
    #[error("cannot listen on {address}: {source}; use another address")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Threads or event queues are exhausted.
    #[error("cannot start the server: {0}")]
    Start(#[from] io::Error),
}

/// A world being served. Stops when dropped; [`TestServer::shutdown`] also reports what went wrong on the way out.
#[derive(Debug)]
pub struct TestServer {
    shared: Arc<Shared>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
    truth: Option<PathBuf>,
}

/// What all connections have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    world: World,
    clock: ServerClock,
    limits: RateLimits,
    stats: Stats,
    nonces: AtomicU64,
    log: Option<AccessLog>,
    hostile: bool,
}

impl Shared {
    fn new(world: World, log: Option<AccessLog>, hostile: bool) -> Self {
        let clock = ServerClock::start();
        // Starts from the current time, so that a restarted server does not repeat earlier values.
        let nonces = AtomicU64::new(clock.now_us());
        let (limits, stats) = (RateLimits::default(), Stats::default());
        Shared { world, clock, limits, stats, nonces, log, hostile }
    }

    /// The hostile case of a host, if such hosts are served.
    fn trouble(&self, host: &str) -> Option<&'static Trouble> {
        Trouble::of(host, &self.world.config().suffix).filter(|_| self.hostile)
    }

    /// A number that is another at every call.
    fn nonce(&self) -> u64 {
        self.nonces.fetch_add(1, Ordering::Relaxed)
    }
}

/// Serves a world until the handle is shut down or dropped.
///
/// The Host header selects the host, so a caller that connects every name to one address sees the whole world; so does
/// one
/// that takes the server for its HTTP proxy.
pub fn serve(world: World, config: ServeConfig) -> Result<TestServer, Error> {
    let listeners =
        config.listen.iter().map(|&address| listen(address)).collect::<Result<Vec<_>, _>>()?;
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
    let log = config.access_log.as_deref().map(open_log).transpose()?;
    let shared = Arc::new(Shared::new(world, log, config.hostile));
    let (stop, stopped) = watch::channel(false);
    let (mut workers, mut threads) = (Vec::new(), Vec::new());
    for number in 0..config.threads.max(1) {
        let (worker, thread) = start_worker(number, stopped.clone())?;
        workers.push(worker);
        threads.push(thread);
    }
    let server = TestServer { shared, addresses, stop, threads, truth: config.truth };
    for (listener, accepting) in listeners.into_iter().zip(workers.iter().cycle()) {
        accepting.spawn(accept(listener, Arc::clone(&server.shared), workers.clone()));
    }
    Ok(server)
}

impl TestServer {
    /// The first address that is listened on.
    pub fn addr(&self) -> SocketAddr {
        self.addresses.first().copied().unwrap_or((Ipv4Addr::LOCALHOST, 0).into())
    }

    /// All addresses that are listened on.
    pub fn addrs(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The world that is served.
    pub fn world(&self) -> &World {
        &self.shared.world
    }

    /// The moment that the server now takes it to be, in Unix milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.shared.clock.now_ms()
    }

    /// Aborts what is in flight, completes the access log and writes the truth.
    pub fn shutdown(mut self) -> Result<(), Error> {
        self.stop_threads();
        if let Some(log) = &self.shared.log {
            log.close().map_err(|source| Error::File { path: log.path().to_owned(), source })?;
        }
        match self.truth.take() {
            Some(path) => {
                write_truth(&self.shared, &path).map_err(|source| Error::File { path, source })
            }
            None => Ok(()),
        }
    }

    fn stop_threads(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing more to stop.
            let _ = thread.join();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop_threads();
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    let listener =
        TcpListener::bind(address).map_err(|source| Error::Listen { address, source })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn open_log(path: &Path) -> Result<AccessLog, Error> {
    AccessLog::create(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Starts a thread with an event loop of its own, so that a connection never moves between processors.
fn start_worker(
    number: usize,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<(Handle, JoinHandle<()>)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let thread =
        std::thread::Builder::new().name(format!("testweb-{number}")).spawn(move || {
            // An error means that the server is gone, which is also a reason to stop.
            let _ = runtime.block_on(stopped.wait_for(|&stop| stop));
        })?;
    Ok((handle, thread))
}

/// Accepts connections and deals them out to the workers in turn.
async fn accept(listener: TcpListener, shared: Arc<Shared>, workers: Vec<Handle>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    for worker in workers.iter().cycle() {
        let stream = loop {
            match listener.accept().await.and_then(|(stream, _)| stream.into_std()) {
                Ok(stream) => break stream,
                // Usually too many open files; some will be closed.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            }
        };
        worker.spawn(connection::serve_connection(Arc::clone(&shared), stream));
    }
}

fn write_truth(shared: &Shared, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    shared.world.write_truth(&mut file, shared.clock.now_ms())?;
    file.flush()
}
