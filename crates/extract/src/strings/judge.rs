//! Is this string the address of something that a server has?

/// What is known of a string before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Nothing: any literal of a program, any value of an attribute.
    Bare,
    /// It stands where addresses usually do: `url:`, `data-href=`, `"link":`.
    Named,
    /// A program opens it: `location = `, `fetch(`.
    Opened,
}

/// The longest string that is taken for an address.
const LONGEST: usize = 2048;

/// Endings of documents that a reader opens.
const PAGES: [&str; 22] = [
    "asp", "aspx", "cfm", "cgi", "do", "doc", "docx", "htm", "html", "jsp", "jspx", "odt", "pdf",
    "php", "php5", "phtml", "ppt", "pptx", "shtml", "xhtml", "xls", "xlsx",
];

/// Endings of what pages are made of, and of data.
const PARTS: [&str; 44] = [
    "atom", "avi", "avif", "bmp", "css", "csv", "eot", "epub", "flac", "gif", "gz", "ico", "ics",
    "jpeg", "jpg", "js", "json", "m3u8", "m4a", "m4v", "md", "mjs", "mov", "mp3", "mp4", "mpd",
    "ogg", "ogv", "opus", "otf", "png", "rss", "rtf", "svg", "swf", "tiff", "ttf", "txt", "vtt",
    "wav", "webm", "webp", "woff", "woff2",
];

/// Endings of data and archives that are no media.
const DATA: [&str; 4] = ["wasm", "webmanifest", "xml", "zip"];

/// Where paths of a file system begin that programs name.
const FILE_SYSTEM: [&str; 15] = [
    "bin",
    "dev",
    "etc",
    "home",
    "lib",
    "node_modules",
    "opt",
    "private",
    "proc",
    "root",
    "sys",
    "tmp",
    "users",
    "usr",
    "var",
];

/// Names of formats that look like addresses: nobody fetches them.
const NAMESPACES: [&str; 10] = [
    "www.w3.org/",
    "w3.org/",
    "schema.org",
    "purl.org/",
    "ns.adobe.com/",
    "ogp.me/ns",
    "xmlns.com/",
    "www.sitemaps.org/schemas",
    "schemas.",
    "json-schema.org/",
];

/// Whether a string is an address that is worth a request.
pub(crate) fn is_address(text: &str, context: Context) -> bool {
    if text.len() < 2 || text.len() > LONGEST || !text.bytes().all(is_address_byte) {
        return false;
    }
    if let Some(rest) = after_http(text) {
        return is_absolute(rest);
    }
    if let Some(rest) = text.strip_prefix("//") {
        return rest.contains('/') && is_absolute(rest);
    }
    let (path, query) = split_path(text);
    let clean = !path.contains(':') && !path.contains("//") && !path.contains("...");
    clean && !ends_openly(text) && has_whole_escapes(text) && is_relative(path, query, context)
}

/// Whether a value is plausibly the address of an image or another part of a page.
pub(crate) fn looks_like_media(text: &str) -> bool {
    let rooted = ["/", "./", "../"].iter().any(|start| text.starts_with(start));
    let known = |ending: &str| PARTS.contains(&ending) || PAGES.contains(&ending);
    let is_clean = |byte: u8| byte > b' ' && !matches!(byte, b'{' | b'}' | b'<' | b'>' | b'\\');
    let plausible = text.len() > 1 && text.len() <= LONGEST && text.bytes().all(is_clean);
    plausible
        && (rooted
            || after_http(text).is_some()
            || ending_of(split_path(text).0).is_some_and(|e| known(&e)))
}

/// What an address may consist of, less what patterns and templates are full of.
fn is_address_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b':'
                | b'/'
                | b'?'
                | b'#'
                | b'@'
                | b'&'
                | b'+'
                | b','
                | b';'
                | b'='
                | b'%'
        )
}

fn after_http(text: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let start = text.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
    })
}

/// The path of an address, and its query with what follows.
fn split_path(text: &str) -> (&str, &str) {
    text.split_at(text.find(['?', '#']).unwrap_or(text.len()))
}

/// Whether what follows `//` begins with a host that can exist, and names no format.
fn is_absolute(rest: &str) -> bool {
    let lower = rest.to_ascii_lowercase();
    if NAMESPACES.iter().any(|name| lower.starts_with(name)) || !has_whole_escapes(rest) {
        return false;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = authority.split_once(':').unwrap_or((authority, "1"));
    let path_is_whole = !path.contains("...") && !path.ends_with(['=', '&', '%', ',', ':']);
    let port_is_number =
        !port.is_empty() && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    is_host(host) && port_is_number && path_is_whole
}

fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        let byte = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b >= 0x80;
        !label.is_empty() && label.len() <= 63 && label.bytes().all(byte) && !label.starts_with('-')
    };
    let mut labels = host.rsplit('.');
    let Some(last) = labels.next() else { return false };
    let is_name =
        last.len() >= 2 && (last.starts_with("xn--") || !last.bytes().any(|b| b.is_ascii_digit()));
    let is_ip = host.parse::<std::net::Ipv4Addr>().is_ok();
    host.contains('.') && host.split('.').all(is_label) && (is_name || is_ip)
}

/// Whether an address within a site is more than a word with a slash.
fn is_relative(path: &str, query: &str, context: Context) -> bool {
    let ending = ending_of(path);
    let ends_as = |list: &[&str]| ending.as_deref().is_some_and(|ending| list.contains(&ending));
    let is_page = ends_as(&PAGES);
    let is_known = is_page || ends_as(&PARTS) || ends_as(&DATA);
    let has_query = query.starts_with('?') && query.contains('=');
    if let Some(inside) = path.strip_prefix('/') {
        return is_rooted(inside, is_known || has_query, context);
    }
    let dotted = path.strip_prefix("./").or_else(|| path.strip_prefix("../"));
    match context {
        Context::Opened => has_letters(path) || has_query,
        Context::Named => is_known && has_letters(path) || dotted.is_some_and(has_letters),
        // A program's parts name each other so: only what no program consists of is a page.
        Context::Bare if dotted.is_some() => {
            is_page || is_known && !ends_as(&["js", "mjs", "css", "json"])
        }
        Context::Bare => {
            is_page && !ends_as(&["do", "cgi"]) && path.len() >= 6 && has_letters(path)
        }
    }
}

/// Whether a path from the root of a site is one.
fn is_rooted(inside: &str, is_telling: bool, context: Context) -> bool {
    let mut segments = inside.trim_end_matches('/').split('/');
    let first = segments.next().unwrap_or_default();
    let more = segments.clone().count();
    let begins = first.bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80);
    let all_named = begins && segments.all(|one| !one.is_empty());
    match context {
        Context::Opened => inside.is_empty() || all_named,
        Context::Named => all_named,
        Context::Bare => {
            let of_files = FILE_SYSTEM.contains(&first.to_ascii_lowercase().as_str());
            let whole = !inside.ends_with('/') && !inside.contains(['@', ',', ';', '=']);
            all_named && has_letters(inside) && whole && !of_files && (is_telling || more > 0)
        }
    }
}

fn has_letters(text: &str) -> bool {
    text.bytes().filter(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80).take(2).count() == 2
}

/// Whether a program surely appends something: `/search?q=`, `/a-`.
fn ends_openly(text: &str) -> bool {
    text.ends_with(['=', '&', '?', '#', '-', '_', '%', '.', ',', ':', ';', '+', '~', '@'])
}

fn has_whole_escapes(text: &str) -> bool {
    let digits = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(digits)
}

/// The ending of a path's last segment, in small letters.
fn ending_of(path: &str) -> Option<String> {
    let (name, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let fits =
        (1..=11).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    (fits && !name.is_empty()).then(|| ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::Context::{Bare, Named, Opened};
    use super::*;

    #[test]
    fn addresses_are_told_from_what_looks_like_them() {
        for text in [
            "http://a.test/x",
            "https://a.test",
            "HTTPS://a.test:8080/?a=b",
            "//cdn.a.test/x.js",
            "http://127.0.0.1:81/x",
            "/api/v1/users",
            "/news/2024/story.html",
            "/search?q=a",
            "/logo.png",
            "about/index.html",
            "./page.html",
            "../img/a.png",
            "/a/b.found",
            "https://a.test/caf%C3%A9",
        ] {
            assert!(is_address(text, Bare), "{text}");
        }
        for text in [
            "text/html",
            "application/json",
            "image/svg+xml",
            "1.2.3",
            "/",
            "//",
            "/a",
            "/g",
            "/login",
            "2020/01/01",
            "M/D/YYYY",
            "/users/:id",
            "/users/{id}",
            "/[a-z]+/",
            "/^a/",
            "a.b.c",
            "a/b",
            "./utils",
            "../lib/foo.js",
            "./af.js",
            "</div>",
            "/>",
            "http://",
            "http://a",
            "https://www.",
            "http://www.w3.org/2000/svg",
            "https://schema.org/Thing",
            "/search?q=",
            "/static/",
            "/a/*",
            "%s/x/y",
            "/a%zz/b",
            "a b/c.html",
            "/usr/bin/env",
            "/etc/passwd",
            "http://a.test/?q=",
            "jquery.min.js",
            "//# sourceMappingURL",
            "//a",
            "/*!",
            "+/-",
            "and/or",
            "/a/b/",
            "http://a_b.test.../x",
            "e.do",
            "/1.0",
            "/2/3",
            "x.y/z",
            "/a//b",
            "http://user@a.test/",
            "0.0.1/x",
            "/path/...",
            "v1/v2",
        ] {
            assert!(!is_address(text, Bare), "{text}");
        }
    }

    #[test]
    fn a_string_where_addresses_stand_needs_less_to_be_one() {
        for text in ["/login", "./utils", "logo.png", "/a/b/"] {
            assert!(is_address(text, Named) && is_address(text, Opened), "{text}");
        }
        assert!(is_address("next", Opened) && !is_address("next", Named));
        assert!(is_address("?page=2", Opened) && !is_address("a b", Opened));
        assert!(!is_address("/{{id}}", Opened) && !is_address("/:id", Named));
        assert!(!is_address("/", Opened) && !is_address("_blank:", Opened));
    }

    #[test]
    fn lists_of_endings_are_sorted() {
        assert!(
            PAGES.is_sorted() && PARTS.is_sorted() && DATA.is_sorted() && FILE_SYSTEM.is_sorted()
        );
    }

    #[test]
    fn media_is_known_by_its_beginning_or_its_end() {
        for text in ["a.jpg", "/x", "../y", "https://a.test/z", "img/a.webp?w=1"] {
            assert!(looks_like_media(text), "{text}");
        }
        for text in ["true", "lazy", "{{src}}", "a b.jpg", "1.5", "x", "#f00"] {
            assert!(!looks_like_media(text), "{text}");
        }
    }
}
