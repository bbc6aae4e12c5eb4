//! How does one connection go? Request, wait, answer with whatever fault is due, log; and again.

use super::access_log::LogLine;
use super::hostile::{self, wait_for_the_caller_to_leave};
use super::request::{Head, RequestBuffer};
use super::{Shared, control};
use crate::world::{push, push_http_date, push_number};
use crate::{HostClass, HostFault, WorldAnswer, WorldRequest};
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Serves a connection until either side is done with it.
pub(crate) async fn serve_connection(shared: Arc<Shared>, stream: std::net::TcpStream) {
    let Ok(mut stream) = TcpStream::from_std(stream) else { return };
    // Without this an answer in two pieces waits for the caller's delayed acknowledgement. If it fails, all still
    // works.
    let _ = stream.set_nodelay(true);
    if shared.hostile && hostile::wants_keys(&stream).await {
        // Errors of hostile cases are part of the case.
        let _ = hostile::secure(stream, &shared.world.config().suffix).await;
        return;
    }
    let mut inbox = RequestBuffer::default();
    let mut answer = WorldAnswer::new();
    let mut head_out = Vec::new();
    while let Ok(Some(size)) = inbox.fill(&mut stream).await {
        let (head, body) = inbox.parts(size);
        let Some(head) = Head::parse(head) else { return };
        let keep = respond(&shared, &mut stream, &head, body, &mut answer, &mut head_out).await;
        if !matches!(keep, Ok(true)) {
            return;
        }
        inbox.consume(size);
    }
}

/// Answers one request; says whether the connection can serve another.
async fn respond(
    shared: &Shared,
    stream: &mut TcpStream,
    head: &Head<'_>,
    body: &[u8],
    answer: &mut WorldAnswer,
    head_out: &mut Vec<u8>,
) -> io::Result<bool> {
    let start_us = shared.clock.now_us();
    if control::handles(head.target) {
        control::answer(shared, head, body, answer);
        write_head(head_out, answer, head, start_us / 1000);
        send(stream, head_out, &answer.body).await?;
        return Ok(head.keep_alive);
    }
    let mut exchange = RequestLogEntry { shared, head, start_us, class: None, status: 0, bytes: 0 };
    if let Some(trouble) = shared.trouble(head.host) {
        exchange.bytes = trouble.serve_case(stream, head, shared.nonce()).await?;
        return Ok(false);
    }
    answer_from_world(shared, head, start_us, answer);
    exchange.class = answer.class;
    if answer.fault == Some(HostFault::Silent) {
        wait_for_the_caller_to_leave(stream).await?;
        return Ok(false);
    }
    if answer.delay_ms > 0 {
        sleep(Duration::from_millis(u64::from(answer.delay_ms))).await;
    }
    write_head(head_out, answer, head, start_us / 1000);
    exchange.status = answer.status;
    let body = if head.method == "HEAD" { &[] } else { &answer.body[..] };
    match answer.fault.filter(|_| !body.is_empty()) {
        Some(fault) => send_broken(stream, head_out, body, fault, &mut exchange.bytes).await,
        None => {
            send(stream, head_out, body).await?;
            exchange.bytes = body.len() as u64;
            Ok(head.keep_alive)
        }
    }
}

/// Asks the world for its answer, unless the host is being called too fast or in a way that a web does not know.
fn answer_from_world(shared: &Shared, head: &Head<'_>, now_us: u64, answer: &mut WorldAnswer) {
    let now_ms = now_us / 1000;
    let world = &shared.world;
    let limited = world.find_host(head.host).and_then(|id| Some((id, world.host(id).limit?)));
    if let Some((_, limit)) =
        limited.filter(|(id, limit)| shared.limits.too_soon(*id, limit.gap_ms, now_us))
    {
        return world.refuse(&limit, now_ms, answer);
    }
    let request = WorldRequest {
        authority: head.host,
        target: head.target,
        if_none_match: head.if_none_match,
        if_modified_since: head.if_modified_since,
    };
    world.answer(&request, now_ms, shared.nonce(), answer);
    if !matches!(head.method, "GET" | "HEAD") {
        answer.clear();
        answer.set_status(405, "Only GET and HEAD are known here.");
    }
}

fn write_head(out: &mut Vec<u8>, answer: &WorldAnswer, head: &Head<'_>, now_ms: u64) {
    out.clear();
    push(out, "HTTP/1.1 ");
    push_number(out, u64::from(answer.status));
    push(out, reason(answer.status));
    push(out, "Date: ");
    push_http_date(out, now_ms);
    push(out, "\r\n");
    out.extend_from_slice(&answer.headers);
    if answer.status != 304 {
        let short_by = if answer.fault == Some(HostFault::WrongContentLength) { 100 } else { 0 };
        push(out, "Content-Length: ");
        push_number(out, answer.body.len().saturating_sub(short_by) as u64);
        push(out, "\r\n");
    }
    push(out, if head.keep_alive { "\r\n" } else { "Connection: close\r\n\r\n" });
}

/// Sends head and body with as few system calls as the socket lets.
async fn send(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let mut parts = [IoSlice::new(head), IoSlice::new(body)];
    let mut left = &mut parts[..];
    while !left.is_empty() {
        let sent = stream.write_vectored(left).await?;
        if sent == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        IoSlice::advance_slices(&mut left, sent);
    }
    Ok(())
}

/// Sends an answer that breaks on the way, after which the connection is of no more use.
async fn send_broken(
    stream: &mut TcpStream,
    head: &[u8],
    body: &[u8],
    fault: HostFault,
    sent: &mut u64,
) -> io::Result<bool> {
    match fault {
        HostFault::Silent => {}
        HostFault::ResetAfterHeaders => {
            send(stream, head, &[]).await?;
            stream.set_zero_linger()?;
        }
        HostFault::ShortBody => {
            let half = &body[..body.len() / 2];
            send(stream, head, half).await?;
            *sent = half.len() as u64;
        }
        HostFault::WrongContentLength => {
            send(stream, head, body).await?;
            *sent = body.len() as u64;
        }
        HostFault::Drip => {
            send(stream, head, &[]).await?;
            for byte in body {
                stream.write_all(&[*byte]).await?;
                *sent += 1;
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
    Ok(false)
}

/// A request in progress. It is logged when it ends, however it ends: answered, broken off, or stopped with the server.
struct RequestLogEntry<'a> {
    shared: &'a Shared,
    head: &'a Head<'a>,
    start_us: u64,
    class: Option<HostClass>,
    status: u16,
    bytes: u64,
}

impl Drop for RequestLogEntry<'_> {
    fn drop(&mut self) {
        self.shared.stats.count(self.class, self.status);
        let Some(log) = &self.shared.log else { return };
        let name = self.head.host.split(':').next().unwrap_or_default();
        log.record(&LogLine {
            host: name.into(),
            path: self.head.target.into(),
            status: self.status,
            start_us: self.start_us,
            end_us: self.shared.clock.now_us(),
            agent: self.head.agent.into(),
            conditional: self.head.if_none_match.is_some() || self.head.if_modified_since.is_some(),
            bytes: self.bytes,
        });
    }
}

/// The rest of the status line.
fn reason(status: u16) -> &'static str {
    match status {
        200 => " OK\r\n",
        301 => " Moved Permanently\r\n",
        302 => " Found\r\n",
        304 => " Not Modified\r\n",
        307 => " Temporary Redirect\r\n",
        308 => " Permanent Redirect\r\n",
        400 => " Bad Request\r\n",
        404 => " Not Found\r\n",
        405 => " Method Not Allowed\r\n",
        410 => " Gone\r\n",
        413 => " Content Too Large\r\n",
        421 => " Misdirected Request\r\n",
        429 => " Too Many Requests\r\n",
        500 => " Internal Server Error\r\n",
        503 => " Service Unavailable\r\n",
        _ => " Unknown\r\n",
    }
}
