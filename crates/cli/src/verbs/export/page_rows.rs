//! How are known pages exported? As they are now, to a file that is whole before it takes the old one's place.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use evercrawl_engine::live::SystemClock;
use evercrawl_export::{Filter, PAGE_FIELDS, Sitemap, page_value};
use evercrawl_query::{Answer, PageView, PagesRequest, Request};

use super::Written;
use super::args::{Selection, SitemapArgs, UrlsArgs};
use crate::args::Common;
use crate::control::unexpected;
use crate::{exit, print};

/// Lists the URLs that `args` selects.
pub(super) fn urls(args: &UrlsArgs) -> anyhow::Result<u8> {
    let filter = args.selection.filter(PAGE_FIELDS)?;
    let line = |page: &PageView, out: &mut dyn Write| -> anyhow::Result<()> {
        match args.json {
            true => print::json_line(out, page)?,
            false => writeln!(out, "{}", print::plain(&page.url))?,
        }
        Ok(())
    };
    let Some(path) = &args.out else {
        let mut out = print::data();
        each_page(&args.common, &args.selection, filter, &mut |page| line(page, &mut out))?;
        out.flush()?;
        return Ok(exit::OK);
    };
    let mut written = Written::to(path);
    let mut file = NewFile::create(path)?;
    each_page(&args.common, &args.selection, filter, &mut |page| {
        written.rows += 1;
        line(page, &mut file.out)
    })?;
    written.bytes = file.finish()?;
    written.print_summary("URL", false)
}

/// Writes a sitemap of the pages that `args` selects.
pub(super) fn sitemap(args: &SitemapArgs) -> anyhow::Result<u8> {
    let filter = args.selection.filter(PAGE_FIELDS)?;
    let (mut sitemap, mut files) = (Sitemap::default(), Vec::new());
    let mut base = args.base.clone();
    each_page(&args.common, &args.selection, filter, &mut |page| {
        if Sitemap::takes(page) {
            base.get_or_insert_with(|| site_of(&page.url));
            if let Some(full) = sitemap.add(page) {
                files.push(write_part(&args.out, files.len() + 1, &full)?);
            }
        }
        Ok(())
    })?;
    let mut written = Written::to(&args.out);
    written.rows = sitemap.total;
    let rest = sitemap.take().unwrap_or_else(Sitemap::empty);
    let whole = if files.is_empty() {
        rest
    } else {
        files.push(write_part(&args.out, files.len() + 1, &rest)?);
        Sitemap::index(&served_at(&files, &base.unwrap_or_default()))
    };
    written.bytes = write_file(&args.out, &whole)?;
    written.print_summary("URL", args.json)
}

/// `http://a.org/` of `http://a.org/x`.
fn site_of(url: &str) -> String {
    url.split('/').take(3).collect::<Vec<_>>().join("/") + "/"
}

fn served_at(files: &[PathBuf], base: &str) -> Vec<String> {
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|file| format!("{}/{}", base.trim_end_matches('/'), name(file))).collect()
}

fn write_part(out: &Path, number: usize, text: &str) -> io::Result<PathBuf> {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let end = out.extension().map_or(String::new(), |end| format!(".{}", end.to_string_lossy()));
    let path = out.with_file_name(format!("{stem}-{number}{end}"));
    write_file(&path, text)?;
    Ok(path)
}

fn write_file(path: &Path, text: &str) -> io::Result<u64> {
    let mut file = NewFile::create(path)?;
    file.out.write_all(text.as_bytes())?;
    file.finish()
}

/// Hands each page that is selected to `take`.
pub(super) fn each_page(
    common: &Common,
    selection: &Selection,
    filter: Option<Filter>,
    take: &mut dyn FnMut(&PageView) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let now = SystemClock.now();
    let (since, until) =
        (selection.since.map(|at| at.at(now)), selection.until.map(|at| at.at(now)));
    let is_in_time = |page: &PageView| {
        let visited = page.last_visit.map(|at| at.0);
        since.is_none_or(|since| visited.is_some_and(|at| at >= since))
            && until.is_none_or(|until| visited.is_some_and(|at| at < until))
    };
    let is_wanted = |page: &PageView| {
        filter.as_ref().is_none_or(|filter| {
            let mut value = |field| Ok::<_, std::convert::Infallible>(page_value(page, field));
            filter.matches(&mut value).unwrap_or(false)
        })
    };
    let request = Request::Pages(PagesRequest {
        tag: selection.tag.clone(),
        host: selection.host.clone(),
        ..PagesRequest::default()
    });
    super::super::ask_and_close(common, &request, &mut |answer| match answer {
        Answer::Pages(part) => {
            let wanted = |page: &&PageView| is_in_time(page) && is_wanted(page);
            part.pages.iter().filter(wanted).try_for_each(&mut *take)
        }
        other => Err(unexpected(&other)),
    })
}

/// A file that takes the place of an older one when it is whole.
struct NewFile {
    path: PathBuf,
    new: PathBuf,
    out: BufWriter<File>,
}

impl NewFile {
    fn create(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let file = File::create(&new).map_err(|error| said(&new, &error))?;
        Ok(NewFile { path: path.to_owned(), out: BufWriter::new(file), new })
    }

    /// Puts it in place; says how long it is.
    fn finish(mut self) -> io::Result<u64> {
        let finish = |out: &mut BufWriter<File>| -> io::Result<u64> {
            out.flush()?;
            out.get_ref().sync_data()?;
            let length = out.get_ref().metadata()?.len();
            fs::rename(&self.new, &self.path)?;
            Ok(length)
        };
        finish(&mut self.out).map_err(|error| said(&self.path, &error))
    }
}

/// The same error with the file that it is about.
fn said(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}
