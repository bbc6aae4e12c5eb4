//! How do other programs get the links?

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use evercrawl_engine::importance::LinkGraph;
use evercrawl_rank::compact;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::anchors::anchors_of;
use super::names::page_urls;
use crate::verbs::Opened;
use evercrawl_query::{ExportView, RankRequest};

/// Writes every link to a file, in the form that its name asks for.
pub(super) fn export(
    args: &RankRequest,
    path: &Path,
    links: &LinkGraph,
    opened: &Opened,
) -> anyhow::Result<ExportView> {
    let path = args.file(path);
    let urls = page_urls(links, opened)?;
    let name = path.to_string_lossy().into_owned();
    let (inner, packed) = name.strip_suffix(".gz").map_or((&*name, false), |inner| (inner, true));
    let mut body = match inner.ends_with(".csr") {
        true => compact::encode(links.graph(), &urls),
        false => csv(args, links, &urls, opened)?,
    };
    if packed {
        let mut packer = GzEncoder::new(Vec::new(), Compression::new(6));
        packer.write_all(&body)?;
        body = packer.finish()?;
    }
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(&path)?);
        file.write_all(&body)?;
        file.flush()
    };
    write().with_context(|| format!("cannot write {name}"))?;
    let links = links.graph().link_count() as u64;
    Ok(ExportView { file: path, links })
}

fn csv(
    args: &RankRequest,
    links: &LinkGraph,
    urls: &[String],
    opened: &Opened,
) -> anyhow::Result<Vec<u8>> {
    let urls: Vec<String> = urls.iter().map(|url| quoted(url)).collect();
    if args.anchors == 0 {
        let mut text = b"src,dst\n".to_vec();
        for (from, to) in links.graph().links() {
            writeln!(text, "{},{}", urls[from as usize], urls[to as usize])?;
        }
        return Ok(text);
    }
    let mut text = b"src,dst,anchor\n".to_vec();
    for from in 0..links.graph().nodes() {
        for (to, words) in anchors_of(from, links, opened)? {
            let (src, dst) = (&urls[from as usize], &urls[to as usize]);
            writeln!(text, "{src},{dst},{}", quoted(&words))?;
        }
    }
    Ok(text)
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_commas_stand_in_quotes() {
        for (url, want) in [("http://a/b", "http://a/b"), ("http://a/b,c", "\"http://a/b,c\"")] {
            assert_eq!(quoted(url), want);
        }
    }
}
