//! Hosts, and who holds an attempt on them: workers and verifiers with their moods.

use std::collections::BTreeMap;
use std::sync::Arc;

use cantus_core::event::Millis;
use cantus_proto::ids::{CommitId, ContainerName, HostName, LeaseId, RoleName};
use cantus_proto::message::{
    Attempt, Commits, ContainerExited, Envelope, Heartbeat, Isolation, LeaseEvent, LeaseReport,
    Leased, Pulse, Report, Usage,
};

use cantus_proto::units::MicroUsd;

use crate::bus::WorkKey;
use crate::random::Random;
use crate::words::{container, lease_id, role};

/// How a holder will end, as far as it is up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It does its work and hands in.
    Works,
    /// It beats for ever.
    Hangs,
    /// It ends without a word at its time; whether its pool tells.
    Dies(bool),
}

/// What its heartbeats tell of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    Progress,
    Nothing,
    /// Much ado, and no commit.
    Rounds,
    /// It cannot go on without a person.
    Blocker,
    /// Tokens and money go like water.
    Spending,
}

/// Somebody with an attempt.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    pub(crate) attempt: Arc<Attempt>,
    pub(crate) lease: LeaseId,
    pub(crate) container: ContainerName,
    pub(crate) role: RoleName,
    pub(crate) host: usize,
    pub(crate) mood: Mood,
    /// What it works on top of.
    pub(crate) base: CommitId,
    /// Its next word about its work.
    pub(crate) ends: Millis,
    /// Stopped until then.
    pub(crate) paused_until: Option<Millis>,
    pub(crate) iterations: u32,
    pub(crate) shows: Shows,
    /// Its clock, less the true time: told to nobody that decides.
    pub(crate) skew_ms: i64,
}

/// A machine with a pool.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) name: HostName,
    pub(crate) up: bool,
    pub(crate) slots: BTreeMap<RoleName, usize>,
    pub(crate) skew_ms: i64,
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Crew {
    pub(crate) hosts: Vec<Host>,
    pub(crate) holders: BTreeMap<u64, Holder>,
    /// Roles that no host has.
    pub(crate) missing: Vec<RoleName>,
    /// Work that was on a host when it went down, to be saved when it is back.
    pub(crate) salvage: Vec<(usize, RoleName, Report)>,
    /// Evidence that was ever handed in.
    pub(crate) old_evidence: Vec<Envelope>,
    pub(crate) drawn: u64,
}

impl Holder {
    pub(crate) fn key(&self) -> WorkKey {
        (self.attempt.run.clone(), self.attempt.item.clone(), self.attempt.number)
    }

    /// What it says.
    pub(crate) fn report(&self, body: LeaseEvent) -> Report {
        report(&self.attempt, &self.lease, body)
    }

    pub(crate) fn leased(&self, host: &Host) -> LeaseEvent {
        LeaseEvent::Leased(Leased {
            role: self.role.clone(),
            host: host.name.clone(),
            container: self.container.clone(),
            isolation: Isolation::Container,
            base: Some(self.base.clone()),
            image: "image".to_owned(),
        })
    }

    pub(crate) fn beat(&self) -> Heartbeat {
        let rounds = self.iterations;
        let (done, told) = match self.shows {
            Shows::Progress | Shows::Spending => (rounds, rounds),
            Shows::Nothing | Shows::Blocker => (0, 0),
            Shows::Rounds => (0, rounds * 3),
        };
        let per_round = if self.shows == Shows::Spending { 20_000 } else { 20 };
        let pulse = Pulse {
            commits: done,
            changed: if done > 0 { vec![b"src/file".to_vec()] } else { vec![] },
            changed_count: done.min(1),
            fingerprint: format!("{done}"),
            evidence: done,
            blocker: (self.shows == Shows::Blocker).then(|| "\u{1b}[2Jno way".repeat(300)),
            iterations: told,
            usage: Some(Usage {
                input_tokens: u64::from(rounds) * per_round,
                cost: MicroUsd(u64::from(rounds) * per_round),
                ..Usage::default()
            }),
            ..Pulse::default()
        };
        Heartbeat {
            lease: self.lease.clone(),
            run: self.attempt.run.clone(),
            item: self.attempt.item.clone(),
            attempt: self.attempt.number,
            note: String::new(),
            pulse: Some(pulse),
        }
    }

    pub(crate) fn exited(&self, exit_code: i64) -> Report {
        let container = self.container.clone();
        Report::ContainerExited(ContainerExited { container, exit_code, out_of_memory: false })
    }
}

/// What the holder of this lease says of this attempt.
pub(crate) fn report(attempt: &Attempt, lease: &LeaseId, body: LeaseEvent) -> Report {
    Report::Lease(LeaseReport {
        lease: lease.clone(),
        run: attempt.run.clone(),
        item: attempt.item.clone(),
        attempt: attempt.number,
        kind: attempt.work.kind(),
        body,
    })
}

/// The commits that a report brings.
pub(crate) fn brought(body: &LeaseEvent) -> Option<Commits> {
    match body {
        LeaseEvent::Result(result) => {
            let bundle = result.bundle.clone()?;
            Some(Commits { bundle, base: result.base.clone(), head: result.head.clone() })
        }
        LeaseEvent::Saved(saved) => Some(saved.commits.clone()),
        _ => None,
    }
}

impl Crew {
    pub(crate) fn new(random: &mut Random, skewed: bool) -> Self {
        let count = 1 + random.place(3);
        let host = |place: usize, random: &mut Random| Host {
            name: HostName::new(format!("host-{place}")).expect("a valid name"),
            up: true,
            slots: BTreeMap::from([
                (role("worker"), 1 + random.place(3)),
                (role("specialist"), 1),
                (role("verifier"), 1 + random.place(2)),
            ]),
            skew_ms: if skewed { skew(random) } else { 0 },
        };
        let hosts = (0..count).map(|place| host(place, random)).collect();
        Self {
            hosts,
            holders: BTreeMap::new(),
            missing: vec![],
            salvage: vec![],
            old_evidence: vec![],
            drawn: 0,
        }
    }

    /// A host with a free place for this role.
    pub(crate) fn free(&self, role: &RoleName, random: &mut Random) -> Option<usize> {
        if self.missing.contains(role) {
            return None;
        }
        let free = |place: &usize| {
            let host = &self.hosts[*place];
            let held = self.holders.values().filter(|h| h.host == *place && h.role == *role);
            host.up && held.count() < host.slots.get(role).copied().unwrap_or(0)
        };
        let places: Vec<usize> = (0..self.hosts.len()).filter(free).collect();
        random.pick(&places).copied()
    }

    pub(crate) fn draw(&mut self) -> (u64, LeaseId, ContainerName) {
        self.drawn += 1;
        let name = format!("container-{}", self.drawn);
        (self.drawn, lease_id(self.drawn), container(&name))
    }
}

/// Up to ten minutes to either side.
pub(crate) fn skew(random: &mut Random) -> i64 {
    i64::try_from(random.below(1_200_001)).unwrap_or(0) - 600_000
}
