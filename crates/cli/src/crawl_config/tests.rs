//! Is every file of settings a crawl or a message?

use super::*;
use evercrawl_fuzz::Mutator;

const EXAMPLES: [&[u8]; 3] = [
    b"[pace]\ndelay = \"2s\"\nip_delay = 0\n[budget]\nrate = \"5/s\"\ndiscover = \"50%\"\nbytes_per_day = \"2GB\"\n",
    b"crawl.include = [\"^http://a\", \"(b|c)+\"]\ncrawl.depth = 3\nfetch.connect_to = [\"::127.0.0.1:80\"]\n",
    b"[schedule]\nrecrawl = \"1d\"\n[retention]\narchive = \"all\"\n[archive]\nroll = \"1GB\"\nlevel = 6\n",
];

/// Any file is read or refused with a message, and what was read makes a crawl or a message. `FUZZ_INPUTS` says how many files, `FUZZ_SEED` which.
#[test]
fn every_file_of_settings_is_a_crawl_or_a_message() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("evercrawl.toml");
    let mut mutator = Mutator::new(number("FUZZ_SEED", 1));
    let (mut crawls, mut messages) = (0, 0);
    for _ in 0..number("FUZZ_INPUTS", 1500) {
        std::fs::write(&file, mutator.next(&EXAMPLES)).unwrap();
        let mut settings = Settings::defaults();
        let read = settings.read_file(&file, &Origin::File(file.clone()));
        let made = read.and_then(|()| {
            store_limits(&settings)?;
            crawl_config(&settings, &RunArgs::default())
        });
        match made {
            Ok(_) => crawls += 1,
            Err(error) => messages += u32::from(!error.to_string().is_empty()),
        }
    }
    assert!(crawls > 20 && messages > 50, "{crawls} crawls, {messages} messages");
}
