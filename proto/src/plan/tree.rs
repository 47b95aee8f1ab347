//! Reads YAML into small trees of nodes that know their place. Knows nothing of plans but one key.
//!
//! The elements of the root's `items` are handed on one by one and not kept, so that memory follows the
//! compiled plan and not the text. Aliases share the node that they name; nothing is ever expanded.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use super::bounds::DEPTH_MAX;
use super::codes::{self, Code};
use super::sink::{At, START, Sink, shown};

/// The key of the root whose elements are streamed.
pub(super) const ITEMS: &str = "items";

#[derive(Debug)]
pub(super) struct Node {
    pub(super) at: At,
    pub(super) kind: Kind,
    /// Levels of lists and mappings, itself included.
    height: u16,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// `plain` when it stands without quotes and may be a number, a truth value or nothing.
    Scalar {
        text: Box<str>,
        plain: bool,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: Box<str>,
    pub(super) at: At,
    pub(super) value: Rc<Node>,
}

/// Takes the elements of `items`: the root's entries before it, the element, and where to tell what is wrong.
pub(super) type OnItem<'c, 'f> = &'c mut dyn FnMut(&[Entry], &Rc<Node>, &mut Sink<'f>);

/// Reading cannot go on; the sink knows why.
struct Refused;

/// Reads the one document of the text. Nothing comes back when it cannot be read to its end or is empty.
pub(super) fn read<'f>(
    text: &str,
    sink: &mut Sink<'f>,
    on_item: OnItem<'_, 'f>,
) -> Option<Rc<Node>> {
    let mut reader =
        Reader { sink, on_item, open: Vec::new(), anchors: BTreeMap::new(), root: None };
    for event in Parser::new_from_str(text) {
        let step = match event {
            Ok((event, span)) => reader.step(event, at(&span.start)),
            Err(error) => reader.syntax(text, &error),
        };
        if step.is_err() {
            return None;
        }
    }
    let root = reader.root.take().filter(|root| !root.is_nothing());
    if root.is_none() {
        let hint =
            "write a plan (`version`, `items`) or a contract (`goal`, …); docs/PLAN.md shows both";
        sink.add(codes::FILE_EMPTY, START, "the file holds no plan and no contract", hint);
    }
    root
}

impl Node {
    /// The value of a key, if it is a mapping that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        let Kind::Map(entries) = &self.kind else { return None };
        entries.iter().find(|entry| &*entry.key == key).map(|entry| &*entry.value)
    }

    /// Its text, if it is a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// Whether it is YAML's null: written so, or nothing at all.
    pub(super) fn is_nothing(&self) -> bool {
        match &self.kind {
            Kind::Scalar { text, plain: true } => {
                matches!(&**text, "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }
}

/// A list or mapping whose end has not come yet.
struct Open {
    at: At,
    anchor: usize,
    height: u16,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Rc<Node>>),
    Map {
        entries: Vec<Entry>,
        seen: BTreeSet<Box<str>>,
        key: Option<(Box<str>, At)>,
    },
    /// The root's `items`.
    Items,
}

struct Reader<'r, 'f> {
    sink: &'r mut Sink<'f>,
    on_item: OnItem<'r, 'f>,
    open: Vec<Open>,
    /// Complete nodes by the number that the parser gives their anchor.
    anchors: BTreeMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

impl Reader<'_, '_> {
    fn step(&mut self, event: Event<'_>, at: At) -> Result<(), Refused> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => self.refuse(
                codes::DOCUMENTS,
                at,
                "a second document begins here, a file holds one".to_owned(),
                "remove the `---`, or make it a file of its own",
            ),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), at);
                self.scalar(text, style, anchor, at)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), at);
                let kind =
                    if self.at_items() { OpenKind::Items } else { OpenKind::List(Vec::new()) };
                self.begin(at, anchor, kind)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), at);
                let (entries, seen) = (Vec::new(), BTreeSet::new());
                self.begin(at, anchor, OpenKind::Map { entries, seen, key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn refuse(&mut self, code: Code, at: At, message: String, hint: &str) -> Result<(), Refused> {
        self.sink.add(code, at, message, hint);
        Err(Refused)
    }

    fn refuse_tag(&mut self, tagged: bool, at: At) {
        if tagged {
            let hint = "remove the `!…`; quote the value if it is to be text";
            self.sink.add(codes::TAG, at, "the value has a YAML tag, which plans do not use", hint);
        }
    }

    /// Whether the next value is that of the root's `items`, for the first time.
    fn at_items(&self) -> bool {
        match self.open.as_slice() {
            [Open { kind: OpenKind::Map { entries, key: Some((key, _)), .. }, .. }] => {
                &**key == ITEMS && entries.iter().all(|entry| &*entry.key != ITEMS)
            }
            _ => false,
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        at: At,
    ) -> Result<(), Refused> {
        if let Some(key) = self.open_key() {
            *key = Some((text.into(), at));
            return Ok(());
        }
        let plain = style == ScalarStyle::Plain;
        let node = Node { at, kind: Kind::Scalar { text: text.into(), plain }, height: 0 };
        self.complete(node, anchor)
    }

    /// Where the key goes, if the next node is a key.
    fn open_key(&mut self) -> Option<&mut Option<(Box<str>, At)>> {
        match self.open.last_mut() {
            Some(Open { kind: OpenKind::Map { key: key @ None, .. }, .. }) => Some(key),
            _ => None,
        }
    }

    fn begin(&mut self, at: At, anchor: usize, kind: OpenKind) -> Result<(), Refused> {
        if self.open_key().is_some() {
            return self.key_is_not_text(at);
        }
        if self.open.len() >= usize::from(DEPTH_MAX) {
            return self.too_deep(at);
        }
        self.open.push(Open { at, anchor, height: 1, kind });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Refused> {
        let open = self.open.pop().expect("the parser ends only what it has begun");
        let kind = match open.kind {
            OpenKind::List(nodes) => Kind::List(nodes),
            OpenKind::Map { entries, .. } => Kind::Map(entries),
            OpenKind::Items => {
                let node = Node { at: open.at, kind: Kind::List(Vec::new()), height: open.height };
                return self.put(Rc::new(node)); // without its anchor: the elements are gone
            }
        };
        self.complete(Node { at: open.at, kind, height: open.height }, open.anchor)
    }

    fn complete(&mut self, node: Node, anchor: usize) -> Result<(), Refused> {
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.put(node)
    }

    fn alias(&mut self, anchor: usize, at: At) -> Result<(), Refused> {
        if self.open_key().is_some() {
            return self.key_is_not_text(at);
        }
        match self.anchors.get(&anchor) {
            Some(node) => self.put(Rc::clone(node)),
            None => self.refuse(
                codes::ALIAS,
                at,
                "the alias names something that it is itself a part of, or all of `items`"
                    .to_owned(),
                "write the value out instead of the alias",
            ),
        }
    }

    /// Puts a complete node into what is open.
    fn put(&mut self, node: Rc<Node>) -> Result<(), Refused> {
        let Some((top, below)) = self.open.split_last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        top.height = top.height.max(node.height + 1);
        if top.height > DEPTH_MAX {
            return self.too_deep(node.at);
        }
        match &mut top.kind {
            OpenKind::List(nodes) => nodes.push(node),
            OpenKind::Items => {
                let [Open { kind: OpenKind::Map { entries, .. }, .. }] = below else {
                    unreachable!("`items` is opened only right below the root");
                };
                (self.on_item)(entries, &node, self.sink);
            }
            OpenKind::Map { entries, seen, key } => {
                let (key, at) = key.take().expect("a value comes only after its key");
                if seen.insert(key.clone()) {
                    entries.push(Entry { key, at, value: node });
                } else {
                    let message = format!("{} stands twice in one mapping", shown(&key));
                    let hint = "keep one of the two: only one could count";
                    self.sink.add(codes::KEY_TWICE, at, message, hint);
                }
            }
        }
        Ok(())
    }

    fn key_is_not_text(&mut self, at: At) -> Result<(), Refused> {
        let message = "the key is a list, a mapping or an alias, keys are words".to_owned();
        self.refuse(
            codes::KEY_NOT_TEXT,
            at,
            message,
            "write the key out; quote a value with `{` or `*`",
        )
    }

    fn too_deep(&mut self, at: At) -> Result<(), Refused> {
        let message = format!("nested more than {DEPTH_MAX} levels deep");
        self.refuse(codes::TOO_DEEP, at, message, "a plan needs seven levels: see docs/PLAN.md")
    }

    fn syntax(&mut self, text: &str, error: &ScanError) -> Result<(), Refused> {
        let at = at(error.marker());
        if error.info().contains("recursion limit") {
            return self.too_deep(at);
        }
        let line = text.lines().nth(at.line as usize - 1).unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        let hint = if indent.contains('\t') || error.info().contains("tab") {
            "indent with spaces, YAML does not take tabs"
        } else {
            "mend this place first, what comes after it was not read; quote texts that hold `: ` or `#`"
        };
        self.refuse(codes::SYNTAX, at, format!("this is not YAML: {}", error.info()), hint)
    }
}

fn at(marker: &Marker) -> At {
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    At { line: bounded(marker.line()).max(1), column: bounded(marker.col() + 1) }
}
