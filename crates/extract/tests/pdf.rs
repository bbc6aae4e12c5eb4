//! Are PDFs read as pages are, and do hostile ones cost no more than they may?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and has a clock"
)]

use std::io::Write;
use std::time::Instant;

use evercrawl_extract::{
    Content, Document, Extraction, Extractor, HtmlOptions, LinkPlace, Unreadable,
};

/// A PDF of objects, numbered from 1, whose first is the catalog.
fn pdf(objects: &[&str]) -> Vec<u8> {
    let mut file = "%PDF-1.7\n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        file += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    file += "trailer\n<</Root 1 0 R /Info 9 0 R>>\n%%EOF";
    file.into_bytes()
}

fn stream(program: &str) -> String {
    format!("<</Length {}>>\nstream\n{program}\nendstream", program.len())
}

/// A file of one page that draws by `program`, with more objects from the sixth on.
fn one_page(program: &str, more: &[&str]) -> Vec<u8> {
    let program = stream(program);
    let page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[<</Subtype/Link/A<</S/URI/URI(http://a.test/x)>>>>]>>";
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R/Lang(en)>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F 5 0 R/G 6 0 R>>/XObject<</X 7 0 R>>>>>>",
        page,
        &program,
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[1/eacute/space/uni20AC]>>>>",
    ];
    objects.extend(more);
    pdf(&objects)
}

fn read<T>(bytes: &[u8], check: impl FnOnce(&Extraction<'_>) -> T) -> T {
    let document =
        Document { bytes, content_type: Some("application/pdf"), url: "http://a.test/a.pdf" };
    check(&Extractor::new().extract(&document, &HtmlOptions::default()))
}

fn text(bytes: &[u8]) -> String {
    read(bytes, |extracted| match &extracted.content {
        Content::Page(page) => page.text.clone(),
        other => panic!("{other:?} {:?}", extracted.unreadable),
    })
}

#[test]
fn a_pdf_has_text_title_language_and_links() {
    let more = ["<<>>", "<<>>", "<<>>", "<</Title(\\311tude \\205 \\200)>>"];
    let file =
        one_page("BT /F 12 Tf 72 700 Td (Hello \\(world\\)) Tj 0 -14 Td (next) Tj ET", &more);
    read(&file, |extracted| {
        let Content::Page(page) = &extracted.content else { panic!("no page") };
        assert_eq!(
            (page.text.as_str(), page.title.as_deref()),
            ("Hello (world)\nnext", Some("Étude – •"))
        );
        assert_eq!(page.lang.as_deref(), Some("en"));
        let link = extracted.links.iter().next().unwrap();
        assert_eq!((link.href, link.place), ("http://a.test/x", LinkPlace::Pdf));
        assert_eq!(extracted.kind.mime(), "application/pdf");
    });
}

#[test]
fn words_are_told_apart_by_where_they_are_drawn() {
    for (program, want) in [
        ("BT /F 10 Tf [(Wor) 20 (ld) -300 (two)] TJ ET", "World two"),
        ("BT /F 10 Tf (one) Tj 40 0 Td (two) Tj T* (three) Tj ET", "one two three"),
        ("BT /F 10 Tf 12 TL (one) Tj T* (two) Tj (three) ' ET", "one\ntwo\nthree"),
        (
            "BT /F 10 Tf 1 0 0 1 10 50 Tm (a) Tj 1 0 0 1 15 50 Tm (b) Tj 1 0 0 1 10 30 Tm (c) Tj ET",
            "ab\nc",
        ),
        (
            "q 1 0 0 -1 0 800 cm BT /F 10 Tf 0 10 Td (a) Tj ET Q BT /F 10 Tf 0 790 Td 20 0 Td (b) Tj ET",
            "a b",
        ),
        ("BT /F 10 Tf <0141024203> Tj ET", "éA B€"),
        (
            "BT /F 10 Tf (a) Tj ET BI /W 1 ID \x01(EI junk) Tj EI BT /F 10 Tf 0 -20 Td (b) Tj ET",
            "a\nb",
        ),
        ("/X Do", "form"),
        ("BT /G 10 Tf <00010002> Tj ET", "ofi"),
    ] {
        let form =
            "<</Subtype/Form/Length 31>>\nstream\nBT /F 10 Tf (form) Tj ET /X Do \nendstream";
        let wide = "<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 8 0 R>>";
        let map = stream(
            "1 begincodespacerange<0000><FFFF>endcodespacerange 2 beginbfchar<0001><006F><0002><00660069>endbfchar",
        );
        assert_eq!(text(&one_page(program, &[wide, form, &map])), want, "{program}");
    }
}

#[test]
fn packed_streams_and_object_streams_are_read() {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    let inside = "1 0 2 36 5 90 <</Type/Catalog/Pages 2 0 R>>       <</Kids[3 0 R]/Resources<</Font<</F 5 0 R>>>>>>       <</Subtype/Type1>>";
    let first = inside.find("<<").unwrap();
    let offsets: Vec<_> = inside.match_indices("<</").map(|(at, _)| at - first).collect();
    let (catalog, pages, font) =
        (0, inside.find("<</Kids").unwrap() - first, inside.find("<</Subtype").unwrap() - first);
    assert!(offsets.contains(&pages));
    let head = format!("1 {catalog} 2 {pages} 5 {font} ");
    let body = format!("{head}{}", &inside[first..]);
    encoder.write_all(body.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let mut file = b"%PDF-1.7\n3 0 obj<</Type/Page/Contents 4 0 R>>endobj\n4 0 obj".to_vec();
    file.extend(stream("BT /F 9 Tf (packed) Tj ET").bytes());
    file.extend(
        format!(
            "endobj\n6 0 obj<</Type/ObjStm/N 3/First {}/Filter/FlateDecode/Length {}>>stream\n",
            head.len(),
            packed.len()
        )
        .bytes(),
    );
    file.extend(&packed);
    file.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R>>");
    assert_eq!(text(&file), "packed");
}

#[test]
fn what_cannot_be_read_says_why() {
    for (file, want) in [
        (&b"%PDF-1.4\n"[..], Unreadable::Damaged),
        (b"%PDF-1.4\ngarbage obj stream", Unreadable::Damaged),
        (b"%PDF-1.4\n1 0 obj<</Type/Page>>endobj trailer<</Encrypt 2 0 R>>", Unreadable::Encrypted),
    ] {
        assert_eq!(read(file, |extracted| extracted.unreadable), Some(want));
    }
    // Without its tables, and cut in the middle.
    let whole = one_page("BT /F 12 Tf (still here) Tj ET", &[]);
    let cut = &whole[..whole.windows(7).position(|w| w == b"trailer").unwrap()];
    assert_eq!(text(cut), "still here");
}

#[test]
fn hostile_files_cost_no_more_than_their_budget() {
    let bomb = {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&b"BT /F 1 Tf (aaaaaaaaaaaaaaaa) Tj ET ".repeat(1 << 20)).unwrap();
        encoder.finish().unwrap()
    };
    let mut bombs = b"%PDF-1.7\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Type/Page/Contents[".to_vec();
    bombs.extend("4 0 R ".repeat(1000).bytes());
    bombs.extend(
        format!("]>>endobj 4 0 obj<</Filter/FlateDecode/Length {}>>stream\n", bomb.len()).bytes(),
    );
    bombs.extend(&bomb);
    bombs.extend(b"\nendstream endobj trailer<</Root 1 0 R>>");
    let forms = "/X Do ".repeat(1000);
    let form = format!("<</Subtype/Form/Length {}>>\nstream\n{forms}\nendstream", forms.len());
    let files = [
        bombs,
        one_page(&forms, &["<<>>", &form]),
        pdf(&["<</Pages 1 0 R/Kids[1 0 R 1 0 R]>>"]),
        pdf(&["2 0 R", "1 0 R"]),
        b"%PDF-1.4\n".iter().copied().chain(b"trailer<<".repeat(100_000)).collect(),
        b"%PDF-1.4\n".iter().copied().chain(b"1 0 obj<</ObjStm/N 9 ".repeat(50_000)).collect(),
        one_page(&"[".repeat(1_000_000), &[]),
        one_page(&"BT /F 1 Tf ".repeat(300_000), &[]),
        one_page(
            "BT /G 1 Tf <0001> Tj ET",
            &[
                "<</Subtype/Type0/DescendantFonts[<</W 7 0 R>>]>>",
                &format!("[{}]", "0 69999 1 ".repeat(10_000)),
            ],
        ),
    ];
    for (at, file) in files.iter().enumerate() {
        let began = Instant::now();
        read(file, |_| ());
        // A tenth of this even where nothing is optimised; the machine may be busy.
        assert!(began.elapsed().as_secs() < 60, "file {at} took {:?}", began.elapsed());
    }
}

/// Bytes from their hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .bytes()
        .filter_map(|byte| char::from(byte).to_digit(16).map(|it| it as u8))
        .collect();
    digits.chunks(2).map(|two| two[0] << 4 | two[1]).collect()
}

/// A stream of these bytes.
fn packed(dict: &str, digits: &str) -> Vec<u8> {
    let bytes = hex(digits);
    let head = format!("<<{dict}/Length {}>>stream\n", bytes.len());
    [head.as_bytes(), &bytes, b"\nendstream"].concat()
}

const OWNER: &str = "77b8fb098022d3ab34237ea5643c08710ea5123fc5f88bf993a68cca5f12b40f";
const USER: &str = "c167f230750155245008add02e703b280021446990b9e4114071a4d9104984c1";
const ID: &str = "d091d88a244f4024ad12196904cb5951";

fn encrypted(objects: &[Vec<u8>], lock: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.6\n".to_vec();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| !object.is_empty()) {
        file.extend(format!("{} 0 obj\n", at + 1).bytes().chain(object.iter().copied()));
        file.extend(b"\nendobj\n");
    }
    let lock = format!("<</Filter/Standard/Length 128/O<{OWNER}>/U<{USER}>/P -1028{lock}>>");
    let ends = format!("trailer<</Root 1 0 R/ID[<{ID}><{ID}>]/Encrypt {lock}");
    file.extend(ends.bytes());
    file
}

/// One page, encrypted by RC4 with 128 bits.
fn by_rc4(lock: &str) -> Vec<u8> {
    let page = "<</Annots[<</A<</S/URI/URI<9db3c483e90031860ecfeffd7b9a4c>>>>>]/Contents 5 0 R/Type/Page\
                /Resources<</Font<</F<</Subtype/Type1/BaseFont/Helvetica>>>>>>>>";
    let objects = [
        b"<</Pages 3 0 R/Type/Catalog>>".to_vec(),
        b"<</Title<915fe8b815ab>>>".to_vec(),
        b"<</Count 1/Kids[4 0 R]/Type/Pages>>".to_vec(),
        page.as_bytes().to_vec(),
        packed("", "abb1281a0d21a952b803939ed4acdd2cb5210a3db2045e4b3344e80339049f"),
    ];
    encrypted(&objects, &format!("{lock}>>/Info 2 0 R"))
}

/// The same page by AES, most of it within an object stream.
fn by_aes() -> Vec<u8> {
    let objects = [
        b"<</Pages 3 0 R/Type/Catalog>>".to_vec(),
        packed(
            "/Type/ObjStm/N 3/First 15",
            "d88880acc63c74c5020f1efff4952982bb3d043beb091d71bde4f4fb06141ef50d32c948199574a60d3b0f9f31eb2bbd \
             569f282c4d6a74121db6f6fbdc38cbe7d5a1cd23de2d159dca0c6972ea43275ee0e9e29bd206a4b5a60aec34747a25de \
             f3d1d7c90af1bf9f886737a7adcc2820313b2cdc7a7f963f79cf6a022d1350e8ebfdc5b65bbe841387187399aa341c48 \
             f07f8bd1bd70cee196d4c6e4dbde5c54559a7384fbf83d584da54f302b96e809136f8f93e1e480e257c7d84a733e8b50 \
             a2fe945a6f7b19627fce983d2af406f4cff7811b3db997eeb2a969da3900d78f0bcc756f6e1e03b0657ac012ca9fb737 \
             f86fe7b98fc3e3bf6c76c078d3edcf6d757e564899c92ac1f13aa7b13bbfd265ab61dcfb97dbd138f279172a73ca4df4 \
             1f0e5615fe1f980247bd6ba40409ee5e7ddacd2f81e3289037730e6985c77f28458b5ab1b0499feab3cef8ce07fd748d",
        ),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        packed(
            "",
            "ba615a1dae67677da3fe8b4ecc77eb66a225c7e51125ec34b5a33a6322735315b248a776844575309edec526fe3e0b0d",
        ),
    ];
    let filters = "/V 4/R 4/StmF/StdCF/StrF/StdCF/CF<</StdCF<</CFM/AESV2/Length 16>>>>";
    encrypted(&objects, &format!("{filters}>>/Info 5 0 R"))
}

#[test]
fn an_encrypted_pdf_that_needs_no_password_is_read() {
    for file in [by_rc4("/V 2/R 3"), by_aes()] {
        read(&file, |extracted| {
            let Content::Page(page) = &extracted.content else {
                panic!("{:?}", extracted.unreadable)
            };
            assert_eq!(
                (page.text.as_str(), page.title.as_deref()),
                ("locked words", Some("Locked"))
            );
            assert_eq!(extracted.links.iter().next().unwrap().href, "http://a.test/x");
        });
    }
    // Another key, and ways to encrypt that are not known.
    for lock in ["/V 2/R 2", "/V 5/R 6", "/V 3/R 3", "/V 4/R 5", "/V 2"] {
        read(&by_rc4(lock), |extracted| {
            assert_eq!(extracted.unreadable, Some(Unreadable::Encrypted), "{lock}");
        });
    }
}
