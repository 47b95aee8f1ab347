//! The hub and what is upstream of it: trees are sets of words, a merge is a union.
//!
//! It judges what lands by what it knows itself: which work is good, and which trees an honest verifier has passed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cantus_core::event::{Event, Inspect, Inspection, Land, LandingTry, Merge, MergeWork};
use cantus_core::item::Landed;
use cantus_core::scope_delta::{Content as Bytes, FileChange, findings};
use cantus_proto::ids::{CommitId, Digest, ItemId, RepositoryId, RunId, TreeId};
use cantus_proto::message::Candidate;

use crate::words::{blob, commit, digest, tree};

/// What a piece of work is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Quality {
    Good,
    /// A checker fails on it.
    Wrong,
    /// It touches what it may not.
    OutOfScope,
    /// It does not merge.
    Conflicting,
    /// The hub does not take it in.
    Unreadable,
}

pub(crate) type Content = Arc<BTreeSet<String>>;
pub(crate) type Name = (RunId, ItemId);

/// One upstream repository.
#[derive(Debug, Clone)]
struct Upstream {
    head: CommitId,
    landed: BTreeMap<Name, CommitId>,
    /// The same in the order of its history.
    history: Vec<(Name, Landed)>,
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    upstreams: BTreeMap<RepositoryId, Upstream>,
    contents: BTreeMap<CommitId, Content>,
    qualities: BTreeMap<CommitId, Quality>,
    passed: BTreeSet<(Name, TreeId)>,
    drawn: u64,
}

/// The tree and its listing that have this content.
pub(crate) fn tree_of(content: &BTreeSet<String>) -> (TreeId, Digest) {
    let words: Vec<&str> = content.iter().map(String::as_str).collect();
    let words = words.join(", ");
    (tree(&words), digest(&format!("listing {words}")))
}

impl Git {
    pub(crate) fn new() -> Self {
        Self {
            upstreams: BTreeMap::new(),
            contents: BTreeMap::from([(commit("start"), Content::default())]),
            qualities: BTreeMap::new(),
            passed: BTreeSet::new(),
            drawn: 0,
        }
    }

    fn upstream(&mut self, id: &RepositoryId) -> &mut Upstream {
        let new = || Upstream { head: commit("start"), landed: BTreeMap::new(), history: vec![] };
        self.upstreams.entry(id.clone()).or_insert_with(new)
    }

    pub(crate) fn head(&mut self, id: &RepositoryId) -> CommitId {
        self.upstream(id).head.clone()
    }

    /// The commit with which this item is on its target.
    pub(crate) fn landed(&self, name: &Name) -> Option<&CommitId> {
        self.upstreams.values().find_map(|upstream| upstream.landed.get(name))
    }

    /// What the target of a run has of it, in the order of its history.
    pub(crate) fn landings(&self, id: &RepositoryId, run: &RunId) -> Vec<(ItemId, Landed)> {
        let history = self.upstreams.get(id).map(|u| u.history.as_slice()).unwrap_or_default();
        let own = history.iter().filter(|((of, _), _)| of == run);
        own.map(|((_, item), landed)| (item.clone(), landed.clone())).collect()
    }

    pub(crate) fn content(&self, commit: &CommitId) -> Option<&Content> {
        self.contents.get(commit)
    }

    pub(crate) fn quality(&self, head: &CommitId) -> Quality {
        self.qualities.get(head).copied().unwrap_or(Quality::Good)
    }

    /// A worker's commit on a base that it has.
    pub(crate) fn add_work(&mut self, base: &CommitId, word: &str, quality: Quality) -> CommitId {
        let mut content = self.contents.get(base).cloned().unwrap_or_default();
        Arc::make_mut(&mut content).insert(word.to_owned());
        let head = commit(word);
        self.contents.insert(head.clone(), content);
        self.qualities.insert(head.clone(), quality);
        head
    }

    /// An honest verifier saw every checker succeed on this tree.
    pub(crate) fn pass(&mut self, name: Name, tree: TreeId) {
        self.passed.insert((name, tree));
    }

    /// Whether the candidate's tree was passed for this item, and is what its commit has.
    pub(crate) fn has_passed(&self, name: &Name, candidate: &Candidate) -> bool {
        let is = |content: &Content| tree_of(content);
        let expected = (candidate.tree.clone(), candidate.listing_sha256.clone());
        self.contents.get(&candidate.commit).map(is) == Some(expected)
            && self.passed.contains(&(name.clone(), candidate.tree.clone()))
    }

    pub(crate) fn inspect(&self, inspect: &Inspect) -> Event {
        let quality = self.quality(&inspect.head);
        if quality == Quality::Unreadable {
            let why = "object 0000: badTree\u{7}".to_owned();
            return Event::Inspected(inspect.effect.clone(), Inspection::Refused(vec![why]));
        }
        let path: &[u8] = match quality {
            Quality::OutOfScope => b"Makefile\n\x1b[31m\xff",
            _ => b"src/file",
        };
        let change = FileChange {
            path: path.to_vec(),
            mode_old: 0,
            mode_new: 0o100_644,
            old: Bytes::Absent,
            new: Bytes::Bytes(b"a line\n".to_vec()),
        };
        let changes = if inspect.base == inspect.head { vec![] } else { vec![change] };
        let found = findings(&inspect.contract, inspect.complexity, &changes);
        Event::Inspected(inspect.effect.clone(), Inspection::Read(found))
    }

    /// Some work conflicts with whatever there is, and some with what was pushed since it began.
    fn conflicts(&self, head: &CommitId, onto: &CommitId) -> bool {
        let (ours, theirs) = (self.contents.get(onto), self.contents.get(head));
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return false };
        let pushed = |word: &&String| word.starts_with("pushed") && !theirs.contains(*word);
        let hits = |word: &String| {
            word.bytes().chain(head.as_str().bytes()).map(u32::from).sum::<u32>() % 5 == 0
        };
        self.quality(head) == Quality::Conflicting || ours.iter().filter(pushed).any(hits)
    }

    pub(crate) fn merge(&mut self, merge: &MergeWork) -> Event {
        let onto = self.head(&merge.repository.id);
        let outcome = if self.conflicts(&merge.head, &onto) {
            Merge::Conflict { onto, paths: vec![b"src/\x07file".to_vec()] }
        } else {
            let nothing = Content::default();
            let ours = self.contents.get(&onto).unwrap_or(&nothing);
            let content = &**ours | self.contents.get(&merge.head).unwrap_or(&nothing);
            let merged = commit(&format!("merge {} {onto}", merge.head));
            let (tree, listing_sha256) = tree_of(&content);
            let bundle = blob(merged.as_str());
            self.contents.insert(merged.clone(), Arc::new(content));
            self.qualities.insert(merged.clone(), self.quality(&merge.head));
            Merge::Clean(Candidate { commit: merged, tree, base: onto, bundle, listing_sha256 })
        };
        Event::Merged(merge.effect.clone(), outcome)
    }

    /// What its history already contains is answered with the commit that is there.
    pub(crate) fn land(&mut self, land: &Land) -> Event {
        let name = (land.effect.run.clone(), land.item.clone());
        let content = self.contents.get(&land.candidate.commit).cloned().unwrap_or_default();
        let upstream = self.upstream(&land.repository.id);
        let evidence = digest("evidence");
        let tried = if let Some(commit) = upstream.landed.get(&name) {
            LandingTry::Landed { commit: commit.clone(), evidence }
        } else if upstream.head == land.candidate.base {
            let landing = commit(&format!("landing {}", land.candidate.commit));
            upstream.head = landing.clone();
            let tree = land.candidate.tree.clone();
            let found = Landed { commit: landing.clone(), tree, evidence: evidence.clone() };
            upstream.history.push((name.clone(), found));
            upstream.landed.insert(name, landing.clone());
            self.contents.insert(landing.clone(), content);
            LandingTry::Landed { commit: landing, evidence }
        } else {
            LandingTry::Moved { head: upstream.head.clone() }
        };
        Event::LandingTried(land.effect.clone(), tried)
    }

    /// Somebody else pushes: something, or a commit without a change.
    pub(crate) fn push(&mut self, id: &RepositoryId, something: bool) {
        self.drawn += 1;
        let word = format!("pushed {}", self.drawn);
        let head = self.head(id);
        let mut content = self.contents.get(&head).cloned().unwrap_or_default();
        if something {
            Arc::make_mut(&mut content).insert(word.clone());
        }
        let pushed = commit(&word);
        self.contents.insert(pushed.clone(), content);
        self.upstream(id).head = pushed;
    }

    /// Whether everything that ever landed is still in its target.
    pub(crate) fn lost(&self) -> Option<String> {
        let lost = |upstream: &Upstream| {
            let head = self.contents.get(&upstream.head)?;
            let missing = upstream.landed.iter().find(|(_, commit)| {
                self.contents.get(commit).is_some_and(|content| !content.is_subset(head))
            });
            missing.map(|((run, item), _)| format!("{item} of {run} is no longer in its target"))
        };
        self.upstreams.values().find_map(lost)
    }
}
