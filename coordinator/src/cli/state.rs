//! How the states of items and runs look: a sign, a word, a colour. The word alone says all.

use super::paint::Ink;

/// What a state means to somebody who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Somebody or something is at it.
    Active,
    /// Wants a person.
    Stuck,
    /// May begin.
    Next,
    /// Something before it is missing.
    Later,
    /// Ended well.
    Done,
}

/// How a state looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// One column wide.
    pub(crate) sign: &'static str,
    pub(crate) ink: Ink,
    pub(crate) phase: Phase,
}

/// How an item's state looks. A word that this version does not know looks like work.
pub(crate) fn item(state: &str) -> Look {
    let (sign, ink, phase) = match state {
        "waiting" => ("·", Ink::Dim, Phase::Later),
        "ready" | "queued" => ("○", Ink::Warning, Phase::Next),
        "gating" | "gated" => ("◇", Ink::Busy, Phase::Active),
        "verifying" => ("◆", Ink::Busy, Phase::Active),
        "landing" => ("▲", Ink::Busy, Phase::Active),
        "landed" | "reported" => ("✓", Ink::Good, Phase::Done),
        "parked" => ("✗", Ink::Bad, Phase::Stuck),
        "blocked" => ("⊘", Ink::Bad, Phase::Stuck),
        "cancelled" => ("–", Ink::Dim, Phase::Stuck),
        _ => ("●", Ink::Busy, Phase::Active),
    };
    Look { sign, ink, phase }
}

/// Whether nothing automatic will change an item in this state.
pub(crate) fn has_ended(state: &str) -> bool {
    matches!(item(state).phase, Phase::Stuck | Phase::Done)
}

/// How a run's state looks.
pub(crate) fn run(state: &str) -> Ink {
    match state {
        "completed" => Ink::Good,
        "failed" => Ink::Bad,
        "cancelled" => Ink::Warning,
        _ => Ink::Busy,
    }
}

/// The order in which counts of states are told: what has ended first, then backwards along the way.
pub(crate) const ORDER: [&str; 13] = [
    "landed",
    "reported",
    "parked",
    "blocked",
    "cancelled",
    "landing",
    "verifying",
    "gated",
    "gating",
    "working",
    "queued",
    "ready",
    "waiting",
];

/// `7 landed, 2 working, 1 parked`: how many items are in each state.
pub(crate) fn counts<'s>(states: impl Iterator<Item = &'s str>) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for state in states {
        *counts.entry(state).or_insert(0_usize) += 1;
    }
    let mut told: Vec<String> = Vec::new();
    for state in ORDER {
        if let Some(count) = counts.remove(state) {
            told.push(format!("{count} {state}"));
        }
    }
    told.extend(
        counts.into_iter().map(|(state, count)| format!("{count} {}", super::text::cut(state, 20))),
    );
    if told.is_empty() { "no items".to_owned() } else { told.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cantus_core::event::ItemIndex;
    use cantus_core::item::State;

    #[test]
    fn every_word_of_the_core_has_its_own_place() {
        let core = [
            State::Waiting(1),
            State::Ready,
            State::Queued,
            State::Working,
            State::Gating,
            State::Gated,
            State::Reported,
            State::Parked("".into()),
            State::Blocked(ItemIndex(0)),
            State::Cancelled,
        ];
        for state in core {
            assert!(ORDER.contains(&state.name()), "{}", state.name());
            assert_eq!(has_ended(state.name()), state.is_terminal(), "{}", state.name());
        }
    }

    #[test]
    fn counts_are_told_from_the_end_backwards() {
        let states = ["working", "landed", "waiting", "landed", "strange\u{7}"];
        assert_eq!(counts(states.into_iter()), "2 landed, 1 working, 1 waiting, 1 strange\\u{7}");
        assert_eq!(counts(std::iter::empty()), "no items");
    }
}
