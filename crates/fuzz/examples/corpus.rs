//! Writes the examples of every target where a fuzzer looks for them: `corpus DIR`.

use std::io;
use std::path::PathBuf;

use evercrawl_fuzz::TARGETS;

fn main() -> io::Result<()> {
    let dir = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "fuzz/corpus".into()));
    for target in TARGETS {
        let dir = dir.join(target.name);
        std::fs::create_dir_all(&dir)?;
        for (n, example) in target.examples.iter().enumerate() {
            std::fs::write(dir.join(format!("example-{n}")), example)?;
        }
    }
    Ok(())
}
