//! `evercrawl serve`: runs crawls, and shows them in a browser and over an HTTP API.
//!
//! - `config`: what does serve.toml say?
//! - `home`: which collections are there, and who answers for each?
//! - `preview`: how do seeds look before anything is crawled?
//! - `resting`: how is a collection read that nobody crawls?

mod config;
mod home;
mod preview;
mod resting;

use std::fs::{File, TryLockError};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use evercrawl_httpd::{Bounds, Hosts, Server};
use evercrawl_serve::{App, Keyring, Supervisor};

use super::crawl::on_signals;
use crate::args::ServeArgs;
use crate::exit::{self, Failure};
use crate::print;
use config::ServeConfig;
use home::Home;

/// Where the server keeps its own files: tokens, and which collections run.
const FILES: &str = ".serve";

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<u8> {
    let place = args.data.first().unwrap_or(&args.home);
    if !place.is_dir() {
        let shown = place.display();
        return Err(Failure::usage(format!("{shown} is not a directory; create it first")));
    }
    let config = ServeConfig::read(&place.join("serve.toml"), args)?;
    let files = place.join(FILES);
    let _lock = lock(&files)?;
    let listener = listen(&config)?;
    let port = listener.local_addr()?.port();
    let keyring = Keyring::open(&files, port, config.behind_tls)
        .map_err(|error| unusable(&files, &error.to_string()))?;
    let address = format!("http://{}/?token={}", listener.local_addr()?, keyring.first());
    let supervisor = match args.no_crawl {
        true => None,
        false => Some(Supervisor::start(Box::new(crawl_process(config.budget.clone())?))?),
    };
    let home = Arc::new(Home::open(args, files, supervisor)?);
    let app = Arc::new(App::new(home.clone(), keyring));
    let hosts = Hosts::Listed { port, names: config.hosts };
    let server = Server::start(listener, Bounds::default(), hosts, app.clone())?;
    writeln!(print::data(), "{address}")?;
    home.begin();
    wait_for_signals(&home)?;
    app.close();
    server.stop();
    home.end();
    Ok(exit::OK)
}

/// The command that runs the crawl process: this program.
fn crawl_process(
    budget: Option<String>,
) -> anyhow::Result<impl Fn() -> std::process::Command + Send + 'static> {
    let program = std::env::current_exe()?;
    Ok(move || {
        let mut command = std::process::Command::new(&program);
        command.arg("crawl-process");
        if let Some(rate) = &budget {
            command.args(["--budget", rate]);
        }
        command
    })
}

/// Returns at the first Ctrl-C or polite kill. Crawls then finish what is in flight; another one does not wait for it.
fn wait_for_signals(home: &Arc<Home>) -> anyhow::Result<()> {
    let (asked, asks) = mpsc::channel();
    let stopping = home.clone();
    on_signals(move |times| {
        if times == 1 {
            eprintln!("\nFinishing requests in flight; press Ctrl-C again to stop now");
        }
        stopping.ask_to_end();
        let _ = asked.send(());
    });
    Ok(asks.recv()?)
}

fn listen(config: &ServeConfig) -> anyhow::Result<TcpListener> {
    let address = config.listen;
    if !address.ip().is_loopback() && !config.behind_tls {
        return Err(Failure::config(format!(
            "{address} can be reached from other machines, and tokens must not cross a network \
             unencrypted; listen on 127.0.0.1 behind a proxy with TLS, and set `tls = \"proxy\"` \
             in serve.toml"
        )));
    }
    TcpListener::bind(address).map_err(|error| {
        let message = format!(
            "cannot listen on {address}: {error}; stop what listens there, or use another port \
             with --listen"
        );
        Failure { code: exit::UNEXPECTED, message }.into()
    })
}

/// One server in a place at a time: it keeps tokens there.
fn lock(files: &Path) -> anyhow::Result<File> {
    std::fs::create_dir_all(files).map_err(|error| unusable(files, &error.to_string()))?;
    let path = files.join("lock");
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(|error| unusable(&path, &error.to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(unusable(files, "another `evercrawl serve` runs here"))
        }
        Err(TryLockError::Error(error)) => Err(unusable(&path, &error.to_string())),
    }
}

fn unusable(path: &Path, why: &str) -> anyhow::Error {
    Failure { code: exit::STORAGE, message: format!("{}: {why}", path.display()) }.into()
}

/// The name of a collection in a directory of this name, where it can be one in an address.
fn name_of(path: &Path) -> Option<String> {
    let whole: PathBuf = path.canonicalize().ok()?;
    let name = whole.file_name()?.to_str()?.to_owned();
    is_name(&name).then_some(name)
}

/// Letters, digits, dots, dashes and underscores, up to 64, not beginning with a dot or dash.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with(['.', '-'])
}
