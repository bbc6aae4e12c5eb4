//! What does a page show, and in which order? The program that draws it, as far as it draws text.

use std::collections::HashMap;
use std::rc::Rc;

use super::file::{File, as_dict};
use super::fonts::Font;
use super::lexer::{Dict, Lexer, Object};
use super::pages::Page;

/// Drawings within drawings.
const DEEPEST: usize = 6;
/// Saved states of drawing.
const MOST_SAVED: usize = 64;
/// The most operands of an operator.
const MOST_OPERANDS: usize = 64;

/// Appends the text of a page to `text`, which is not to grow beyond `most`; true if there was more.
pub(super) fn read_page(file: &mut File<'_>, page: &Page, most: usize, text: &mut String) -> bool {
    let programs = match page.dict.get("Contents") {
        Some(Object::Array(parts)) => parts.clone(),
        Some(one) => match file.resolve(one) {
            Some(Object::Array(parts)) => parts,
            _ => vec![one.clone()],
        },
        None => Vec::new(),
    };
    let mut program = Vec::new();
    for part in &programs {
        program.extend(file.unpacked(part).unwrap_or_default());
        program.push(b'\n');
    }
    let mut drawing = Drawing {
        file,
        text,
        most,
        fonts: HashMap::new(),
        end: None,
        is_cut: false,
        open: Vec::new(),
    };
    drawing.run(&program, page.resources.as_ref(), IDENTITY, 0);
    drawing.text.push('\n');
    drawing.is_cut
}

type Matrix = [f64; 6];
const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// `first`, then `second`.
fn then(first: Matrix, second: Matrix) -> Matrix {
    let [a, b, c, d, e, f] = first;
    let [p, q, r, s, t, u] = second;
    [
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    ]
}

/// What `q` saves.
#[derive(Clone)]
struct State {
    place: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    leading: f64,
    scale: f64,
}

struct Drawing<'a, 'b> {
    file: &'a mut File<'b>,
    text: &'a mut String,
    most: usize,
    /// Fonts by the object that they are.
    fonts: HashMap<u32, Rc<Font>>,
    /// Where the last text ended, and how large it was.
    end: Option<(f64, f64, f64)>,
    is_cut: bool,
    /// The drawings being drawn: none draws itself.
    open: Vec<Object>,
}

/// One run of a program.
struct Run<'r> {
    state: State,
    saved: Vec<State>,
    /// Where text is written, and where its line began.
    at: Matrix,
    line: Matrix,
    resources: Option<&'r Dict>,
    /// What it costs to look something up in them.
    weight: usize,
    depth: usize,
}

impl Drawing<'_, '_> {
    fn run(&mut self, program: &[u8], resources: Option<&Dict>, place: Matrix, depth: usize) {
        let state =
            State { place, font: None, size: 1.0, character_space: 0.0, leading: 0.0, scale: 1.0 };
        let weight = resources.map_or(0, Dict::weight);
        let mut run = Run {
            state,
            saved: Vec::new(),
            at: IDENTITY,
            line: IDENTITY,
            resources,
            weight,
            depth,
        };
        let mut lexer = Lexer::new(program, 0);
        let mut operands = Vec::new();
        while !self.is_cut && self.file.budget.pay(2) {
            match lexer.next() {
                None => return,
                Some(Object::Word(word)) if word == b"BI" => skip_image(&mut lexer),
                Some(Object::Word(word)) => {
                    self.operate(&mut run, &word, &operands);
                    operands.clear();
                }
                Some(operand) if operands.len() < MOST_OPERANDS => operands.push(operand),
                Some(_) => {}
            }
        }
    }

    fn operate(&mut self, run: &mut Run<'_>, operator: &[u8], operands: &[Object]) {
        let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or_default();
        let matrix = || [number(0), number(1), number(2), number(3), number(4), number(5)];
        match operator {
            b"q" if run.saved.len() < MOST_SAVED => run.saved.push(run.state.clone()),
            b"Q" => run.state = run.saved.pop().unwrap_or_else(|| run.state.clone()),
            b"cm" => run.state.place = then(matrix(), run.state.place),
            b"BT" => (run.at, run.line) = (IDENTITY, IDENTITY),
            b"Tf" => self.set_font(run, operands),
            b"TL" => run.state.leading = number(0),
            b"Tc" => run.state.character_space = number(0),
            b"Tz" => run.state.scale = number(0) / 100.0,
            b"Td" => run.next_line(number(0), number(1)),
            b"TD" => {
                run.state.leading = -number(1);
                run.next_line(number(0), number(1));
            }
            b"Tm" => (run.at, run.line) = (matrix(), matrix()),
            b"T*" => run.next_line(0.0, -run.state.leading),
            b"Tj" => self.show(run, operands.first()),
            b"'" | b"\"" => {
                run.next_line(0.0, -run.state.leading);
                self.show(run, operands.last());
            }
            b"TJ" => self.show_pieces(run, operands.first()),
            b"Do" => self.draw(run, operands.first()),
            _ => {}
        }
    }

    fn set_font(&mut self, run: &mut Run<'_>, operands: &[Object]) {
        let [Object::Name(name), Object::Number(size)] = operands else { return };
        run.state.size = *size;
        if !self.file.budget.pay(run.weight) {
            return;
        }
        let fonts = run.resources.and_then(|all| self.file.dict(all, "Font"));
        let Some(font) = fonts.and_then(|fonts| entry_of(&fonts, name)) else { return };
        if let Object::Ref(number) = font
            && let Some(known) = self.fonts.get(&number)
        {
            run.state.font = Some(known.clone());
            return;
        }
        let Some(dict) = self.file.resolve(&font).and_then(as_dict) else { return };
        let read = Rc::new(Font::read(self.file, &dict));
        run.state.font = Some(read.clone());
        if let (Object::Ref(number), true) = (font, self.fonts.len() < 256) {
            self.fonts.insert(number, read);
        }
    }

    fn show_pieces(&mut self, run: &mut Run<'_>, pieces: Option<&Object>) {
        let Some(Object::Array(pieces)) = pieces else { return };
        for piece in pieces {
            match piece {
                Object::Number(back) => {
                    run.advance(-back / 1000.0 * run.state.size * run.state.scale);
                }
                piece => self.show(run, Some(piece)),
            }
        }
    }

    fn show(&mut self, run: &mut Run<'_>, shown: Option<&Object>) {
        let (Some(Object::String(bytes)), Some(font)) = (shown, run.state.font.clone()) else {
            return;
        };
        if !self.file.budget.pay(bytes.len()) {
            return;
        }
        let mut text = String::new();
        let (width, codes) = font.show(bytes, &mut text);
        if !text.trim().is_empty() {
            self.separate(run);
        }
        if self.text.len() + text.len() > self.most {
            self.is_cut = true;
            return;
        }
        self.text.push_str(&text);
        let spaces = run.state.character_space * codes as f64;
        run.advance((width * run.state.size + spaces) * run.state.scale);
        let (x, y, size) = run.place();
        self.end = Some((x, y, size));
    }

    /// A line end or a space, where text does not go on right behind what was shown last.
    fn separate(&mut self, run: &Run<'_>) {
        let (x, y, size) = run.place();
        let Some((end_x, end_y, end_size)) = self.end else { return };
        let size = size.max(end_size).max(0.01);
        if (y - end_y).abs() > size * 0.5 {
            self.text.push('\n');
        } else if x - end_x > size * 0.15 || x - end_x < -size {
            self.text.push(' ');
        }
    }

    /// A drawing that the page refers to.
    fn draw(&mut self, run: &Run<'_>, name: Option<&Object>) {
        let (Some(Object::Name(name)), true) = (name, run.depth < DEEPEST) else { return };
        if !self.file.budget.pay(run.weight) {
            return;
        }
        let drawings = run.resources.and_then(|all| self.file.dict(all, "XObject"));
        let Some(reference) = drawings.and_then(|all| entry_of(&all, name)) else { return };
        if self.open.contains(&reference) {
            return;
        }
        let Some(stream) = self.file.stream(&reference) else { return };
        if stream.dict.name("Subtype") != Some(b"Form") || !self.file.budget.pay(1000) {
            return;
        }
        let own = self.file.dict(&stream.dict, "Resources");
        let place = match self.file.entry(&stream.dict, "Matrix") {
            Some(Object::Array(all)) if all.len() == 6 => {
                let mut matrix = IDENTITY;
                all.iter()
                    .zip(&mut matrix)
                    .for_each(|(n, to)| *to = n.number().unwrap_or_default());
                then(matrix, run.state.place)
            }
            _ => run.state.place,
        };
        let program = self.file.unpacked(&reference).unwrap_or_default();
        self.open.push(reference);
        self.run(&program, own.as_ref().or(run.resources), place, run.depth + 1);
        self.open.pop();
    }
}

impl Run<'_> {
    fn next_line(&mut self, x: f64, y: f64) {
        self.line = then([1.0, 0.0, 0.0, 1.0, x, y], self.line);
        self.at = self.line;
    }

    fn advance(&mut self, x: f64) {
        self.at = then([1.0, 0.0, 0.0, 1.0, x, 0.0], self.at);
    }

    /// Where text would be shown on the page, and how large.
    fn place(&self) -> (f64, f64, f64) {
        let [a, b, c, d, x, y] = then(self.at, self.state.place);
        let size = self.state.size.abs() * (c.hypot(d)).max(a.hypot(b));
        (x, y, size)
    }
}

fn entry_of(dict: &Dict, name: &[u8]) -> Option<Object> {
    dict.entries().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
}

/// An image within the program: its bytes are no objects.
fn skip_image(lexer: &mut Lexer<'_>) {
    let rest = lexer.bytes.get(lexer.at..).unwrap_or_default();
    let ends = memchr::memmem::find_iter(rest, b"EI");
    let end = ends.into_iter().find(|&at| {
        let before = at == 0 || rest[at - 1].is_ascii_whitespace();
        before && rest.get(at + 2).is_none_or(u8::is_ascii_whitespace)
    });
    lexer.at += end.map_or(rest.len(), |at| at + 2);
}
