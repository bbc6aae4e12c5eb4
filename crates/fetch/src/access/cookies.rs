//! Which cookies does a crawl have now?

use std::sync::{Mutex, MutexGuard, PoisonError};

use evercrawl_cookies::{CookieHeader, Jar, RejectedCookie};
use rustls::pki_types::UnixTime;
use url::Url;

/// The cookies of one crawl, shared by its requests and by who keeps them on disk.
#[derive(Debug)]
pub struct Cookies(Mutex<Jar>);

impl Cookies {
    /// Begins with what `jar` holds.
    pub fn new(jar: Jar) -> Self {
        Cookies(Mutex::new(jar))
    }

    /// Calls `act` with the jar and the time in seconds since 1970.
    pub fn with<T>(&self, act: impl FnOnce(&mut Jar, i64) -> T) -> T {
        act(&mut self.lock(), Self::now())
    }

    /// The time in seconds since 1970, by which cookies expire.
    pub fn now() -> i64 {
        i64::try_from(UnixTime::now().as_secs()).unwrap_or(i64::MAX)
    }

    pub(crate) fn header(&self, url: &Url) -> Option<CookieHeader> {
        self.with(|jar, now| jar.header(url, now))
    }

    pub(crate) fn store(&self, url: &Url, set_cookie: &[u8]) -> Result<(), RejectedCookie> {
        self.with(|jar, now| jar.store(url, set_cookie, now))
    }

    fn lock(&self) -> MutexGuard<'_, Jar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
