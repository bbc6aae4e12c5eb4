//! `evercrawl diff`: which words of a page changed, by what the archive holds of it?

mod paint;

use std::io::{IsTerminal, Write};

use evercrawl_engine::live::SystemClock;
use evercrawl_query::{Answer, At, DiffRequest, DiffView, Request};

use crate::args::{ColorArg, Diff};
use crate::control::unexpected;
use crate::exit;
use crate::print;
use crate::units::show_counted;
use paint::{Paint, Side};

/// Shows what changed between two versions of the page that `args` names.
pub(crate) fn run(args: &Diff) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let request = Request::Diff(DiffRequest {
        url: args.url.clone(),
        from: args.from.map(|from| At(from.at(now))),
        to: args.to.map(|to| At(to.at(now))),
        unmask: args.unmask,
    });
    let (mut out, mut differ) = (print::data(), false);
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Diff(diff) => {
            differ = !diff.same_words;
            match args.json {
                true => Ok(print::json_line(&mut out, &diff)?),
                false => write(&diff, Paint::new(paints(args.color)), &mut out),
            }
        }
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(if args.exit_code && differ { exit::DIFFERENT } else { exit::OK })
}

fn paints(asked: Option<ColorArg>) -> bool {
    match asked {
        Some(ColorArg::Always) => true,
        Some(ColorArg::Never) => false,
        None => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

fn write(diff: &DiffView, paint: Paint, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{}", print::plain(&diff.url))?;
    for (side, sign, version) in [(Side::Deleted, '-', &diff.from), (Side::Inserted, '+', &diff.to)]
    {
        let seen = if version.until > version.since {
            format!(", seen until {}", version.until)
        } else {
            String::new()
        };
        writeln!(out, "{}", paint.line(side, &format!("{sign} {}{seen}", version.since)))?;
    }
    for change in &diff.changes {
        writeln!(out, "\n{}", paint.change(change))?;
    }
    writeln!(out, "\n{}", summary(diff))?;
    Ok(())
}

fn summary(diff: &DiffView) -> String {
    if diff.same_words {
        let noise = match diff.ignored {
            0 => String::new(),
            words => {
                format!("; {} ignored as noise (--unmask counts them)", show_counted(words, "word"))
            }
        };
        let bytes = if diff.same_bytes { "are the same too" } else { "differ" };
        return format!("no significant change{noise}; the bytes {bytes}");
    }
    let noise = match diff.ignored {
        0 => String::new(),
        words => format!("; {words} ignored as noise (--unmask counts them)"),
    };
    let words = show_counted(diff.words, "word");
    format!("{} of {words} deleted, {} inserted{noise}", diff.deleted, diff.inserted)
}
