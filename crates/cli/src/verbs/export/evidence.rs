//! How is one page handed over as evidence? As a package with its records, what was noted of each, and how to check it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_export::{Contents, Evidence, Signer, Wacz, WaczSettings};
use evercrawl_query::QueryError;
use ring::rand::SystemRandom;
use serde_json::json;

use super::args::EvidenceArgs;
use super::log_rows::SOFTWARE;
use super::say;
use crate::exit::{self, Failure};
use crate::print;
use crate::units::{show_counted, show_size};
use crate::verbs::text;

/// Packs the page that `args` names.
pub(super) fn run(args: &EvidenceArgs) -> anyhow::Result<u8> {
    let (url, visits) = text::history(&args.common, &args.url)?;
    let now = SystemClock.now();
    let mut contents = Contents::open(DataDir::segments_in(&args.common.data))?;
    let at = args.at.map(|at| at.at(now));
    let (visit, _) = text::held_at(&visits, at, &url, &mut contents)?;
    let gathered = Evidence::gather(&url, visit, &mut contents)?;
    let nothing = || {
        let time = visit.time;
        QueryError::Nothing(format!("the version of {time} of {url} is not in the archive"))
    };
    let evidence = gathered.ok_or_else(nothing)?;
    let signer = args.key.as_deref().map(signer).transpose()?;
    let public_key = signer.as_ref().map(Signer::public_key);
    let settings = WaczSettings {
        software: SOFTWARE.to_owned(),
        title: Some(format!("{url} as of {}", visit.time)),
        with_text: true,
        now,
        signer,
    };
    if args.out.exists() && !args.overwrite {
        let out = args.out.display();
        let message = format!("{out} is there already; use another name or --overwrite");
        return Err(Failure::usage(message));
    }
    // What an interrupted command left is begun anew.
    let mut package = Wacz::open(&args.out, &format!("evidence {url}"), settings, true)?;
    evidence.write(&mut package, &mut contents)?;
    let found = package.finish()?;
    if args.json {
        let view = json!({
            "path": args.out.display().to_string(), "url": url, "time": visit.time,
            "records": evidence.records, "missing": evidence.missing, "bytes": found.bytes,
            "public_key": public_key,
        });
        print::json_line(&mut print::data(), &view)?;
        return Ok(exit::OK);
    }
    let (records, bytes) = (evidence.records.len() as u64, show_size(found.bytes));
    let missing = match evidence.missing.len() as u64 {
        0 => String::new(),
        count => format!("; {} not archived", show_counted(count, "requisite")),
    };
    let (records, time) = (show_counted(records, "record"), visit.time);
    say(format_args!("{url} of {time}: {records}, {bytes} in {}{missing}", args.out.display()));
    if let Some(key) = public_key {
        say(format_args!("signed; publish this public key: {key}"));
    }
    Ok(exit::OK)
}

/// The key in a file; where there is no file, a new key is made that only its owner can read.
pub(super) fn signer(path: &Path) -> anyhow::Result<Signer> {
    let shown = path.display();
    let failed = |what: &str, error: &dyn std::fmt::Display| Failure {
        code: exit::UNEXPECTED,
        message: format!("cannot {what} {shown}: {error}"),
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = Signer::new_key(&SystemRandom::new())
                .ok_or_else(|| failed("make", &"the system has no random numbers"))?;
            let mut options = OpenOptions::new();
            let file = options.write(true).create_new(true).mode(0o600).open(path);
            file.and_then(|mut file| file.write_all(key.as_bytes()).and_then(|()| file.sync_all()))
                .map_err(|error| failed("write", &error))?;
            say(format_args!("new private key in {shown}; keep it secret, and keep it"));
            key
        }
        Err(error) => return Err(failed("read", &error).into()),
    };
    let wrong = || {
        Failure::usage(format!(
            "{shown} is not a private key on P-256 in PKCS#8; name a new file, and it is made"
        ))
    };
    Signer::new(&text, Box::new(SystemRandom::new())).ok_or_else(wrong)
}
