//! How do the cookies of a crawl outlive it?

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_fetch::{Access, Cookies, Jar, JarLimits};

use crate::EngineError;
use crate::data_dir::replace_secret_file;

/// Where the cookies of a data directory are kept.
pub fn path_in(dir: &Path) -> PathBuf {
    dir.join("cookies")
}

/// The jar of a data directory; an empty one where none was kept.
pub fn read(dir: &Path) -> Result<Jar, EngineError> {
    let path = path_in(dir);
    match std::fs::read(&path) {
        Ok(text) => Jar::read_file(&text, JarLimits::default(), Cookies::now()).map_err(|error| {
            let path = path.display();
            EngineError::Config(format!("{path}, {error}; mend or remove the file"))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Jar::new(JarLimits::default())),
        Err(source) => Err(EngineError::Io { doing: "read", path, source }),
    }
}

/// Keeps a crawl's cookies on disk as they change.
pub(crate) struct CookieFile {
    path: PathBuf,
    cookies: Arc<Cookies>,
    /// The jar's revision that is on disk.
    saved: Option<u64>,
}

impl CookieFile {
    /// `None` where the crawl has no cookies, or does not keep them.
    pub(crate) fn of(access: &Access, path: Option<&Path>) -> Option<Self> {
        let cookies = Arc::clone(access.cookies()?);
        Some(CookieFile { path: path?.to_owned(), cookies, saved: None })
    }

    /// Writes the jar where it differs from what is on disk.
    pub(crate) fn save(&mut self) -> Result<(), EngineError> {
        let (revision, text) = self.cookies.with(|jar, now| {
            let revision = jar.revision();
            (revision, (self.saved != Some(revision)).then(|| jar.to_file(now)))
        });
        if let Some(text) = text {
            replace_secret_file(&self.path, &text)?;
            self.saved = Some(revision);
        }
        Ok(())
    }
}
