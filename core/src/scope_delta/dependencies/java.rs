//! Dependencies of Java and Kotlin: pom.xml, Gradle's build scripts and its version catalogs.

use roxmltree::{Document, Node};

use super::toml_text::{entries, read, table, text, value};
use super::{Declared, Unreadable, reason};
use crate::scope_delta::tests_of::Language;
use crate::scope_delta::text::Lines;
use crate::scope_delta::tokens::{self, Kind, Span, Token};

/// Elements of a pom that bring code in.
const ELEMENTS: [&str; 5] = ["dependency", "plugin", "parent", "extension", "path"];

pub(super) fn pom(bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
    let lines = Lines::of(bytes);
    let unreadable = |line, error: &str| Unreadable { line, reason: reason("XML", error) };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| unreadable(Some(lines.at(error.valid_up_to())), "it is not UTF-8"))?;
    let document =
        Document::parse(text).map_err(|e| unreadable(Some(e.pos().row), &e.to_string()))?;
    let mut found = Vec::new();
    for node in document.descendants().filter(Node::is_element) {
        let kind = node.tag_name().name();
        let line = lines.at(node.range().start);
        if ELEMENTS.contains(&kind) {
            let Some(artifact) = child(node, "artifactId") else { continue };
            let group = child(node, "groupId").unwrap_or("org.apache.maven.plugins");
            let said: Vec<&str> = ["version", "scope", "type", "classifier"]
                .iter()
                .map(|name| child(node, name).unwrap_or(""))
                .collect();
            found.push(Declared::new(kind, &format!("{group}:{artifact}"), &said.join(" "), line));
        } else if node.parent().is_some_and(|parent| parent.tag_name().name() == "properties")
            && (kind.contains("version") || kind.contains("Version"))
        {
            found.push(Declared::pin(
                "properties",
                kind,
                node.text().unwrap_or_default().trim(),
                line,
            ));
        }
    }
    Ok(found)
}

fn child<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.children().find(|child| child.tag_name().name() == name)?.text().map(str::trim)
}

/// What stands in blocks of `dependencies` and `plugins`, line by line.
pub(super) fn gradle(bytes: &[u8]) -> Vec<Declared> {
    let read = tokens::read(bytes, Language::Java);
    let tokens = &read.all;
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < tokens.len() {
        let table = ["dependencies", "plugins"].into_iter().find(|word| tokens[at].is(word));
        let Some(table) = table.filter(|_| tokens[at + 1].is("{")) else {
            at += 1;
            continue;
        };
        let block = Span::inside(tokens, at + 1);
        let mut from = block.from;
        while from < block.to {
            let line = tokens[from].line;
            let behind = (from..block.to).find(|at| tokens[*at].line != line).unwrap_or(block.to);
            statement(table, Span::new(tokens, from, behind), &mut found);
            from = behind;
        }
        at = block.to.max(at + 1);
    }
    found
}

/// Names on one line: `"group:artifact:1.0"`, `libs.some.thing`, `project(":core")`, `id("some.plugin")`.
fn statement(table: &str, line: Span<'_, '_>, found: &mut Vec<Declared>) {
    let said = line.canonical();
    let tokens = line.tokens();
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).map(|at| &tokens[at]);
        let text = token.string();
        let name = if token.kind == Kind::Text {
            let called = before(1).filter(|t| t.is("(")).and_then(|_| before(2)).or(before(1));
            let called = called.map(Token::string).unwrap_or_default();
            match called.as_str() {
                "project" | "kotlin" => format!("{called} {text}"),
                "id" => text,
                "version" | "because" | "group" => continue,
                _ if text.contains(':') => text.split(':').take(2).collect::<Vec<_>>().join(":"),
                ":" | "=" if before(2).is_some_and(|key| key.is("name")) => text,
                _ => continue,
            }
        } else if token.is("libs") && tokens.get(at + 1).is_some_and(|next| next.is(".")) {
            let path = tokens[at..].iter().take_while(|part| part.is_word() || part.is("."));
            path.map(Token::string).collect()
        } else {
            continue;
        };
        found.push(Declared::new(table, &name, &said, token.line));
    }
}

/// Libraries and plugins of a version catalog; its versions are pins.
pub(super) fn catalog(bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
    let (root, lines) = read(bytes)?;
    let mut found = Vec::new();
    for (name, version, line) in
        table(&root, "versions").into_iter().flat_map(|all| entries(all, &lines))
    {
        found.push(Declared::pin("versions", name, &text(version), line));
    }
    for (kind, keys) in [("libraries", ["module", "name"]), ("plugins", ["id", "id"])] {
        for (key, said, line) in table(&root, kind).into_iter().flat_map(|all| entries(all, &lines))
        {
            let within = said.as_table();
            let part = |name: &str| {
                within
                    .and_then(|within| value(within, name))
                    .and_then(|value| value.get_ref().as_str())
            };
            let written =
                said.as_str().map(|text| text.rsplit_once(':').map_or(text, |(name, _)| name));
            let name = match (written, part(keys[0]).or_else(|| part(keys[1])), part("group")) {
                (Some(name), ..) => name.to_owned(),
                (None, Some(name), Some(group)) => format!("{group}:{name}"),
                (None, Some(name), None) => name.to_owned(),
                (None, None, _) => key.to_owned(),
            };
            found.push(Declared::new(kind, &name, &text(said), line));
        }
    }
    Ok(found)
}
