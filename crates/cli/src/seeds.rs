//! Which seeds were given: on the command line, in files, on standard input?

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use evercrawl_query::AddRequest;
use evercrawl_urls::{CanonicalSteps, Seed, parse_seed_line};

use crate::args::Seeds;
use crate::exit::Failure;

/// Calls `each` for every seed that was given, with how many bytes of lists were read before it; stops at
/// the first line that cannot be read.
pub(crate) fn read(
    seeds: &Seeds,
    steps: CanonicalSteps,
    mut each: impl FnMut(Seed, u64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut each = Each { tags: &seeds.tag, steps, bytes: 0, take: &mut each };
    for text in &seeds.urls {
        if text == "-" {
            each.of_list("standard input", io::stdin().lock())?;
        } else {
            let seed = parse_seed_line(text, steps);
            let seed = seed.map_err(|error| Failure::usage(error.to_string()))?;
            each.seed(seed.ok_or_else(|| Failure::usage(format!("`{text}` is not a URL")))?)?;
        }
    }
    for path in &seeds.seeds {
        if path == Path::new("-") {
            each.of_list("standard input", io::stdin().lock())?;
            continue;
        }
        let name = path.display().to_string();
        let file = File::open(path)
            .map_err(|error| Failure::usage(format!("cannot read seeds from {name}: {error}")))?;
        each.of_list(&name, BufReader::with_capacity(1 << 18, file))?;
    }
    Ok(())
}

/// The seeds of a request; the first that cannot be read is the error.
pub(crate) fn parse(asked: &AddRequest, steps: CanonicalSteps) -> anyhow::Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for text in asked.urls.iter().flat_map(|text| text.lines()) {
        let seed = parse_seed_line(text, steps);
        let seed = seed.map_err(|error| Failure::usage(error.to_string()))?;
        seeds.extend(seed.map(|mut seed| {
            seed.tags.extend(asked.tags.iter().cloned());
            seed
        }));
    }
    if seeds.is_empty() {
        return Err(Failure::usage("nothing to add; give URLs or domains"));
    }
    Ok(seeds)
}

/// How many bytes the lists have, where that is known before they are read.
pub(crate) fn bytes(seeds: &Seeds) -> Option<u64> {
    let size = |path: &std::path::PathBuf| {
        path.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
    };
    seeds.seeds.iter().map(size).sum::<Option<u64>>().filter(|bytes| *bytes > 0)
}

struct Each<'a, F> {
    tags: &'a [String],
    steps: CanonicalSteps,
    bytes: u64,
    take: &'a mut F,
}

impl<F: FnMut(Seed, u64) -> anyhow::Result<()>> Each<'_, F> {
    fn of_list(&mut self, name: &str, mut list: impl BufRead) -> anyhow::Result<()> {
        let mut line = String::new();
        for number in 1_u64.. {
            let place = || format!("{name}, line {number}");
            line.clear();
            let read = list.read_line(&mut line);
            let read = read.map_err(|error| Failure::usage(format!("{}: {error}", place())))?;
            if read == 0 {
                break;
            }
            self.bytes += read as u64;
            let text = line.strip_suffix('\n').unwrap_or(&line);
            let seed = parse_seed_line(text.strip_suffix('\r').unwrap_or(text), self.steps)
                .map_err(|error| Failure::usage(format!("{}: {error}", place())))?;
            seed.map_or(Ok(()), |seed| self.seed(seed))?;
        }
        Ok(())
    }

    fn seed(&mut self, mut seed: Seed) -> anyhow::Result<()> {
        seed.tags.extend(self.tags.iter().cloned());
        (self.take)(seed, self.bytes)
    }
}
