//! Which filter rules does a crawl have besides its scope, and what can be wrong with them?

use regex::bytes::{RegexSet, RegexSetBuilder};

/// Endings of files that an HTML-first crawler leaves alone: images, sound, film, archives,
/// programs, fonts, office documents and style sheets.
///
/// Scripts (`js`) are not among them: pages about `Node.js` and its like end so too.
pub const DEFAULT_EXTENSIONS: &[&str] = &[
    "3gp", "7z", "aac", "apk", "appimage", "avi", "avif", "bin", "bmp", "bz2", "cab", "css", "dat",
    "deb", "dll", "dmg", "doc", "docx", "dvi", "eot", "eps", "epub", "exe", "flac", "flv", "gif",
    "gz", "heic", "ico", "img", "iso", "jar", "jpe", "jpeg", "jpg", "lz", "lz4", "m4a", "m4v",
    "mid", "mkv", "mobi", "mov", "mp2", "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods", "odt",
    "ogg", "ogv", "opus", "otf", "pdf", "pkg", "png", "ppt", "pptx", "ps", "psd", "ra", "rar",
    "rm", "rpm", "rtf", "sqlite", "svg", "svgz", "swf", "tar", "tbz2", "tgz", "tif", "tiff", "ttf",
    "txz", "wasm", "wav", "webm", "webp", "whl", "wma", "wmv", "woff", "woff2", "xls", "xlsx",
    "xpi", "xz", "zip", "zst",
];

/// The filter rules of a crawl. Patterns match anywhere in the canonical URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRules {
    /// Regular expressions of which at least one must match; an empty list admits everything.
    pub include: Vec<String>,
    /// Regular expressions of which none may match; they win over `include`.
    pub exclude: Vec<String>,
    /// Names of hosts that are never asked, nor their subdomains.
    pub denied_hosts: Vec<String>,
    /// Endings of files that are not fetched, without the dot.
    pub extensions: Vec<String>,
    /// The most links away from a seed; `None` for no limit.
    pub max_depth: Option<u16>,
    /// The longest URL, in bytes.
    pub max_length: usize,
    /// The most segments in a path.
    pub max_segments: usize,
    /// The most parameters in a query.
    pub max_parameters: usize,
    /// Whether paths that go round in circles are refused.
    pub refuse_cycles: bool,
    /// Whether far pages of endless calendars are refused.
    pub refuse_calendars: bool,
}

impl Default for FilterRules {
    fn default() -> Self {
        FilterRules {
            include: Vec::new(),
            exclude: Vec::new(),
            denied_hosts: Vec::new(),
            extensions: DEFAULT_EXTENSIONS.iter().map(|&ending| ending.to_owned()).collect(),
            max_depth: None,
            max_length: 2048,
            max_segments: 24,
            max_parameters: 16,
            refuse_cycles: true,
            refuse_calendars: true,
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A pattern is not a valid regular expression, or is too large.
    #[error("{list} pattern #{number} `{pattern}` cannot be used: {problem}")]
    Pattern {
        /// Which list it is in: `include` or `exclude`.
        list: &'static str,
        /// Its place in the list, from 1.
        number: usize,
        /// The pattern.
        pattern: String,
        /// The error.
        problem: String,
    },
    /// All patterns of a list together are too large.
    #[error("the {list} patterns together are too large; use fewer or simpler ones: {problem}")]
    Patterns {
        /// Which list it is: `include` or `exclude`.
        list: &'static str,
        /// The error.
        problem: String,
    },
    /// A denied host is not a host name.
    #[error("denied host `{0}` is not a host name; write a name such as `ads.example`")]
    Host(String),
}

/// Patterns that match anywhere in a canonical URL, compiled together.
#[derive(Clone, Debug, Default)]
pub struct Patterns(RegexSet);

impl Patterns {
    /// Compiles `patterns`; errors call them by the name of their `list`.
    pub fn new(list: &'static str, patterns: &[String]) -> Result<Self, RuleError> {
        compile(list, patterns).map(Patterns)
    }

    /// Whether any of them matches.
    pub fn is_match(&self, url: &str) -> bool {
        !self.0.is_empty() && self.0.is_match(url.as_bytes())
    }

    /// The places in the list of those that match.
    pub fn matches(&self, url: &str) -> impl Iterator<Item = usize> {
        let matches = (!self.0.is_empty()).then(|| self.0.matches(url.as_bytes()));
        matches.into_iter().flat_map(regex::bytes::SetMatches::into_iter)
    }
}

/// Compiles a list of patterns; canonical URLs are ASCII, so `\d` and `(?i)` need no Unicode.
pub(crate) fn compile(list: &'static str, patterns: &[String]) -> Result<RegexSet, RuleError> {
    for (index, pattern) in patterns.iter().enumerate() {
        let fault = |problem: String| RuleError::Pattern {
            list,
            number: index + 1,
            pattern: pattern.clone(),
            problem,
        };
        if !pattern.is_ascii() {
            return Err(fault("write letters beyond ASCII as URLs do, as in `%C3%A9`".to_owned()));
        }
        set(std::slice::from_ref(pattern)).map_err(|error| fault(error.to_string()))?;
    }
    set(patterns).map_err(|error| RuleError::Patterns { list, problem: error.to_string() })
}

fn set(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(patterns).unicode(false).build()
}
