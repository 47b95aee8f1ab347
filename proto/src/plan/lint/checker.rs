//! Judges a checker without running it: can it fail at all, is its result hidden, does it need the network.
//!
//! This is a reader of shell as people write it, not a shell. Where it is not sure it says nothing: the
//! verifier's exit codes decide, the linter only catches what could never tell anything.

use super::super::codes;
use super::super::sink::{At, Sink, shown};

/// How a command hangs on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `;`, `&`, a new line, or the beginning.
    Then,
    And,
    Or,
    Pipe,
}

/// Programs that pass on text and end with 0 whatever they read.
const FILTERS: &[&str] =
    &["awk", "cat", "cut", "head", "less", "sed", "sort", "tail", "tee", "tr", "uniq", "wc"];

/// Programs that are there to reach other hosts.
const NETWORK_PROGRAMS: &[&str] = &[
    "curl", "dig", "ftp", "nc", "nslookup", "ping", "rsync", "scp", "sftp", "ssh", "telnet", "wget",
];

/// Programs of which only some words reach other hosts.
const NETWORK_COMMANDS: &[(&str, &[&str])] = &[
    ("apk", &["add", "update"]),
    ("apt", &["install", "update", "upgrade"]),
    ("apt-get", &["install", "update", "upgrade"]),
    ("bundle", &["install", "update"]),
    ("cargo", &["fetch", "install", "publish", "search"]),
    ("docker", &["login", "pull", "push"]),
    ("gem", &["install"]),
    ("git", &["clone", "fetch", "ls-remote", "pull", "push"]),
    ("go", &["get", "install"]),
    ("npm", &["ci", "i", "install", "publish"]),
    ("pip", &["download", "install"]),
    ("pip3", &["download", "install"]),
    ("pnpm", &["add", "i", "install"]),
    ("yarn", &["add", "install"]),
];

/// Words that say that the command stays on this machine.
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]", "--no-index", "--offline"];

/// Judges a checker; `network_forbidden` says whether the contract forbids `network_egress` in words.
pub(in super::super) fn judge(checker: &str, at: At, network_forbidden: bool, sink: &mut Sink<'_>) {
    let commands = commands(checker);
    if cannot_fail(&commands) {
        let message = format!("the checker {} cannot fail, so it shows nothing", shown(checker));
        sink.add(
            codes::CHECKER_CANNOT_FAIL,
            at,
            message,
            "write a command that ends with 0 only if it holds",
        );
    } else if let Some(filter) = hiding_filter(checker, &commands) {
        let message =
            format!("the checker's result is that of `{filter}`, not of what is before the pipe");
        sink.add(
            codes::CHECKER_MASKED,
            at,
            message,
            "leave the pipe out: the whole output is kept anyway",
        );
    }
    if let Some(tool) = commands.iter().find_map(|(_, command)| network_tool(command)) {
        let reason =
            if network_forbidden { "the contract forbids it" } else { "verifiers have none" };
        let message = format!("the checker's `{tool}` needs the network, and {reason}");
        let hint =
            "check what is in the tree or in the role's image, or a server that the checker starts";
        sink.add(codes::CHECKER_NETWORK, at, message, hint);
    }
}

fn cannot_fail(commands: &[(Joint, String)]) -> bool {
    let Some(((joint, last), before)) = commands.split_last() else { return true };
    let harmless_before = before.iter().all(|(_, command)| always_succeeds(command));
    match joint {
        _ if !always_succeeds(last) => false,
        Joint::And => harmless_before,
        Joint::Then | Joint::Or | Joint::Pipe => {
            harmless_before || !before.iter().any(|(_, command)| may_end_early(command))
        }
    }
}

/// Whether this command ends with 0 whatever the tree is like.
fn always_succeeds(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        [] => true,
        ["exit", "0", ..] | ["true" | ":" | "/bin/true" | "/usr/bin/true", ..] => true,
        ["echo" | "printf", ..] => !command.contains('>'),
        _ => false,
    }
}

/// Whether the shell may stop at or after this command, before what follows: `exit 1`, `set -e`.
fn may_end_early(command: &str) -> bool {
    let words: Vec<&str> =
        command.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';')).collect();
    let stops = |word: &&str| matches!(*word, "exit" | "exec" | "return" | "kill" | "<<" | "trap");
    let sets = words.first() == Some(&"set")
        && words
            .iter()
            .any(|word| *word == "errexit" || word.starts_with('-') && word.contains('e'));
    sets || command.contains("<<") || words.iter().any(stops)
}

fn hiding_filter(checker: &str, commands: &[(Joint, String)]) -> Option<&'static str> {
    let (joint, last) = commands.last()?;
    let program = last.split_whitespace().next()?;
    let filter = FILTERS.iter().find(|filter| **filter == program)?;
    (*joint == Joint::Pipe && !checker.contains("pipefail")).then_some(filter)
}

fn network_tool(command: &str) -> Option<String> {
    if LOCAL.iter().any(|word| command.contains(word)) {
        return None;
    }
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | '`'))
        .filter(|word| !word.is_empty())
        .collect();
    let start = words.iter().position(|word| !is_prefix(word))?;
    let program = words[start].rsplit('/').next()?;
    if NETWORK_PROGRAMS.contains(&program) {
        return Some(program.to_owned());
    }
    // `python -m pip install`, `sudo apt-get install`: the program may stand further on.
    words[start..].windows(2).find_map(|pair| {
        let program = pair[0].rsplit('/').next()?;
        let (_, subcommands) = NETWORK_COMMANDS.iter().find(|(name, _)| *name == program)?;
        subcommands.contains(&pair[1]).then(|| format!("{program} {}", pair[1]))
    })
}

/// Whether this word stands before a program: an assignment or a wrapper without arguments.
fn is_prefix(word: &str) -> bool {
    let assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    assignment
        || matches!(
            word,
            "!" | "env" | "exec" | "if" | "nice" | "sudo" | "then" | "time" | "while" | "$"
        )
}

/// Splits at the joints that stand outside quotes and parentheses; comments are dropped.
fn commands(checker: &str) -> Vec<(Joint, String)> {
    let mut split = Split { commands: Vec::new(), joint: Joint::Then, command: String::new() };
    let mut chars = checker.chars().peekable();
    let (mut quote, mut depth) = (None, 0_usize);
    while let Some(c) = chars.next() {
        let starts_word = split.command.ends_with(char::is_whitespace) || split.command.is_empty();
        match (quote, c) {
            (Some('"') | None, '\\') => {
                let next = chars.next();
                split.command.extend([' ', ' '].iter().take(usize::from(next == Some('\n')))); // a joined line
                split
                    .command
                    .extend(next.filter(|next| *next != '\n').into_iter().flat_map(|n| ['\\', n]));
            }
            (Some(open), _) => {
                split.command.push(c);
                if c == open {
                    quote = None;
                }
            }
            (None, '\'' | '"' | '`') => {
                split.command.push(c);
                quote = Some(c);
            }
            (None, '(' | ')') => {
                split.command.push(c);
                depth = if c == '(' { depth + 1 } else { depth.saturating_sub(1) };
            }
            (None, '#') if starts_word && depth == 0 => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            (None, ';' | '\n') if depth == 0 => split.at(Joint::Then),
            (None, '&') if depth == 0 && chars.next_if_eq(&'&').is_some() => split.at(Joint::And),
            (None, '|') if depth == 0 && chars.next_if_eq(&'|').is_some() => split.at(Joint::Or),
            (None, '|') if depth == 0 && !split.command.ends_with('>') => {
                let _ = chars.next_if_eq(&'&');
                split.at(Joint::Pipe);
            }
            (None, '&')
                if depth == 0 && !split.command.ends_with('>') && chars.peek() != Some(&'>') =>
            {
                split.at(Joint::Then);
            }
            (None, _) => split.command.push(c),
        }
    }
    split.at(Joint::Then);
    split.commands
}

struct Split {
    commands: Vec<(Joint, String)>,
    joint: Joint,
    command: String,
}

impl Split {
    /// Ends the command; the next one hangs on it by `next`.
    fn at(&mut self, next: Joint) {
        let command = std::mem::take(&mut self.command);
        let command = command.trim();
        if command.is_empty() {
            // A line may end in `&&`, `||` or `|`: what joins is the stronger one.
            self.joint = if next == Joint::Then { self.joint } else { next };
            return;
        }
        self.commands.push((self.joint, command.to_owned()));
        self.joint = next;
    }
}

#[cfg(test)]
mod tests;
