use std::time::Duration;

use evercrawl_regions::PageFields;

/// Price and availability of a page, in words.
fn read(html: &str) -> (String, String) {
    let fields = PageFields::read(html);
    let availability = fields.availability.map(|is| is.code()).unwrap_or_default();
    (fields.price.map(|price| price.to_string()).unwrap_or_default(), availability.to_owned())
}

#[track_caller]
fn check(html: &str, price: &str, availability: &str) {
    assert_eq!(read(html), (price.to_owned(), availability.to_owned()), "{html}");
}

fn json_ld(json: &str) -> String {
    format!(
        "<html><head><script type=\"application/ld+json\">{json}</script></head><body><p>9.99 €"
    )
}

#[test]
fn offers_in_json_ld() {
    for (json, price, availability) in [
        (
            r#"{"@context":"https://schema.org","@type":"Product","offers":{"@type":"Offer","price":"19.99",
            "priceCurrency":"EUR","availability":"https://schema.org/InStock"}}"#,
            "19.99 EUR",
            "in_stock",
        ),
        (
            r#"{"@type":["Product","Thing"],"offers":{"price":5,"priceCurrency":"usd"}}"#,
            "5 USD",
            "",
        ),
        (
            r#"{"@type":"http://schema.org/Product","offers":[{"price":12,"availability":"InStock"},
            {"price":10,"availability":"OutOfStock"},{"price":11.5,"availability":"InStock"}]}"#,
            "11.50",
            "in_stock",
        ),
        (
            r#"{"@graph":[{"@type":"WebPage","mainEntity":{"@id":"\#p"}},{"@type":"Product","@id":"\#p",
            "offers":{"@id":"\#o"}},{"@id":"\#o","@type":"Offer","price":"1.299,00 €"}]}"#,
            "",
            "",
        ),
        (
            r##"{"@graph":[{"@type":"WebPage","mainEntity":{"@id":"#p"}},{"@type":"Product","@id":"#p",
            "offers":{"@id":"#o"}},{"@id":"#o","@type":"Offer","price":"1.299,00 €"}]}"##,
            "1299 EUR",
            "",
        ),
        (
            r#"{"@type":"Product","offers":{"@type":"AggregateOffer","lowPrice":"7","highPrice":"9",
            "priceCurrency":"GBP","offerCount":3,"availability":{"@id":"schema:SoldOut"}}}"#,
            "7 GBP",
            "out_of_stock",
        ),
        (
            r#"{"@type":"Product","offers":{"@type":"AggregateOffer","priceCurrency":"GBP","offers":[
            {"price":"8","availability":"PreOrder"},{"price":"6","availability":"PreOrder"}]}}"#,
            "6 GBP",
            "preorder",
        ),
        (
            r#"{"@type":"Product","offers":{"availability":"in stock","priceSpecification":[
            {"@type":"UnitPriceSpecification","priceType":"https://schema.org/ListPrice","price":100,"priceCurrency":"EUR"},
            {"@type":"UnitPriceSpecification","price":80,"priceCurrency":"EUR"}]}}"#,
            "80 EUR",
            "in_stock",
        ),
        (
            r#"{"@type":"ProductGroup","hasVariant":[{"@type":"Product","offers":{"price":3,"priceCurrency":"EUR"}},
            {"@type":"Product","offers":{"price":2,"priceCurrency":"EUR"}}]}"#,
            "2 EUR",
            "",
        ),
        (
            r#"[{"@type":"ItemList","itemListElement":[{"item":{"@type":"Product","offers":{"price":1}}}]},
            {"@type":"Product","isRelatedTo":[{"@type":"Product","offers":{"price":2}}],"offers":{"price":3}}]"#,
            "3",
            "",
        ),
        (
            r#"{"@type":"ItemList","itemListElement":[{"item":{"@type":"Product","offers":{"price":1}}}]}"#,
            "1",
            "",
        ),
        (r#"{"@type":"Offer","price":{"@value":"4.50"},"priceCurrency":"$"}"#, "4.50 USD", ""),
        (r#"{"@type":"Product","offers":{"price":"","lowPrice":null}}"#, "", ""),
        (r#"{"schema:offers":{"schema:price":"4","schema:priceCurrency":"CHF"}}"#, "4 CHF", ""),
        (
            r#"{"@type":"Event","offers":{"url":"x","price":0,"availability":"https://schema.org/Discontinued"}}"#,
            "0",
            "discontinued",
        ),
        ("{\"@type\":\"Product\",\"name\":\"two\nlines\",\"offers\":{\"price\":1,},}", "1", ""),
        ("not json", "", ""),
    ] {
        check(&json_ld(json), price, availability);
    }
}

#[test]
fn offers_in_attributes() {
    check(
        "<div itemscope itemtype='https://schema.org/Product'><h1 itemprop=name>Soup</h1>\
         <div itemprop=offers itemscope itemtype='https://schema.org/Offer'><span itemprop=price>1.299,00&nbsp;€</span>\
         <link itemprop=availability href='https://schema.org/InStock'></div></div>",
        "1299 EUR",
        "in_stock",
    );
    check(
        "<div itemscope itemtype=http://schema.org/Offer><meta itemprop=priceCurrency content=USD>\
         <span itemprop=price content=12.5>$12.50</span><span itemprop=availability>Sold out</span></div>",
        "12.50 USD",
        "out_of_stock",
    );
    check(
        "<div itemscope itemtype=http://schema.org/Product itemref='a b'></div>\
         <p id=a itemprop=offers itemscope itemtype=http://schema.org/Offer><data itemprop=price value=3>three</data>",
        "3",
        "",
    );
    check(
        "<div vocab='https://schema.org/' typeof=Product><div property=offers typeof=Offer>\
         <span property=price content='5.00'>5</span><meta property=priceCurrency content=EUR>\
         <link property=availability href=http://schema.org/BackOrder></div></div>",
        "5 EUR",
        "backorder",
    );
    check(
        "<div typeof='schema:Product'><div property='schema:offers' typeof='schema:Offer'>\
         <b property='schema:price'>7</b></div></div>",
        "7",
        "",
    );
}

#[test]
fn offers_in_metadata() {
    check(
        "<meta property=og:price:amount content='1,299.00'><meta property=og:price:currency content=USD>\
         <meta property=og:availability content=instock>",
        "1299 USD",
        "in_stock",
    );
    check(
        "<meta property=product:price:amount content=20><meta property=product:sale_price:amount content=15>\
         <meta property=product:price:currency content=EUR><meta property=product:availability content='out of stock'>",
        "15 EUR",
        "out_of_stock",
    );
    check(
        "<meta name=twitter:label1 content=Price><meta name=twitter:data1 content='£8'>",
        "8 GBP",
        "",
    );
    check("<p>only 9.99 € for readers", "", "");
}

#[test]
fn what_one_way_leaves_out_another_fills_in() {
    let html = json_ld(r#"{"@type":"Product","offers":{"price":5}}"#)
        + "<div itemscope><b itemprop=offers itemscope><i itemprop=priceCurrency>SEK</i><i itemprop=price>6</i>\
           <i itemprop=availability>in stock</i></b></div>";
    check(&html, "5 SEK", "in_stock");
}

#[test]
fn titles_and_dates() {
    let read = |html: &str| {
        let fields = PageFields::read(html);
        (fields.title.unwrap_or_default(), fields.published.unwrap_or_default())
    };
    let own = |title: &str, date: &str| (title.to_owned(), date.to_owned());
    assert_eq!(
        read("<title> A &amp;  B</title><meta property=article:published_time content=2026-01-02>"),
        own("A & B", "2026-01-02")
    );
    assert_eq!(
        read(&json_ld(
            r#"{"@type":"NewsArticle","headline":"H","datePublished":"2026-01-02T03:04:05Z"}"#
        )),
        own("H", "2026-01-02T03:04:05Z")
    );
    assert_eq!(
        read(
            "<meta property=og:title content=O><div itemscope><time itemprop=datePublished datetime=2025-12-31>"
        ),
        own("O", "2025-12-31")
    );
    assert_eq!(read("<svg><title>not this</title></svg>"), own("", ""));
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the time that it takes is what is tested")]
fn hostile_declarations_end() {
    let start = std::time::Instant::now();
    for html in [
        json_ld(&"{\"offers\":".repeat(20_000)),
        json_ld(&format!("[{}{{}}]", r#"{"@type":"Product","offers":{"x":1}},"#.repeat(20_000))),
        "<div itemscope itemprop=offers>".repeat(5_000),
        "<div itemscope itemref='a a a a a a' id=a itemprop=offers>".repeat(5_000),
        "<div itemscope><p itemprop=price>".to_owned() + &"<b itemprop=price>x".repeat(5_000),
        json_ld(r##"{"@id":"#a","offers":{"@id":"#a"}}"##),
        "<script type=application/ld+json>{}</script>".repeat(5_000),
    ] {
        PageFields::read(&html);
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
