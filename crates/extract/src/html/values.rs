//! What do attribute values mean? Lists of image sizes, refresh directives.

/// The addresses in a `srcset`.
pub(super) fn srcset(value: &str) -> Srcset<'_> {
    Srcset { rest: value }
}

/// Walks a `srcset` as the HTML standard does: a run without white space is an address, then
/// descriptors follow up to a comma outside of parentheses.
pub(super) struct Srcset<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Srcset<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let address = run.trim_end_matches(',');
        self.rest = if address.len() < run.len() { after } else { skip_descriptors(after) };
        Some(address)
    }
}

fn skip_descriptors(rest: &str) -> &str {
    let mut inside = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => inside = true,
            b')' => inside = false,
            b',' if !inside => return &rest[at..],
            _ => {}
        }
    }
    ""
}

/// Where a refresh directive such as `5; url=/next` leads, of a `Refresh` header or a `meta` element.
pub fn refresh_target(content: &str) -> Option<&str> {
    refresh(content)?.1
}

/// Reads `5; url=/next`: after how many seconds, and whither if anywhere else.
pub(super) fn refresh(content: &str) -> Option<(u32, Option<&str>)> {
    let content = content.trim_ascii_start();
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = content.split_at(digits);
    if number.is_empty() && !rest.starts_with('.') {
        return None;
    }
    let seconds = number.parse().unwrap_or(if number.is_empty() { 0 } else { u32::MAX });
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let target = rest.trim_ascii_start();
    if target.len() == rest.len() && !rest.is_empty() && !rest.starts_with([';', ',']) {
        return None;
    }
    let target = target.strip_prefix([';', ',']).unwrap_or(target).trim_ascii_start();
    Some((seconds, address_of(target)))
}

fn address_of(target: &str) -> Option<&str> {
    let named = target.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let after = named.and_then(|_| target[3..].trim_ascii_start().strip_prefix('='));
    let address = after.map_or(target, str::trim_ascii_start);
    let address = match address.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inside = &address[1..];
            &inside[..inside.find(quote).unwrap_or(inside.len())]
        }
        _ => address,
    };
    Some(address).filter(|address| !address.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srcset_gives_its_addresses() {
        for (value, want) in [
            ("a.png", &["a.png"][..]),
            ("a.png 1x, b.png 2x", &["a.png", "b.png"]),
            ("a.png, b.png 100w", &["a.png", "b.png"]),
            ("a.png,b.png", &["a.png,b.png"]),
            (", ,a.png 1x,,b.png,", &["a.png", "b.png"]),
            ("data:image/png;base64,AA== 1x, b.png", &["data:image/png;base64,AA==", "b.png"]),
            ("a.png x(1,2) y, b.png", &["a.png", "b.png"]),
            ("a.png x(1, b.png", &["a.png"]),
            ("", &[]),
            (" , ", &[]),
        ] {
            assert_eq!(srcset(value).collect::<Vec<_>>(), want, "{value}");
        }
    }

    #[test]
    fn refresh_is_read_as_browsers_do() {
        for (content, want) in [
            ("5", Some((5, None))),
            ("0; url=/a", Some((0, Some("/a")))),
            ("0;URL = '/a b'x", Some((0, Some("/a b")))),
            (" 3 , /a", Some((3, Some("/a")))),
            ("3 /a", Some((3, Some("/a")))),
            ("1.5;url=/a", Some((1, Some("/a")))),
            (".5;url=/a", Some((0, Some("/a")))),
            ("0;url=\"/a", Some((0, Some("/a")))),
            ("0; urls.html", Some((0, Some("urls.html")))),
            ("0;url=", Some((0, None))),
            ("99999999999;/a", Some((u32::MAX, Some("/a")))),
            ("5x; url=/a", None),
            ("url=/a", None),
            ("", None),
        ] {
            assert_eq!(refresh(content), want, "{content}");
        }
    }
}
