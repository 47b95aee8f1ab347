//! What a role's pool decides: which container to launch, open, stop or clear away. Pure: time is an argument.
//!
//! A member is one container. It is launched *held*: started, but cut off from the bus. It becomes *open*, a slot
//! that leases, when there are fewer open ones than slots; so a member that ends is replaced at once by one that
//! waited. Who launches and how, in Docker or as a process, is [`crate::pool`]'s business.
//!
//! | member | event | becomes |
//! | --- | --- | --- |
//! | launching | launched | held, then open when a slot is free |
//! | launching | launch failed | clearing |
//! | held | exited | clearing, counts as a failure |
//! | open | exited | clearing; a failure when it ended at once |
//! | clearing | cleared | gone |

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::Exit;

/// A member that ends with an error this soon after its launch could not work at all.
const EARLY: Duration = Duration::from_secs(2);
/// A member that ends without an error this soon cannot have had a lease either.
const EARLY_CLEAN: Duration = Duration::from_millis(20);
/// Pause after the first failure in a row; it doubles with each further one.
const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// Longest pause: a repaired image is found within a minute.
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Failures in a row from which on the role is called broken.
pub const FAILURES_BROKEN: u32 = 3;

/// How many members a role is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Members that may hold a lease.
    pub slots: u32,
    /// Members held back beyond that.
    pub spares: u32,
}

/// What happened to a member, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It runs, held.
    Launched(u64),
    /// It could not be created or started.
    LaunchFailed(u64),
    /// It ended.
    Exited(u64, Exit),
    /// Nothing of it is left.
    Cleared(u64),
    /// Let leases finish, for at most this long, and launch nothing more.
    Drain(Duration),
    /// End everything now.
    Stop,
    /// Time passed.
    Tick,
}

/// What is to be done.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Create and start a held member with this number.
    Launch(u64),
    /// Connect it to the bus.
    Open(u64),
    /// Ask it to finish and leave.
    Terminate(u64),
    /// End it.
    Kill(u64),
    /// Keep what it leaves, if it could have had a lease, then remove it.
    Clear {
        /// The member.
        number: u64,
        /// How it ended; nothing when it never ran.
        exit: Option<Exit>,
        /// Whether it ever was open, so that it may have had a lease.
        opened: bool,
    },
    /// Tell the operator that this many launches in a row came to nothing.
    Complain {
        /// How many.
        failures: u32,
        /// When the next is tried.
        pause: Duration,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Launching,
    Held { since: Duration },
    Open { since: Duration },
    Clearing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Serving,
    Draining { until: Duration },
    Stopping,
}

/// The members of one role.
#[derive(Debug, Clone)]
pub struct Slots {
    target: Target,
    members: BTreeMap<u64, Member>,
    next: u64,
    mode: Mode,
    failures: u32,
    launch_after: Duration,
}

impl Slots {
    /// No members yet; the first [`Event::Tick`] launches them.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            members: BTreeMap::new(),
            next: 1,
            mode: Mode::Serving,
            failures: 0,
            launch_after: Duration::ZERO,
        }
    }

    /// Takes an event at `now` (since any fixed moment) and decides. An event of an unknown member changes nothing.
    #[must_use]
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Action> {
        let mut actions = self.apply(now, event);
        match self.mode {
            Mode::Serving => self.fill(now, &mut actions),
            Mode::Draining { until } if now >= until => {
                self.mode = Mode::Stopping;
                actions.extend(self.running().map(Action::Kill));
            }
            Mode::Draining { .. } | Mode::Stopping => {}
        }
        actions
    }

    /// When the next [`Event::Tick`] is needed, if any.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        match self.mode {
            Mode::Serving => (self.launches_wanted() > 0).then_some(self.launch_after),
            Mode::Draining { until } => Some(until),
            Mode::Stopping => None,
        }
    }

    /// Whether a drained or stopped role has nothing left.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.mode != Mode::Serving && self.members.is_empty()
    }

    /// Members that may hold a lease now.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.count(|member| matches!(member, Member::Open { .. }))
    }

    /// Members that wait for a slot.
    #[must_use]
    pub fn held(&self) -> u32 {
        self.count(|member| matches!(member, Member::Held { .. }))
    }

    fn count(&self, which: impl Fn(&Member) -> bool) -> u32 {
        u32::try_from(self.members.values().filter(|member| which(member)).count())
            .unwrap_or(u32::MAX)
    }

    fn running(&self) -> impl Iterator<Item = u64> + '_ {
        let runs = |member: &Member| matches!(member, Member::Held { .. } | Member::Open { .. });
        self.members.iter().filter(move |(_, member)| runs(member)).map(|(number, _)| *number)
    }

    fn apply(&mut self, now: Duration, event: Event) -> Vec<Action> {
        match event {
            Event::Launched(number) => self.launched(now, number),
            Event::LaunchFailed(number) => {
                if self.members.get(&number) != Some(&Member::Launching) {
                    return Vec::new();
                }
                self.members.insert(number, Member::Clearing);
                let mut actions = vec![Action::Clear { number, exit: None, opened: false }];
                actions.extend(self.failed(now));
                actions
            }
            Event::Exited(number, exit) => self.exited(now, number, exit),
            Event::Cleared(number) => {
                if self.members.get(&number) == Some(&Member::Clearing) {
                    self.members.remove(&number);
                }
                Vec::new()
            }
            Event::Drain(limit) if self.mode == Mode::Serving => {
                self.mode = Mode::Draining { until: now.saturating_add(limit) };
                self.members
                    .iter()
                    .filter_map(|(number, member)| match member {
                        Member::Open { .. } => Some(Action::Terminate(*number)),
                        Member::Held { .. } => Some(Action::Kill(*number)), // it cannot have a lease
                        Member::Launching | Member::Clearing => None,
                    })
                    .collect()
            }
            Event::Stop if self.mode != Mode::Stopping => {
                self.mode = Mode::Stopping;
                self.running().map(Action::Kill).collect()
            }
            Event::Drain(_) | Event::Stop | Event::Tick => Vec::new(),
        }
    }

    fn launched(&mut self, now: Duration, number: u64) -> Vec<Action> {
        if self.members.get(&number) != Some(&Member::Launching) {
            return Vec::new();
        }
        self.members.insert(number, Member::Held { since: now });
        match self.mode {
            Mode::Serving => Vec::new(),
            // It came up too late: it has no lease and gets none.
            Mode::Draining { .. } | Mode::Stopping => vec![Action::Kill(number)],
        }
    }

    fn exited(&mut self, now: Duration, number: u64, exit: Exit) -> Vec<Action> {
        let (opened, since) = match self.members.get(&number) {
            Some(Member::Open { since }) => (true, *since),
            Some(Member::Held { since }) => (false, *since),
            Some(Member::Launching | Member::Clearing) | None => return Vec::new(),
        };
        self.members.insert(number, Member::Clearing);
        let mut actions = vec![Action::Clear { number, exit: Some(exit), opened }];
        let early = now.saturating_sub(since) < if exit.code == 0 { EARLY_CLEAN } else { EARLY };
        if self.mode != Mode::Serving {
            return actions;
        }
        if early || !opened {
            actions.extend(self.failed(now));
        } else {
            self.failures = 0;
        }
        actions
    }

    /// Counts one failure and puts off the next launch.
    fn failed(&mut self, now: Duration) -> Option<Action> {
        if self.mode != Mode::Serving {
            return None;
        }
        self.failures = self.failures.saturating_add(1);
        let doublings = (self.failures - 1).min(16);
        let pause = BACKOFF_FIRST.saturating_mul(1 << doublings).min(BACKOFF_MAX);
        self.launch_after = self.launch_after.max(now.saturating_add(pause));
        (self.failures >= FAILURES_BROKEN)
            .then_some(Action::Complain { failures: self.failures, pause })
    }

    /// How many launches the target still lacks. A role that fails is tried with one member at a time.
    fn launches_wanted(&self) -> u32 {
        let launching = self.count(|member| *member == Member::Launching);
        let alive = launching + self.held() + self.open();
        let wanted = self.target.slots.saturating_add(self.target.spares).saturating_sub(alive);
        if self.failures == 0 { wanted } else { wanted.min(1_u32.saturating_sub(launching)) }
    }

    fn fill(&mut self, now: Duration, actions: &mut Vec<Action>) {
        let free = self.target.slots.saturating_sub(self.open());
        for _ in 0..free {
            let held = self.members.iter().find_map(|(number, member)| match member {
                Member::Held { since } => Some((*number, *since)),
                _ => None,
            });
            let Some((number, since)) = held else { break };
            self.members.insert(number, Member::Open { since });
            actions.push(Action::Open(number));
        }
        if now < self.launch_after {
            return;
        }
        for _ in 0..self.launches_wanted() {
            self.members.insert(self.next, Member::Launching);
            actions.push(Action::Launch(self.next));
            self.next += 1;
        }
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
