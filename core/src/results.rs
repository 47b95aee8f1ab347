//! What becomes of a result: gates, merge, verdict, landing, and the defect when it is refuted.

use cantus_proto::evidence::{self, Policy, Question, Verdict};
use cantus_proto::ids::{CommitId, RunId};
use cantus_proto::message::{Candidate, Commits, Defect, Envelope, LearningCheck, WorkResult};

use crate::event::{Effect, Inspection, ItemIndex, LandingTry, Merge};
use crate::item::{Item, State};
use crate::record::{Decision, Ending, ItemFact, Refutation, Refuter};
use crate::scope_delta::Finding;
use crate::{Core, Step, text};

/// Conflicting paths that are spelled out in a defect.
const PATHS_SHOWN_MAX: usize = 20;

impl Core {
    pub(crate) fn inspected(&mut self, step: &mut Step, effect: &Effect, inspection: Inspection) {
        if !self.waits_for(step, effect, |s| matches!(s, State::Gating)) {
            return;
        }
        let (run, place) = (&effect.run, effect.item);
        match inspection {
            Inspection::Refused(reasons) => {
                let reasons = match reasons.is_empty() {
                    true => vec!["the result was not taken in".to_owned()],
                    false => reasons,
                };
                self.refute(step, run, place, Refuter::Inspection, reasons, Vec::new());
            }
            Inspection::Read(found) if !found.is_empty() => {
                let reasons = found.iter().map(ToString::to_string).collect();
                self.refute(step, run, place, Refuter::Gate, reasons, found);
            }
            Inspection::Read(_) if self.runs[run].item(place).is_partial() => {
                let reason = "its author says that it is not whole: finish what the contract asks";
                self.refute(step, run, place, Refuter::Gate, vec![reason.to_owned()], Vec::new());
            }
            Inspection::Read(_) => self.commit_item(step, run, place, ItemFact::Gated),
        }
    }

    pub(crate) fn merged(&mut self, step: &mut Step, effect: &Effect, merge: Merge) {
        if !self.waits_for(step, effect, |s| matches!(s, State::Merging)) {
            return;
        }
        let Effect { run, item, .. } = effect;
        match merge {
            Merge::Clean(candidate) => {
                self.commit_item(step, run, *item, ItemFact::Merged(Box::new(candidate)));
                step.actions.extend(self.effect(step.at, run, *item));
            }
            Merge::Conflict { onto, paths } => {
                let finding = conflict_finding(&onto, &paths);
                self.refute(step, run, *item, Refuter::Merge(onto), vec![finding], Vec::new());
            }
        }
    }

    pub(crate) fn landing_tried(&mut self, step: &mut Step, effect: &Effect, landing: LandingTry) {
        if !self.waits_for(step, effect, |s| matches!(s, State::Landing(_))) {
            return;
        }
        let Effect { run, item, .. } = effect;
        match landing {
            LandingTry::Landed { commit, evidence } => {
                self.commit_item(step, run, *item, ItemFact::Landed(commit, evidence));
            }
            LandingTry::Moved { .. } if self.runs[run].item(*item).cancel_wanted => {
                self.commit_item(step, run, *item, ItemFact::Cancelled);
            }
            LandingTry::Moved { head } => {
                self.commit_item(step, run, *item, ItemFact::HeadMoved(head));
                step.actions.extend(self.effect(step.at, run, *item));
            }
        }
    }

    /// Whether the item still waits for the answer to this effect; if not, the answer is refused.
    pub(crate) fn waits_for(
        &self,
        step: &mut Step,
        effect: &Effect,
        state: fn(&State) -> bool,
    ) -> bool {
        let item = self.runs.get(&effect.run).and_then(|run| run.items.get(effect.item.0 as usize));
        let waits = item.is_some_and(|item| {
            state(&item.state) && item.work().is_some_and(|(number, _)| number == effect.work)
        });
        if !waits {
            let Effect { run, item: place, work } = effect;
            let item = item.map_or_else(|| format!("{}", place.0), |item| item.id.to_string());
            step.refused.push(format!(
                "nothing waits for this answer about attempt {work} of {item} in {run}"
            ));
        }
        waits
    }

    pub(crate) fn weigh(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        evidence: cantus_proto::message::Evidence,
    ) {
        let item = self.runs[run].item(place);
        let number = item.last_number();
        let State::Verifying(candidate) = &item.state else {
            step.refused
                .push(format!("attempt {number} of {} in {run} is no verification", item.id));
            return;
        };
        let verdict = self.verdict(run, item, candidate, &evidence.envelopes);
        self.look_at_learnings(step, run, place, evidence.learnings);
        match verdict {
            Verdict::Verified => {
                let fact = ItemFact::Verified(number, evidence.envelopes);
                self.commit_item(step, run, place, fact);
                self.answer_markers(step, run, place, &Decision::Confirmed);
                step.actions.extend(self.effect(step.at, run, place));
            }
            Verdict::Refuted { findings } => {
                self.refute(step, run, place, Refuter::Verdict(number), findings, Vec::new());
            }
            Verdict::Inconclusive { reason } => {
                let reason = match evidence.inconclusive {
                    Some(said) if !said.is_empty() => format!("{reason}; the verifier: {said}"),
                    _ => reason,
                };
                self.lose(step, run, place, Ending::Inconclusive, reason);
            }
        }
    }

    /// Keeps what the verifier saw of the learnings that it was told to look for (SPEC E5). It decides nothing.
    fn look_at_learnings(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        checks: Vec<LearningCheck>,
    ) {
        let item = self.runs[run].item(place);
        let number = item.last_number();
        let told = item.attempts.last().map_or(&[][..], |attempt| &attempt.dispatch.learnings);
        let checks: Vec<_> = checks.into_iter().filter(|c| told.contains(&c.id)).collect();
        if !checks.is_empty() {
            self.commit_item(step, run, place, ItemFact::LearningsChecked(number, checks));
        }
    }

    /// What evidence has to show for this candidate.
    pub(crate) fn question(&self, run: &RunId, item: &Item, candidate: &Candidate) -> Question {
        Question::new(
            run.clone(),
            item.id.clone(),
            &item.contract,
            candidate.tree.clone(),
            candidate.listing_sha256.clone(),
        )
    }

    fn verdict(
        &self,
        run: &RunId,
        item: &Item,
        candidate: &Candidate,
        envelopes: &[Envelope],
    ) -> Verdict {
        let question = self.question(run, item, candidate);
        let policy = Policy { allow_process_isolation: self.settings.allow_process_isolation };
        evidence::verdict(&question, envelopes, &self.settings.trust, policy)
    }

    fn refute(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        by: Refuter,
        mut findings: Vec<String>,
        out_of_scope: Vec<Finding>,
    ) {
        let Some((_, result)) = self.runs[run].item(place).work() else { return };
        let claims = result.claims.len();
        if matches!(by, Refuter::Verdict(_)) && claims > 0 {
            // How many and no more: a repair never reads its producer's words (B13).
            findings
                .push(format!("{claims} claims of the result are refuted by this verification"));
        }
        let findings = text::bounded(findings);
        let summary = findings.first().cloned().unwrap_or_default();
        let refused = Decision::Refused(summary.clone());
        let defect = Defect { summary, findings, work: commits(result) };
        let out_of_scope = text::bounded_findings(out_of_scope);
        let refutation = Refutation { by, defect, out_of_scope };
        self.answer_markers(step, run, place, &refused);
        self.commit_item(step, run, place, ItemFact::Refuted(Box::new(refutation)));
        self.settle(step, run, place);
    }
}

/// The commits of a result that has any.
pub(crate) fn commits(result: &WorkResult) -> Option<Commits> {
    let bundle = result.bundle.clone()?;
    Some(Commits { bundle, base: result.base.clone(), head: result.head.clone() })
}

fn conflict_finding(onto: &CommitId, paths: &[Vec<u8>]) -> String {
    let shown: Vec<String> =
        paths.iter().take(PATHS_SHOWN_MAX).map(|path| text::show(path)).collect();
    let more = paths.len().saturating_sub(PATHS_SHOWN_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("conflicts with {onto} in {}{more}: redo the change on top of it", shown.join(", "))
}
