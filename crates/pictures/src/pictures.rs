//! Which picture is in these bytes, and how large is it? By the bytes alone, whatever the server says of them.

/// A form of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureForm {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    WebP,
    /// SVG.
    Svg,
}

impl PictureForm {
    /// All forms.
    pub const ALL: [PictureForm; 5] = [
        PictureForm::Png,
        PictureForm::Jpeg,
        PictureForm::Gif,
        PictureForm::WebP,
        PictureForm::Svg,
    ];

    /// Its name, and what its files end with.
    pub const fn name(self) -> &'static str {
        match self {
            PictureForm::Png => "png",
            PictureForm::Jpeg => "jpeg",
            PictureForm::Gif => "gif",
            PictureForm::WebP => "webp",
            PictureForm::Svg => "svg",
        }
    }
}

/// A picture, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Its form.
    pub form: PictureForm,
    /// Width and height in pixels; `None` for drawings that have no size of their own, and where it cannot be told.
    pub size: Option<(u32, u32)>,
}

impl Picture {
    /// Reads what a picture is; `None` where the bytes are no picture.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let form = form_of(bytes)?;
        let size = match form {
            PictureForm::Png => png(bytes),
            PictureForm::Jpeg => jpeg(bytes),
            PictureForm::Gif => Some((le16(bytes, 6)?, le16(bytes, 8)?)),
            PictureForm::WebP => webp(bytes),
            PictureForm::Svg => svg(bytes),
        };
        Some(Picture { form, size: size.filter(|(width, height)| *width > 0 && *height > 0) })
    }
}

fn form_of(bytes: &[u8]) -> Option<PictureForm> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(PictureForm::Png),
        [0xff, 0xd8, 0xff, ..] => Some(PictureForm::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(PictureForm::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(PictureForm::WebP),
        _ => svg_start(bytes).map(|_| PictureForm::Svg),
    }
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.get(12..16)? == b"IHDR").then_some(())?;
    Some((be32(bytes, 16)?, be32(bytes, 20)?))
}

/// Goes from marker to marker until one that starts a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1)?;
        match (*bytes.get(at)?, marker) {
            (0xff, 0xff) => at += 1,
            (0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) => {
                return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?));
            }
            // Of these no length follows.
            (0xff, 0x01 | 0xd0..=0xd8) => at += 2,
            (0xff, 0xd9 | 0xda) => return None,
            (0xff, _) => at = at.checked_add(2 + usize::try_from(be16(bytes, at + 2)?.max(2)).ok()?)?,
            _ => return None,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = le16(bytes, 21)? | le16(bytes, 23)? << 16;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let le24 = |at| Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16);
            Some((le24(24)? + 1, le24(27)? + 1))
        }
        _ => None,
    }
}

/// The start tag of a drawing: before it only a declaration, comments and white space.
fn svg_start(bytes: &[u8]) -> Option<&str> {
    let head = bytes.get(..bytes.len().min(4096))?;
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!DOCTYPE svg") => ">",
            _ => break,
        };
        rest = rest.split_once(end)?.1.trim_start();
    }
    let tag = rest.strip_prefix("<svg")?;
    tag.starts_with(|c: char| c.is_whitespace() || c == '>').then(|| tag.split('>').next())?
}

/// The width and height of a drawing, else those of its view box.
fn svg(bytes: &[u8]) -> Option<(u32, u32)> {
    let tag = svg_start(bytes)?;
    let attribute = |name: &str| {
        let from = tag.split(name).skip(1).find_map(|rest| rest.trim_start().strip_prefix('='))?;
        let from = from.trim_start();
        let quote = from.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        from[1..].split(quote).next()
    };
    let pixels = |text: &str| {
        let number = text.trim().trim_end_matches("px").parse::<f64>().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number.min(f64::from(u32::MAX)) as u32)
    };
    let own = || Some((pixels(attribute(" width")?)?, pixels(attribute(" height")?)?));
    own().or_else(|| {
        let parts: Vec<&str> = attribute(" viewBox")?.split([' ', ',']).filter(|p| !p.is_empty()).collect();
        let [_, _, width, height] = parts[..] else { return None };
        Some((pixels(width)?, pixels(height)?))
    })
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?).into())
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?).into())
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<(&'static str, Option<(u32, u32)>)> {
        Picture::read(bytes).map(|picture| (picture.form.name(), picture.size))
    }

    #[test]
    fn sizes_stand_in_the_first_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x40\0\0\0\xf0\x08\x06";
        assert_eq!(read(png), Some(("png", Some((320, 240)))));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\0\xf0\x01\x40";
        assert_eq!(read(jpeg), Some(("jpeg", Some((320, 240)))));
        assert_eq!(read(b"GIF89a\x40\x01\xf0\0"), Some(("gif", Some((320, 240)))));
        let mut lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a".to_vec();
        lossy.extend(b"\x40\x01\xf0\0");
        assert_eq!(read(&lossy), Some(("webp", Some((320, 240)))));
        let bits: u32 = 319 | 239 << 14;
        let lossless = [&b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f"[..], &bits.to_le_bytes()].concat();
        assert_eq!(read(&lossless), Some(("webp", Some((320, 240)))));
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\x01\0\xef\0\0";
        assert_eq!(read(extended), Some(("webp", Some((320, 240)))));
    }

    #[test]
    fn drawings_have_a_size_or_a_view_box_or_neither() {
        for (text, size) in [
            ("<svg width=\"320\" height='240px'/>", Some((320, 240))),
            ("<?xml version='1.0'?>\n<!-- <svg> -->\n<svg viewBox=\"0 0 32.5 24\"></svg>", Some((32, 24))),
            ("<svg width=\"100%\" height=\"10em\" viewBox='0,0,3,4'>", Some((3, 4))),
            ("<svg>", None),
        ] {
            assert_eq!(read(text.as_bytes()), Some(("svg", size)), "{text}");
        }
        assert_eq!(read(b"<html><svg width=1 height=1>"), None);
        assert_eq!(read(b"<svgx>"), None);
    }

    #[test]
    fn broken_pictures_have_no_size_and_other_bytes_are_none() {
        assert_eq!(read(b"\x89PNG\r\n\x1a\n"), Some(("png", None)));
        assert_eq!(read(b"\xff\xd8\xff\xe0\xff\xff"), Some(("jpeg", None)));
        assert_eq!(read(b"\xff\xd8\xff\xda\0\0\xff\xc0\0\0\0\0\0\0\0"), Some(("jpeg", None)));
        for bytes in [&b""[..], b"GIF8", b"RIFF1234WAVE", b"<p>x", b"\xff\xd8"] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
