//! How are pages loaded? Some connections on one thread, each asking for the next URL of a list
//! that grows as links are found.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::LocalSet;
use url::{Position, Url};

use crate::work::{Next, Totals, Work};

/// Loads every page of one host that links lead to.
pub(crate) struct Loader {
    host: String,
    address: String,
    work: RefCell<Work>,
    /// Told when the list has grown, and at the end.
    changed: Notify,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

impl Loader {
    pub(crate) fn new(seed: &Url, address: &str, work: Work) -> Rc<Self> {
        Rc::new(Loader {
            host: seed[Position::BeforeHost..Position::AfterPort].to_owned(),
            address: address.to_owned(),
            work: RefCell::new(work),
            changed: Notify::new(),
        })
    }

    /// Loads everything; returns what was done and the URLs that were loaded.
    pub(crate) async fn run(self: Rc<Self>, connections: usize) -> Outcome<(Totals, Vec<String>)> {
        let local = LocalSet::new();
        let load = |_| {
            let loader = self.clone();
            local.spawn_local(async move { loader.load().await })
        };
        let tasks: Vec<_> = (0..connections).map(load).collect();
        let all = async {
            for task in tasks {
                task.await??;
            }
            Ok(self.work.borrow_mut().finish())
        };
        local.run_until(all).await
    }

    /// One connection: loads pages until none is left.
    async fn load(&self) -> Outcome<()> {
        let mut sender = self.connect().await?;
        while let Some(url) = self.next_url().await {
            let body = match self.ask(&mut sender, &url).await {
                Ok(body) => body,
                // A server may close a connection whenever it likes.
                Err(_) => {
                    sender = self.connect().await?;
                    self.ask(&mut sender, &url).await?
                }
            };
            self.work.borrow_mut().take(&url, &body);
            self.changed.notify_waiters();
        }
        Ok(())
    }

    async fn connect(&self) -> Outcome<SendRequest<Empty<Bytes>>> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::task::spawn_local(connection);
        Ok(sender)
    }

    async fn ask(&self, sender: &mut SendRequest<Empty<Bytes>>, url: &Url) -> Outcome<Bytes> {
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let request = Request::get(path).header(HOST, &self.host).body(Empty::new())?;
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        Ok(response.into_body().collect().await?.to_bytes())
    }

    async fn next_url(&self) -> Option<Url> {
        loop {
            let changed = self.changed.notified();
            match self.work.borrow_mut().next() {
                Next::Url(url) => return Some(url),
                Next::Over => return None,
                Next::Wait => {}
            }
            changed.await;
        }
    }
}
