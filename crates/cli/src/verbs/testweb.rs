//! `evercrawl testweb`: an evolving web on loopback.

use std::io::Write;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_testweb::{TestServer, World, WorldOptions, serve};

use crate::args::Testweb;
use crate::exit::Failure;
use crate::{exit, units};

pub(crate) fn run(args: &Testweb) -> anyhow::Result<u8> {
    let time = args.time.as_deref().map(units::duration).transpose();
    let time = time.map_err(|error| Failure::usage(format!("--for: {error}")))?;
    let options = options(args);
    let world = options
        .world(SystemClock.now().millis())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let config = world.config().clone();
    let server = start(world, &options)?;
    let addresses: Vec<String> = server.addrs().iter().map(ToString::to_string).collect();
    println!("{}", addresses.join(" "));
    std::io::stdout().flush()?;
    eprintln!(
        "{} hosts ({} ...) of {} pages; crawl them with --allow-private --connect-to ::{}",
        config.hosts,
        server.world().host_name(0),
        config.pages,
        addresses[0]
    );
    wait(time)?;
    server
        .shutdown()
        .map_err(|error| Failure { code: exit::UNEXPECTED, message: error.to_string() })?;
    Ok(exit::OK)
}

fn options(args: &Testweb) -> WorldOptions {
    WorldOptions {
        preset: Some(args.preset.clone()),
        hosts: args.hosts,
        pages: args.pages,
        seed: args.seed,
        time_scale: args.time_scale,
        listen: args.listen.clone(),
        threads: args.threads,
        truth: args.truth.clone(),
        access_log: args.access_log.clone(),
        hostile: args.hostile,
    }
}

fn start(world: World, options: &WorldOptions) -> anyhow::Result<TestServer> {
    serve(world, options.serve_config())
        .map_err(|error| Failure { code: exit::UNEXPECTED, message: error.to_string() }.into())
}

/// Waits for Ctrl-C, a polite kill, or the time to be over.
fn wait(time: Option<Duration>) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let over = async {
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
            () = over => {}
        }
        Ok(())
    })
}
