//! What must be so when a fact is decided: one rule after the other, each with the invariant that it serves.

use cantus_core::event::{Event, Inspection, ItemIndex};
use cantus_core::record::{Decision, Ending, ItemFact, Refutation, Refuter};
use cantus_proto::evidence::{Policy, Question, Verdict, verdict};
use cantus_proto::ids::{AttemptNumber, ItemId, RunId};
use cantus_proto::message::{
    AttemptKind, Candidate, Envelope, LeaseEvent, LeaseReport, Proposal, Report,
};
use cantus_proto::plan::PlanItem;

use super::book::{Book, Open, Over};
use super::{Ledger, Objection, Origin, budget, demand, object};
use crate::bus::Cause;
use crate::git::Quality;

/// Waits for a taker that one attempt may have: a clock may jump, and a coordinator may be late.
const QUEUE_WAITS_MAX: u64 = 10;

/// Leases of one attempt, at most.
const LEASES_MAX: u32 = 5;
/// Longest reason or finding with its mark of how much is left out, in bytes.
const TEXT_BYTES_MAX: usize = 2 * 1024 + 200;
/// Most findings of a defect, with the one that counts the rest.
const FINDINGS_MAX: usize = 21;

impl Origin<'_> {
    fn report(&self) -> Option<&LeaseReport> {
        match self.event()? {
            Event::Reported(report) => match &**report {
                Report::Lease(report) => Some(report),
                Report::ContainerExited(_) => None,
            },
            _ => None,
        }
    }

    fn event(&self) -> Option<&Event> {
        match self.cause {
            Cause::Event(event) => Some(event),
            Cause::Resumed | Cause::Beat(_) => None,
        }
    }
}

impl Ledger {
    /// Objects to a fact that the rules do not allow.
    pub(super) fn judge(
        &self,
        run: &RunId,
        place: ItemIndex,
        fact: &ItemFact,
        origin: &Origin<'_>,
    ) -> Objection {
        let Some(book) = self.book(run, place) else {
            return object(6, format!("a fact about an item that {run} does not have: {fact:?}"));
        };
        bounded(fact)?;
        let anew = matches!(
            fact,
            ItemFact::Requeued
                | ItemFact::Approved(..)
                | ItemFact::Rechecked(_)
                | ItemFact::Cancelled
        );
        demand(book.over.is_none() || anew || !fact.moves(), 2, || {
            format!("{} is {:?}, and then {fact:?}", book.id, book.over)
        })?;
        match fact {
            ItemFact::Queued(number, kind, _) => {
                self.queued(run, book, *number, *kind)?;
                self.check_budget(run, book, fact, origin)
            }
            ItemFact::Leased(number, holder) => {
                let open = book.opened(*number)?;
                demand(open.leases < LEASES_MAX, 10, || format!("{} is leased for ever", book.id))?;
                let role =
                    if open.kind == AttemptKind::Verify { &book.verifier } else { &book.role };
                demand(holder.leased.role == *role, 7, || {
                    format!("{} of role {} has {}", holder.lease, holder.leased.role, book.id)
                })?;
                let producer = book.work.as_ref().and_then(|(.., container)| container.as_ref());
                let own =
                    open.kind == AttemptKind::Verify && producer == Some(&holder.leased.container);
                demand(!own, 7, || format!("the producer of {} verifies it", book.id))?;
                demand(!self.held.contains_key(&holder.lease), 4, || {
                    format!("lease {} holds two attempts", holder.lease)
                })?;
                let said = origin.report().is_some_and(|report| report.lease == holder.lease);
                demand(said, 4, || format!("lease {} was said by nobody", holder.lease))
            }
            ItemFact::Ended(number, ending, _) => self.ended(book, *number, *ending, origin),
            ItemFact::Delivered(number, _) => {
                let open = book.opened(*number)?;
                demand(open.kind != AttemptKind::Verify, 7, || "a verifier hands in".to_owned())?;
                by_holder(book, open, origin)
            }
            ItemFact::Verified(number, envelopes) => {
                let open = book.opened(*number)?;
                by_holder(book, open, origin)?;
                self.verified(run, book, envelopes, origin)
            }
            _ => self.judge_result(run, book, fact, origin),
        }
    }

    fn judge_result(
        &self,
        run: &RunId,
        book: &Book,
        fact: &ItemFact,
        origin: &Origin<'_>,
    ) -> Objection {
        let id = &book.id;
        match fact {
            ItemFact::Gated => {
                answers(book, origin)?;
                let quality = book.work.as_ref().map(|(_, head, _)| origin.git.quality(head));
                let clean = !matches!(quality, Some(Quality::OutOfScope | Quality::Unreadable));
                demand(clean, 7, || format!("{id} passes the gates with {quality:?} work"))
            }
            ItemFact::MergeBegan => {
                demand(book.gated, 7, || format!("{id} is merged before the gates saw it"))
            }
            ItemFact::Merged(_) => answers(book, origin),
            ItemFact::HeadMoved(_) => {
                answers(book, origin)?;
                demand(!book.cancel_wanted, 2, || format!("{id} was cancelled and is merged again"))
            }
            ItemFact::Refuted(refutation) => refuted(book, refutation, origin),
            ItemFact::Landed(commit, _) => {
                answers(book, origin)?;
                demand(book.is_landing(), 1, || format!("{id} lands without a proof of its tree"))?;
                let name = (run.clone(), id.clone());
                demand(origin.git.landed(&name) == Some(commit), 1, || {
                    format!("{id} is not on the target as {commit}")
                })
            }
            ItemFact::Recovered(landed) => {
                let name = (run.clone(), id.clone());
                let there = origin.git.landed(&name) == Some(&landed.commit);
                let found = matches!(origin.event(), Some(Event::Found(..)));
                demand(there && found, 1, || format!("{id} is recovered, and not on the target"))
            }
            ItemFact::Reported => {
                let lands = self.runs.get(run).is_some_and(|run| run.lands);
                demand(!lands && book.work.is_some(), 2, || format!("{id} is reported"))
            }
            ItemFact::Demanded(number, _) => {
                let open = book.opened(*number)?;
                let held = open.holder.as_ref().map(|(lease, _)| lease);
                let beat = matches!(origin.cause, Cause::Beat(lease) if Some(lease) == held);
                demand(beat, 4, || format!("something is demanded of {id} without a heartbeat"))
            }
            ItemFact::Proposed(_, wish, Decision::Confirmed) if **wish == Proposal::Done => {
                demand(book.proof.is_some(), 8, || {
                    format!("{id} is done because its agent says so")
                })
            }
            ItemFact::Split(_, parts) => self.splits(run, book, parts),
            ItemFact::Saved(number, ..) => {
                let lease = origin.report().map(|report| (number.0, report.lease.clone()));
                let held = lease.is_some_and(|lease| book.leases.contains(&lease));
                demand(held, 4, || format!("work is saved that nobody had {number} of {id} for"))
            }
            _ => by_people(book, fact, origin),
        }
    }

    /// Parts have new names, need only each other and in no circle, and draw from what the whole has.
    fn splits(&self, run: &RunId, book: &Book, parts: &[PlanItem]) -> Objection {
        let id = &book.id;
        let mut known: Vec<&ItemId> = Vec::new();
        let taken = |part: &PlanItem| {
            self.runs.get(run).is_some_and(|run| run.by_id.contains_key(&part.id))
        };
        demand(!parts.iter().any(taken), 2, || format!("a part of {id} has the name of another"))?;
        while let Some(part) = parts.iter().find(|part| {
            !known.contains(&&part.id) && part.needs.iter().all(|need| known.contains(&need))
        }) {
            known.push(&part.id);
        }
        demand(known.len() == parts.len(), 2, || format!("the parts of {id} wait for ever"))?;
        let own = |part: &PlanItem| {
            let criteria = &part.contract.acceptance_criteria;
            let of_whole = |c| book.contract.acceptance_criteria.contains(c);
            !criteria.is_empty() && criteria.iter().all(of_whole)
        };
        demand(parts.iter().all(own), 7, || format!("a part of {id} has checkers of its own"))?;
        budget::check_split(book, parts)
    }

    fn queued(
        &self,
        run: &RunId,
        book: &Book,
        number: AttemptNumber,
        kind: AttemptKind,
    ) -> Objection {
        let id = &book.id;
        demand(number.0 == book.last + 1 && book.open.is_none(), 5, || {
            format!("attempt {number} of {id} comes after {}", book.last)
        })?;
        for need in &book.needs {
            let over = self.book(run, *need).and_then(|need| need.over);
            demand(matches!(over, Some(Over::Landed | Over::Reported)), 2, || {
                format!("{id} begins, and {} of its needs is {over:?}", need.0)
            })?;
        }
        if kind == AttemptKind::Verify {
            let most = self.settings.checks_max + book.rechecks;
            demand(book.candidate.is_some(), 1, || format!("{id} has nothing to verify"))?;
            return demand(book.vain < most, 5, || {
                format!("{id} is verified again after {} checks in vain of {most}", book.vain)
            });
        }
        demand(book.tries < book.tries_max, 5, || {
            format!("{id} gets try {} of {}", book.tries + 1, book.tries_max)
        })?;
        demand(book.conflicts <= 1, 5, || format!("{id} is redone after two conflicts"))
    }

    fn ended(
        &self,
        book: &Book,
        number: AttemptNumber,
        ending: Ending,
        origin: &Origin<'_>,
    ) -> Objection {
        let (id, open) = (&book.id, book.opened(number)?);
        match (ending, origin.event()) {
            (Ending::Failed(_) | Ending::Inconclusive | Ending::Unmeasured, _) => {
                by_holder(book, open, origin)
            }
            (Ending::Stalled | Ending::OverBudget, None) => {
                let held = open.holder.as_ref().map(|(lease, _)| lease);
                let beat = matches!(origin.cause, Cause::Beat(lease) if Some(lease) == held);
                demand(beat, 4, || format!("{id} is ended by the heartbeat of another"))
            }
            (Ending::OverBudget, Some(Event::Woken)) => Ok(()),
            (Ending::Unclaimed, Some(Event::Woken)) => {
                let since = open.queued.max(origin.entry.renewed);
                let waited = origin.entry.at.0.saturating_sub(since.0);
                let due = open.leased.is_none() && waited >= self.settings.queue_wait_ms;
                demand(due, 10, || format!("{id} waited {waited} ms, and its attempt is over"))?;
                // Whoever resumes puts the attempt out again, and then waits no longer than anybody.
                let most_ms = QUEUE_WAITS_MAX * self.settings.queue_wait_ms;
                demand(waited <= most_ms, 10, || format!("{id} waited {waited} ms for a taker"))
            }
            (Ending::Lost, Some(Event::Woken)) => {
                let lease = open.holder.as_ref().map(|(lease, _)| lease);
                let heard = lease.and_then(|lease| self.heard.get(lease)).copied();
                let since = heard.unwrap_or_default().max(origin.entry.renewed);
                let silent = origin.entry.at.0.saturating_sub(since.0);
                let begun = open.leased.map_or(origin.at, |(leased, _)| leased);
                let age = origin.at.0.saturating_sub(begun.0);
                let end = open.wall_clock_ms + self.settings.lease_ms;
                demand(silent >= self.settings.lease_ms || age >= end, 10, || {
                    format!("{id} was heard of {silent} ms ago, and its lease is over")
                })
            }
            (Ending::Lost, Some(Event::Reported(report))) => match &**report {
                Report::ContainerExited(exited) => {
                    let own = open.holder.as_ref().map(|(_, container)| container);
                    demand(own == Some(&exited.container), 4, || {
                        format!("{id} is lost because another container ended")
                    })
                }
                Report::Lease(report) => {
                    let last = matches!(report.body, LeaseEvent::Leased(_));
                    demand(last && open.leases + 1 >= LEASES_MAX, 4, || {
                        format!("{id} is lost by a report")
                    })
                }
            },
            (ending, cause) => object(4, format!("{id} ends {ending:?} because of {cause:?}")),
        }
    }

    /// Weighs the evidence again, and looks at what the verifiers really did.
    fn verified(
        &self,
        run: &RunId,
        book: &Book,
        envelopes: &[Envelope],
        origin: &Origin<'_>,
    ) -> Objection {
        let id = &book.id;
        let Some(candidate) = &book.candidate else {
            return object(1, format!("{id} is verified without a candidate"));
        };
        self.proves(run, book, candidate, envelopes)?;
        let name = (run.clone(), id.clone());
        demand(origin.git.has_passed(&name, candidate), 1, || {
            format!("{id} is verified, and no verifier saw its tree pass")
        })
    }

    fn proves(
        &self,
        run: &RunId,
        book: &Book,
        candidate: &Candidate,
        envelopes: &[Envelope],
    ) -> Objection {
        let question = Question::new(
            run.clone(),
            book.id.clone(),
            &book.contract,
            candidate.tree.clone(),
            candidate.listing_sha256.clone(),
        );
        let policy = Policy::default();
        match verdict(&question, envelopes, &self.settings.trust, policy) {
            Verdict::Verified => Ok(()),
            other => object(8, format!("{} passes with the verdict {other:?}", book.id)),
        }
    }

    /// Weighs evidence with which something is about to land.
    pub(crate) fn check_landing(&self, land: &cantus_core::event::Land) -> Objection {
        let run = &land.effect.run;
        let plan = self.plans.iter().find(|submission| submission.run == *run);
        let items = plan.map(|submission| submission.plan.items.as_slice()).unwrap_or_default();
        let contract = match items.iter().find(|item| item.id == land.item) {
            Some(item) => &item.contract,
            None => match self.book(run, land.effect.item) {
                Some(book) => &book.contract,
                None => return Ok(()),
            },
        };
        let tree = land.candidate.tree.clone();
        let listing = land.candidate.listing_sha256.clone();
        let question = Question::new(run.clone(), land.item.clone(), contract, tree, listing);
        match verdict(&question, &land.envelopes, &self.settings.trust, Policy::default()) {
            Verdict::Verified => Ok(()),
            other => object(1, format!("{} would land with the verdict {other:?}", land.item)),
        }
    }
}

impl Book {
    fn opened(&self, number: AttemptNumber) -> Result<&Open, crate::world::Trouble> {
        match &self.open {
            Some(open) if self.last == number.0 => Ok(open),
            _ => {
                let text = format!("attempt {number} of {} is not open", self.id);
                Err(crate::world::Trouble { invariant: 4, text })
            }
        }
    }
}

/// Only the newest lease of the newest attempt counts.
fn by_holder(book: &Book, open: &Open, origin: &Origin<'_>) -> Objection {
    let lease = open.holder.as_ref().map(|(lease, _)| lease);
    let said = origin.report().filter(|report| report.attempt.0 == book.last);
    let said = said.map(|report| &report.lease);
    demand(lease.is_some() && said == lease, 4, || {
        format!("{} is decided by lease {said:?}, and {lease:?} holds it", book.id)
    })
}

/// An answer of the hub counts only for the work that it is about.
fn answers(book: &Book, origin: &Origin<'_>) -> Objection {
    let effect = match origin.event() {
        Some(
            Event::Inspected(effect, _) | Event::Merged(effect, _) | Event::LandingTried(effect, _),
        ) => effect,
        other => return object(4, format!("{} goes on because of {other:?}", book.id)),
    };
    let work = book.work.as_ref().map(|(number, ..)| *number);
    demand(work == Some(effect.work.0), 4, || {
        format!("{} goes on by an answer about attempt {}", book.id, effect.work)
    })
}

fn refuted(book: &Book, refutation: &Refutation, origin: &Origin<'_>) -> Objection {
    let id = &book.id;
    let quality = book.work.as_ref().map(|(_, head, _)| origin.git.quality(head));
    match &refutation.by {
        Refuter::Verdict(number) => {
            by_holder(book, book.opened(*number)?, origin)?;
            demand(quality == Some(Quality::Wrong), 8, || {
                format!("{id} is refuted, and no checker failed on its {quality:?} work")
            })?;
        }
        Refuter::Inspection | Refuter::Gate => {
            answers(book, origin)?;
            let refused =
                matches!(origin.event(), Some(Event::Inspected(_, Inspection::Refused(_))));
            let by = refutation.by == Refuter::Inspection;
            demand(refused == by, 7, || format!("{id} is kept out by {:?}", refutation.by))?;
        }
        Refuter::Merge(_) => answers(book, origin)?,
    }
    let raw = matches!(refutation.by, Refuter::Gate | Refuter::Merge(_));
    let shown = |text: &String| !raw || !text.chars().any(char::is_control);
    demand(refutation.defect.findings.iter().all(shown), 9, || {
        format!("{id} repeats control characters: {:?}", refutation.defect.findings)
    })
}

/// What people and agents wrote has a limit where it is repeated.
fn bounded(fact: &ItemFact) -> Objection {
    let texts: Vec<&str> = match fact {
        ItemFact::Ended(_, _, reason)
        | ItemFact::Parked(reason)
        | ItemFact::Saved(_, _, reason) => {
            vec![reason]
        }
        ItemFact::Refuted(refutation) => {
            let defect = &refutation.defect;
            demand(defect.findings.len() <= FINDINGS_MAX, 9, || "a defect without end".to_owned())?;
            let findings = defect.findings.iter().map(String::as_str);
            findings.chain([defect.summary.as_str()]).collect()
        }
        _ => vec![],
    };
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    demand(longest <= TEXT_BYTES_MAX, 9, || format!("a text of {longest} bytes is recorded"))
}

/// What only a person or a limit may bring about.
fn by_people(book: &Book, fact: &ItemFact, origin: &Origin<'_>) -> Objection {
    let id = &book.id;
    match fact {
        ItemFact::Parked(reason) => {
            demand(!reason.is_empty(), 2, || format!("{id} is parked without a reason"))?;
            let limit = ["tries are used up", "redo it by hand"].iter().any(|l| reason.contains(l));
            demand(!(book.fresh && limit), 5, || {
                format!("{id} was put back and had no try: {reason}")
            })
        }
        ItemFact::Requeued => {
            let asked = matches!(origin.event(), Some(Event::Requeued(..)));
            let stopped = matches!(book.over, Some(Over::Parked | Over::Cancelled));
            demand(asked && stopped, 2, || format!("{id} is put back by nobody"))
        }
        ItemFact::Cancelled => {
            let asked = matches!(origin.event(), Some(Event::Cancelled(..)));
            demand(asked || book.cancel_wanted, 2, || format!("{id} is cancelled by nobody"))
        }
        ItemFact::Approved(number, _) => {
            let asked = matches!(origin.event(), Some(Event::Approved { .. }));
            let present = book.work.as_ref().is_some_and(|(work, ..)| *work == number.0);
            demand(asked && present, 7, || format!("{id} is let through by nobody"))
        }
        ItemFact::Rechecked(_) => {
            let asked = matches!(origin.event(), Some(Event::Rechecked { .. }));
            demand(asked && book.work.is_some(), 7, || format!("{id} is checked for nobody"))
        }
        _ => Ok(()),
    }
}
