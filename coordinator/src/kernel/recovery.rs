//! What landed without the journal knowing: a bus can come back with an older store, and the target is asked.

use cantus_core::event::Event;
use cantus_core::item::Landed;

use super::{Kernel, KernelError};

impl Kernel {
    /// Asks the targets what they contain: a journal that lost its end does not know of it all (case Q7).
    pub(super) async fn recover_landings(&mut self) -> Result<(), KernelError> {
        let open = self.core.runs().values().filter(|run| run.ended.is_none());
        let open: Vec<_> =
            open.filter_map(|run| Some((run.id.clone(), run.repository.clone()?))).collect();
        for (run, repository) in open {
            let found = self.effects.landings(&run, &repository).await;
            let mut turn = self.begin();
            for landing in found {
                let landed = Landed {
                    commit: landing.commit,
                    tree: landing.tree,
                    evidence: landing.evidence,
                };
                let event = Event::Found(run.clone(), landing.item, Box::new(landed));
                self.step(&mut turn, event);
            }
            // What else follows is asked for by the resumption, for all runs at once.
            turn.actions.clear();
            self.finish(turn).await?;
        }
        Ok(())
    }
}
