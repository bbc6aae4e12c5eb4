//! Which data directory does a message speak of, where several are crawled?

use std::path::Path;

/// What messages of one data directory begin with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label(Option<String>);

impl Label {
    /// Names a directory, for a process that crawls several.
    pub(super) fn of(dir: &Path) -> Self {
        Label(Some(dir.display().to_string()))
    }

    /// Whether several directories are crawled.
    pub(super) fn is_one_of_several(&self) -> bool {
        self.0.is_some()
    }

    /// A line that begins with the directory, where there are several.
    pub(super) fn line(&self, text: &str) -> String {
        match &self.0 {
            Some(dir) => format!("{dir}: {text}"),
            None => text.to_owned(),
        }
    }

    /// Tells the user something on standard error.
    pub(super) fn print(&self, text: &str) {
        eprintln!("{}", self.line(text));
    }
}
