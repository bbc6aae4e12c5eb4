//! Where does the crawl begin? URLs on the line, lists in files, standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use evercrawl_urls::{Seed, Steps, parse_seed_line};

use crate::args::Seeds;
use crate::exit::Failure;

/// Calls `each` for every seed that was given; stops at the first line that cannot be read.
pub(crate) fn read(
    seeds: &Seeds,
    steps: Steps,
    mut each: impl FnMut(Seed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for text in &seeds.urls {
        if text == "-" {
            read_list("standard input", io::stdin().lock(), (&seeds.tag, steps), &mut each)?;
            continue;
        }
        let seed =
            parse_seed_line(text, steps).map_err(|error| Failure::usage(error.to_string()))?;
        let seed = seed.ok_or_else(|| Failure::usage(format!("`{text}` is no URL")))?;
        each(tagged(seed, &seeds.tag))?;
    }
    for path in &seeds.seeds {
        if path == Path::new("-") {
            read_list("standard input", io::stdin().lock(), (&seeds.tag, steps), &mut each)?;
            continue;
        }
        let name = path.display().to_string();
        let file = File::open(path)
            .map_err(|error| Failure::usage(format!("cannot read seeds from {name}: {error}")))?;
        read_list(&name, BufReader::new(file), (&seeds.tag, steps), &mut each)?;
    }
    Ok(())
}

fn read_list(
    name: &str,
    list: impl BufRead,
    (tags, steps): (&[String], Steps),
    each: &mut impl FnMut(Seed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (number, line) in list.lines().enumerate() {
        let place = || format!("{name}, line {}", number + 1);
        let line = line.map_err(|error| Failure::usage(format!("{}: {error}", place())))?;
        let seed = parse_seed_line(&line, steps)
            .map_err(|error| Failure::usage(format!("{}: {error}", place())))?;
        if let Some(seed) = seed {
            each(tagged(seed, tags))?;
        }
    }
    Ok(())
}

fn tagged(mut seed: Seed, tags: &[String]) -> Seed {
    seed.tags.extend(tags.iter().cloned());
    seed
}
