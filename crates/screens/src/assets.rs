//! Which files are screens made of, and under which addresses?
//!
//! An address holds a hash of its content, so a browser may keep it for ever.

use xxhash_rust::xxh3::xxh3_64;

/// A file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    name: &'static str,
    ending: &'static str,
    /// Its media type.
    pub media: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// How screens look.
pub const STYLE: Asset = Asset {
    name: "screens",
    ending: "css",
    media: "text/css; charset=utf-8",
    bytes: include_bytes!("assets/screens.css"),
};

/// What makes screens live.
pub const SCRIPT: Asset = Asset {
    name: "screens",
    ending: "js",
    media: "text/javascript; charset=utf-8",
    bytes: include_bytes!("assets/screens.js"),
};

/// The mark in the browser's tab.
pub const ICON: Asset = Asset {
    name: "icon",
    ending: "svg",
    media: "image/svg+xml",
    bytes: include_bytes!("assets/icon.svg"),
};

/// All files.
pub const ALL: [Asset; 3] = [STYLE, SCRIPT, ICON];

/// The address of a file.
pub fn path(asset: Asset) -> String {
    format!("/assets/{}", file(asset))
}

/// The file at `/assets/NAME`.
pub fn named(name: &str) -> Option<Asset> {
    ALL.into_iter().find(|asset| file(*asset) == name)
}

fn file(asset: Asset) -> String {
    format!("{}-{:016x}.{}", asset.name, xxh3_64(asset.bytes), asset.ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_at_their_own_addresses_only() {
        for asset in ALL {
            let path = path(asset);
            assert_eq!(named(path.strip_prefix("/assets/").unwrap()), Some(asset));
        }
        assert_eq!(named("screens.css"), None);
    }

    #[test]
    fn scripts_weigh_no_more_than_promised_and_use_no_sink_of_markup() {
        assert!(SCRIPT.bytes.len() < 40_000);
        let text = std::str::from_utf8(SCRIPT.bytes).unwrap();
        for sink in [
            "innerHTML",
            "outerHTML =",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ] {
            assert!(!text.contains(sink), "{sink}");
        }
    }
}
