//! One worker or verifier: takes attempts and says what a test wants it to say.

use std::time::Duration;

use cantus_proto::bus::{Bus, Delivery, HeartbeatAnswer, WorkQueue};
use cantus_proto::contract::Criterion;
use cantus_proto::evidence::receipt::{Ending, checker_argv, checker_digest};
use cantus_proto::evidence::{Binding, Receipt, Subject, attest};
use cantus_proto::ids::{Blob, CommitId, ContainerName, Digest, HostName, LeaseId, RoleName};
use cantus_proto::message::{
    Attempt, Candidate, Commits, Evidence, Failed, FailureKind, Heartbeat, Isolation, LeaseEvent,
    LeaseReport, Leased, Report, Usage, WorkResult,
};
use cantus_proto::subjects::BusUser;

use super::{PATIENCE, Work, role, verifier_key};
use crate::nats::Nats;

/// Takes attempts of one role.
#[derive(Debug)]
pub struct Taker {
    /// Its connection.
    pub bus: Bus,
    /// What it takes.
    pub role: RoleName,
    container: ContainerName,
    queue: WorkQueue,
}

/// One attempt that somebody holds, or pretends to.
#[derive(Debug, Clone)]
pub struct Lease {
    /// What is to be done.
    pub attempt: Attempt,
    /// Drawn by the holder.
    pub id: LeaseId,
    bus: Bus,
    role: RoleName,
    container: ContainerName,
}

impl Taker {
    /// A worker with a connection of its own.
    ///
    /// # Panics
    /// When the bus is not there.
    pub async fn worker(nats: &Nats, name: &str) -> Self {
        Self::new(nats, &BusUser::Worker(role("worker")), "worker", name).await
    }

    /// A worker of another role.
    ///
    /// # Panics
    /// When the bus is not there.
    pub async fn worker_of(nats: &Nats, role_name: &str, name: &str) -> Self {
        Self::new(nats, &BusUser::Worker(role(role_name)), role_name, name).await
    }

    /// A verifier with a connection of its own.
    ///
    /// # Panics
    /// When the bus is not there.
    pub async fn verifier(nats: &Nats, name: &str) -> Self {
        Self::new(nats, &BusUser::Verifier(role("verifier")), "verifier", name).await
    }

    async fn new(nats: &Nats, user: &BusUser, role_name: &str, name: &str) -> Self {
        let bus = nats.connect(user).await;
        let role = role(role_name);
        let queue = bus.work_queue(&role).await.expect("a slot can be opened");
        let container = ContainerName::new(name).expect("tests name valid containers");
        Self { bus, role, container, queue }
    }

    /// Takes a message off the queue without a word.
    ///
    /// # Panics
    /// When none comes.
    pub async fn pull(&mut self) -> Delivery {
        let delivery = self.queue.next(PATIENCE).await.expect("the queue is served");
        delivery.unwrap_or_else(|| panic!("{} got no work", self.container))
    }

    /// Takes a message off the queue if one comes in time; also nothing while the bus is away.
    pub async fn try_pull(&mut self, patience: Duration) -> Option<Delivery> {
        match self.queue.next(patience).await {
            Ok(delivery) => delivery,
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                None
            }
        }
    }

    /// Takes an attempt as workers do: pull, `Leased`, acknowledge.
    ///
    /// # Panics
    /// When none comes.
    pub async fn take(&mut self) -> Lease {
        let delivery = self.pull().await;
        self.lease(&delivery).await
    }

    /// Says that it took this message, then acknowledges it.
    ///
    /// # Panics
    /// When the bus does not store it.
    pub async fn lease(&self, delivery: &Delivery) -> Lease {
        let lease = self.claim(&delivery.attempt);
        lease.say(LeaseEvent::Leased(lease.leased())).await;
        delivery.ack().await.expect("the connection is open");
        lease
    }

    /// A lease id for this attempt that nobody has been told of.
    ///
    /// # Panics
    /// When the system has no randomness.
    #[must_use]
    pub fn claim(&self, attempt: &Attempt) -> Lease {
        let mut id = [0; 16];
        getrandom::fill(&mut id).expect("the system has randomness");
        Lease {
            attempt: attempt.clone(),
            id: LeaseId::from_bytes(id),
            bus: self.bus.clone(),
            role: self.role.clone(),
            container: self.container.clone(),
        }
    }

    /// Ends it without a word, its connection with it.
    pub fn die(self) {
        drop(self);
    }
}

impl Lease {
    /// What its holder says of itself.
    ///
    /// # Panics
    /// Never: the host's name is a constant.
    #[must_use]
    pub fn leased(&self) -> Leased {
        Leased {
            role: self.role.clone(),
            host: HostName::new("host").expect("a constant"),
            container: self.container.clone(),
            isolation: Isolation::Container,
            base: None,
            image: "sha256:0".to_owned(),
        }
    }

    /// Stores a report about this lease.
    ///
    /// # Panics
    /// When the bus does not store it.
    pub async fn say(&self, body: LeaseEvent) {
        let report = Report::Lease(LeaseReport {
            lease: self.id.clone(),
            run: self.attempt.run.clone(),
            item: self.attempt.item.clone(),
            attempt: self.attempt.number,
            kind: self.attempt.work.kind(),
            body,
        });
        self.bus.report(&self.role, &report, PATIENCE).await.expect("the report is stored");
    }

    /// Asks whether to go on.
    ///
    /// # Panics
    /// When the connection is closed.
    pub async fn beat(&self) -> HeartbeatAnswer {
        let beat = Heartbeat {
            lease: self.id.clone(),
            run: self.attempt.run.clone(),
            item: self.attempt.item.clone(),
            attempt: self.attempt.number,
            note: String::new(),
            pulse: None,
        };
        self.bus.heartbeat(&self.role, &beat).await.expect("the connection is open")
    }

    /// Hands in commits.
    ///
    /// # Panics
    /// When the bus does not store them.
    pub async fn hand_in(&self, work: &Work) {
        let result = self.result(work).await;
        self.say(LeaseEvent::Result(result)).await;
    }

    /// Stores a bundle; the result that says so.
    ///
    /// # Panics
    /// When the bus does not store it, or it is over the attempt's limit.
    pub async fn result(&self, work: &Work) -> WorkResult {
        let limit = self.attempt.limits.artifact_bytes_max;
        let bundle = match &work.bundle {
            Some(bytes) => {
                Some(self.bus.put_blob(bytes, limit, PATIENCE).await.expect("the bundle is stored"))
            }
            None => None,
        };
        result_of(&work.base, &work.head, bundle)
    }

    /// Hands in nothing but its being done, for a run that lands nowhere.
    ///
    /// # Panics
    /// When the bus does not store it.
    pub async fn done(&self) {
        let nowhere = CommitId::new("0".repeat(40)).expect("a constant");
        self.say(LeaseEvent::Result(result_of(&nowhere, &nowhere, None))).await;
    }

    /// Hands in some bytes as the bundle of commits that exist nowhere.
    ///
    /// # Panics
    /// When the bus does not store them.
    pub async fn done_with(&self, bytes: &[u8]) -> Commits {
        let (base, head) = ("a".repeat(40), Digest::of(bytes).as_str()[..40].to_owned());
        let (base, head) = (CommitId::new(base).expect("hex"), CommitId::new(head).expect("hex"));
        let bundle =
            self.bus.put_blob(bytes, 1 << 20, PATIENCE).await.expect("the bundle is stored");
        self.say(LeaseEvent::Result(result_of(&base, &head, Some(bundle.clone())))).await;
        Commits { bundle, base, head }
    }

    /// Says that the agent failed.
    ///
    /// # Panics
    /// When the bus does not store it.
    pub async fn fail(&self, kind: FailureKind, reason: &str) {
        self.say(LeaseEvent::Failed(Failed::new(kind, reason))).await;
    }

    /// What it is to verify.
    ///
    /// # Panics
    /// When it is no verification.
    #[must_use]
    pub fn candidate(&self) -> &Candidate {
        match &self.attempt.work {
            cantus_proto::message::Work::Verify(verification) => &verification.candidate,
            other => panic!("not a verification: {other:?}"),
        }
    }

    /// Hands in evidence that every checker of the contract ended with this code.
    ///
    /// # Panics
    /// When the bus does not store it.
    pub async fn verify(&self, exit_code: i32) {
        self.say(LeaseEvent::Evidence(self.evidence(self.candidate(), exit_code))).await;
    }

    /// Signed evidence for this candidate.
    ///
    /// # Panics
    /// When the exit code decides nothing.
    #[must_use]
    pub fn evidence(&self, candidate: &Candidate, exit_code: i32) -> Evidence {
        let criteria = &self.attempt.contract.acceptance_criteria;
        let sign = |criterion: &Criterion| {
            let receipt = self.receipt(candidate, criterion, exit_code);
            attest(&receipt, &verifier_key()).expect("an exit code decides")
        };
        Evidence {
            tree: candidate.tree.clone(),
            envelopes: criteria.iter().map(sign).collect(),
            log: None,
            inconclusive: None,
            learnings: Vec::new(),
        }
    }

    fn receipt(&self, candidate: &Candidate, criterion: &Criterion, exit_code: i32) -> Receipt {
        Receipt {
            subject: Subject {
                tree: candidate.tree.clone(),
                listing: candidate.listing_sha256.clone(),
            },
            binding: Binding {
                run: self.attempt.run.clone(),
                item: self.attempt.item.clone(),
                attempt: self.attempt.number,
                criterion: criterion.id.clone(),
                checker: checker_digest(criterion),
                isolation: Isolation::Container,
            },
            argv: checker_argv(&criterion.checker),
            ending: Ending::Exit(exit_code),
            stdout: Digest::of(b""),
            stderr: Digest::of(b""),
            output_truncated: false,
            duration_ms: 1,
            image: "sha256:0".to_owned(),
            host: "host".to_owned(),
            counts: None,
            changed_files: Vec::new(),
        }
    }
}

fn result_of(base: &CommitId, head: &CommitId, bundle: Option<Blob>) -> WorkResult {
    // No model, no tokens: that is measured.
    let usage = Some(Usage::default());
    WorkResult { usage, ..WorkResult::new(base.clone(), head.clone(), bundle) }
}
