//! What workers hand in: good and bad work, claims, measured use and wishes of any kind.

use cantus_proto::ids::CriterionId;
use cantus_proto::message::{
    AttemptKind, Claim, ClaimKind, Diagnosis, Learning, ModelTokens, Part, Phase, Proposal, Remedy,
    Usage, WorkResult,
};
use cantus_proto::units::MicroUsd;

use crate::crew::Holder;
use crate::fault::Fault;
use crate::git::Quality;
use crate::holders::hostile_text;
use crate::words::{blob, item_id};
use crate::world::World;

impl World {
    pub(crate) fn result(&mut self, holder: &Holder) -> WorkResult {
        let quality = if self.strikes(Fault::OutOfScope) {
            Quality::OutOfScope
        } else if self.strikes(Fault::WrongWork) {
            Quality::Wrong
        } else if self.strikes(Fault::Conflict) {
            Quality::Conflicting
        } else if self.strikes(Fault::ResultRefused) {
            Quality::Unreadable
        } else {
            Quality::Good
        };
        let commits = self.commits(holder, quality);
        let idle = quality == Quality::Good && self.random.chance(5);
        let base = commits.base;
        let mut result = if idle {
            WorkResult::new(base.clone(), base, None)
        } else {
            WorkResult::new(base, commits.head, Some(commits.bundle))
        };
        result.usage = self.usage();
        result.phases = vec![Phase {
            name: "agent".to_owned(),
            duration_ms: 1_000u64.saturating_add_signed(holder.skew_ms),
        }];
        result.proposals = self.proposals(holder);
        result.log = self.random.chance(30).then(|| blob("log"));
        if self.random.chance(30) {
            let rule = format!("rule {}", self.random.below(5));
            result.learnings.push(Learning {
                id: cantus_proto::ids::LearningId::of(&rule),
                context: "here".to_owned(),
                discovery: "that".to_owned(),
                rule,
                check: self.random.chance(50).then(|| "true".to_owned()),
            });
        }
        if self.strikes(Fault::HostileText) {
            result.claims.push(Claim {
                id: "claim".to_owned(),
                text: hostile_text(),
                criterion: CriterionId::new("AC-01").ok(),
                kind: ClaimKind::Observation,
                receipt: None,
            });
            result.findings.push(hostile_text());
        }
        result
    }

    /// Measured, unknown, or beyond any budget.
    pub(crate) fn usage(&mut self) -> Option<Usage> {
        if self.strikes(Fault::UsageUnknown) {
            let enormous = Usage {
                input_tokens: u64::MAX,
                output_tokens: u64::MAX,
                cost: MicroUsd(u64::MAX),
                unpriced: vec![ModelTokens {
                    model: "nobody's".to_owned(),
                    input_tokens: u64::MAX,
                    output_tokens: 1,
                }],
            };
            return self.random.chance(50).then_some(enormous);
        }
        Some(Usage {
            input_tokens: self.random.below(3_000),
            output_tokens: self.random.below(1_000),
            cost: MicroUsd(self.random.below(50_000)),
            unpriced: vec![ModelTokens {
                model: "fast".to_owned(),
                input_tokens: 100,
                output_tokens: 10,
            }],
        })
    }

    /// Wishes, some of which mean nothing.
    pub(crate) fn proposals(&mut self, holder: &Holder) -> Vec<Proposal> {
        if !self.strikes(Fault::NonsenseProposed) {
            let done = holder.attempt.work.kind() != AttemptKind::Verify && self.random.chance(20);
            return if done { vec![Proposal::Done] } else { vec![] };
        }
        self.diagnosis(holder, 0)
    }

    /// What an agent thinks should become of its item; from some number on only sound splits.
    pub(crate) fn diagnosis(&mut self, holder: &Holder, from: u64) -> Vec<Proposal> {
        let own = holder.attempt.item.clone();
        let sound = from > 0 && self.random.chance(40);
        let part = |id: &str, needs: &[&str], criteria: &[&str], paths: &[&str]| Part {
            id: item_id(id),
            goal: "a part".to_owned(),
            deliverables: vec![],
            criteria: criteria.iter().filter_map(|id| CriterionId::new(id).ok()).collect(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            needs: needs.iter().map(|id| item_id(id)).collect(),
        };
        let (first, second) = (format!("{own}-1"), format!("{own}-2"));
        // Who asks for a split asks for a cycle now and then.
        let other = if from > 0 { 3 + self.random.below(3) } else { self.random.below(10) };
        let remedy = match if sound { from } else { other } {
            0 => Remedy::Retry,
            1 => Remedy::Escalate,
            2 => Remedy::Skip,
            // A cycle, and one through the whole itself.
            3 => Remedy::Split(vec![
                part(&first, &[&second], &["AC-01"], &[]),
                part(&second, &[&first], &["AC-01"], &[]),
            ]),
            4 => Remedy::Split(vec![part(&first, &[own.as_str()], &["AC-01"], &[])]),
            // Ids that exist, needs that do not, criteria of nobody, paths out of scope, nothing at all.
            5 => Remedy::Split(vec![part(own.as_str(), &[], &["AC-01"], &[])]),
            6 => Remedy::Split(vec![part(&first, &["nowhere"], &["AC-99"], &["../"])]),
            7 => Remedy::Split(vec![]),
            // Sound, unless it was done before.
            _ => Remedy::Split(vec![
                part(&first, &[], &["AC-01"], &["src/"]),
                part(&second, &[&first], &["AC-01"], &[]),
            ]),
        };
        let reason =
            if self.random.chance(30) { hostile_text() } else { "it is too big".to_owned() };
        let diagnosis = Proposal::Diagnosis(Diagnosis { reason, remedy });
        vec![Proposal::Note("a note".to_owned()), diagnosis]
    }
}
