//! Was a network given to `--allow-private` with a space instead of `=`?

/// The network in `--allow-private NETWORK`, where a space stands for the `=`. clap would take the
/// network for a seed.
pub(crate) fn network_after_space(words: &[String]) -> Option<&str> {
    let pairs = words.windows(2).take_while(|pair| pair[0] != "--");
    let networks = pairs.filter(|pair| pair[0] == "--allow-private").map(|pair| pair[1].as_str());
    networks.into_iter().find(|text| {
        let first = text.split(',').next().unwrap_or_default();
        first == "loopback"
            || first.starts_with('.')
            || first.parse::<evercrawl_fetch::Network>().is_ok()
            || is_bare_address(first)
    })
}

/// `[::1]` and `127.1` are addresses, too. With a port or a path they are seeds.
fn is_bare_address(text: &str) -> bool {
    let address = text.starts_with('[') || text.starts_with(|c: char| c.is_ascii_digit());
    address && matches!(url::Host::parse(text), Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_behind_a_space_is_noticed() {
        let network = |line: &str| network_after_space(&words(line)).map(str::to_owned);
        for (wrong, meant) in [
            ("crawl --allow-private 127.0.0.1", "127.0.0.1"),
            ("crawl --allow-private 10.0.0.0/8,::1 http://a/", "10.0.0.0/8,::1"),
            ("fetch --allow-private loopback http://localhost/", "loopback"),
            ("crawl --allow-private .intranet", ".intranet"),
            ("crawl --allow-private [::1]", "[::1]"),
            ("crawl --allow-private 127.1 http://a/", "127.1"),
        ] {
            assert_eq!(network(wrong).as_deref(), Some(meant), "{wrong}");
        }
        for right in [
            "crawl --allow-private=127.0.0.1 127.0.0.1",
            "crawl --allow-private http://127.0.0.1/",
            "crawl --allow-private 127.0.0.1:8080",
            "crawl --allow-private [::1]:8080",
            "crawl --allow-private 7zip.example",
            "crawl 127.0.0.1 --allow-private",
            "crawl -- --allow-private 127.0.0.1",
        ] {
            assert_eq!(network(right), None, "{right}");
        }
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }
}
