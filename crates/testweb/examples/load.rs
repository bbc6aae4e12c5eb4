//! How fast is the test web? Calls pages over kept connections and prints requests a second and CPU a request.
//!
//! ```text
//! cargo run --release -p evercrawl-testweb --example load -- [preset] [page_bytes] [requests] [threads] [log file]
//! ```
//! CPU is that of the server's threads alone, read from Linux's `/proc`.

// A measuring program: it reads the clock and prints what it measured.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use evercrawl_testweb::{
    PageId, ServeConfig, TestServer, World, WorldAnswer, WorldConfig, WorldRequest, serve,
};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::spawn;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).map(String::as_str);
    let mut config = WorldConfig::preset(argument(0).unwrap_or("bench")).ok_or("no such preset")?;
    if let Some(bytes) = argument(1).and_then(|bytes| bytes.parse().ok()).filter(|&bytes| bytes > 0)
    {
        config = WorldConfig { page_bytes: bytes, anchors: 0, ..config };
    }
    let requests: u32 = argument(2).unwrap_or("100000").parse()?;
    let threads = argument(3).unwrap_or("1").parse()?;
    let serving =
        ServeConfig { threads, access_log: argument(4).map(Into::into), ..ServeConfig::default() };
    let server = serve(World::new(config), serving)?;

    let targets = targets(server.world());
    println!("{:.1} us to compute an answer", compute_us(server.world(), &targets));
    let (started, cpu_before) = (Instant::now(), server_cpu_ns()?);
    let callers: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let (address, targets) = (server.addr(), targets.clone());
            spawn(move || call(address, &targets, number, requests / CONNECTIONS))
        })
        .collect();
    let mut bytes = 0;
    for caller in callers {
        bytes += caller.join().map_err(|_| "a caller broke down")??;
    }
    report(&server, requests, bytes, started, cpu_before)
}

const CONNECTIONS: u32 = 8;

fn targets(world: &World) -> Vec<(String, String)> {
    let pages = (0..world.config().hosts)
        .flat_map(|host| (0..10).map(move |slot| PageId::first(host, slot)));
    pages.map(|page| (world.host_name(page.host), world.path(page))).collect()
}

/// Mean time of computing an answer without any socket.
fn compute_us(world: &World, targets: &[(String, String)]) -> f64 {
    let (started, mut answer) = (Instant::now(), WorldAnswer::new());
    for (authority, target) in targets {
        let request = WorldRequest { authority, target, ..WorldRequest::default() };
        world.answer(&request, world.config().origin_ms, 1, &mut answer);
    }
    started.elapsed().as_secs_f64() * 1e6 / targets.len() as f64
}

/// Calls one page after another; answers the bytes of all bodies.
fn call(
    address: SocketAddr,
    targets: &[(String, String)],
    first: u32,
    count: u32,
) -> io::Result<u64> {
    let mut stream = BufReader::with_capacity(64 * 1024, TcpStream::connect(address)?);
    stream.get_ref().set_nodelay(true)?;
    let (mut line, mut body, mut bytes) = (String::new(), Vec::new(), 0);
    for number in 0..count {
        let (host, path) = &targets[(number * CONNECTIONS + first) as usize % targets.len()];
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: load\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes())?;
        let mut length = 0;
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            match line.strip_prefix("Content-Length: ") {
                Some(value) => length = value.trim().parse().unwrap_or(0),
                None if line == "\r\n" => break,
                None => {}
            }
        }
        body.resize(length, 0);
        stream.read_exact(&mut body)?;
        bytes += length as u64;
    }
    Ok(bytes)
}

fn report(
    server: &TestServer,
    requests: u32,
    bytes: u64,
    started: Instant,
    cpu_before: u64,
) -> Result<(), Box<dyn Error>> {
    let seconds = started.elapsed().as_secs_f64();
    let cpu_us = (server_cpu_ns()? - cpu_before) as f64 / 1000.0 / f64::from(requests);
    let rate = f64::from(requests) / seconds;
    let mean = bytes / u64::from(requests);
    println!(
        "{requests} requests to {} in {seconds:.2} s: {rate:.0} a second, mean body {mean} bytes",
        server.addr()
    );
    println!("{cpu_us:.1} us of server CPU a request");
    Ok(())
}

/// Processor time of the server's threads so far, user and system.
fn server_cpu_ns() -> io::Result<u64> {
    let mut total = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let path = task?.path();
        if std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("testweb"))
        {
            let times = std::fs::read_to_string(path.join("schedstat"))?;
            total += times.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    Ok(total)
}
