//! Prints what the extractor reads from a file: title, text and links. `cargo run --example read -- FILE TYPE`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example")]

use evercrawl_extract::{Content, Document, Extractor, HtmlOptions, LinkSources};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (file, content_type) = (arguments.next().unwrap(), arguments.next());
    let bytes = std::fs::read(&file).unwrap();
    let url = format!("file:///{file}");
    let document = Document { bytes: &bytes, content_type: content_type.as_deref(), url: &url };
    let options = HtmlOptions { sources: LinkSources::All, ..HtmlOptions::default() };
    let mut extractor = Extractor::new();
    let extracted = extractor.extract(&document, &options);
    match &extracted.content {
        Content::Page(page) => println!("title: {:?}\n{}", page.title, page.text),
        other => println!("{other:?} {:?}", extracted.unreadable),
    }
    for link in extracted.links.iter() {
        println!("{} {} {}", link.place.name(), link.kind.name(), link.href);
    }
}
