//! `evercrawl lab figures`: draws the figures of the documentation.

use std::fs;
use std::io::Write;

use anyhow::Context;

use super::args::Figures;
use crate::{exit, print};

pub(super) fn run(args: &Figures) -> anyhow::Result<u8> {
    fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the directory {}", args.out.display()))?;
    let mut out = print::data();
    for drawing in evercrawl_lab::drawings::all() {
        let path = args.out.join(drawing.name).with_extension("svg");
        fs::write(&path, drawing.figure.svg())
            .with_context(|| format!("cannot write {}", path.display()))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(exit::OK)
}
