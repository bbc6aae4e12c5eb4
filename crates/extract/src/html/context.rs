//! Where in the page are we? The few open elements that change how markup and text are read.

use super::names::Tag;

/// Deepest nesting that is followed; honest pages stay below ten.
const DEEPEST: usize = 64;

/// The open elements that matter: SVG and MathML, the HTML inside them, and elements that are not displayed.
#[derive(Default)]
pub(super) struct Context {
    open: Vec<Open>,
    hidden: bool,
    inert: bool,
}

struct Open {
    tag: Tag,
    /// Whether its content is SVG or MathML rather than HTML.
    foreign: bool,
}

impl Context {
    /// Whether markup is SVG's or MathML's: no raw text, CDATA sections, honest self-closing tags.
    pub(super) fn is_foreign(&self) -> bool {
        self.open.last().is_some_and(|open| open.foreign)
    }

    /// Whether text is not shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// Whether we are in a template, whose content is not part of the page.
    pub(super) fn is_inert(&self) -> bool {
        self.inert
    }

    /// Notes that an element begins, if it is one that matters here.
    pub(super) fn enter(&mut self, tag: Tag) {
        let foreign = self.is_foreign();
        let content_is_foreign = match tag {
            Tag::Svg | Tag::Math => true,
            Tag::Template | Tag::Noscript if !foreign => false,
            Tag::ForeignObject | Tag::Desc | Tag::Title | Tag::MathText | Tag::AnnotationXml
                if foreign =>
            {
                false
            }
            Tag::Script | Tag::Style if foreign => true,
            _ => return,
        };
        if self.open.len() < DEEPEST {
            self.open.push(Open { tag, foreign: content_is_foreign });
            self.refresh();
        }
    }

    /// Notes that an element ends. What was opened inside it ends too; what holds content of
    /// another kind is not ended from within.
    pub(super) fn leave(&mut self, tag: Tag) {
        for (index, open) in self.open.iter().enumerate().rev() {
            if open.tag == tag {
                self.open.truncate(index);
                return self.refresh();
            }
            if !open.foreign && open.tag != Tag::Noscript {
                return;
            }
        }
    }

    /// Ends all SVG and MathML around here, as an HTML element inside it does.
    pub(super) fn leave_foreign(&mut self) {
        while self.is_foreign() {
            self.open.pop();
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        const NOT_SHOWN: [Tag; 5] =
            [Tag::Template, Tag::Noscript, Tag::Title, Tag::Script, Tag::Style];
        self.hidden = self.open.iter().any(|open| NOT_SHOWN.contains(&open.tag));
        self.inert = self.open.iter().any(|open| open.tag == Tag::Template);
    }
}
