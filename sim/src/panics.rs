//! Panics of the core are findings of the simulator: kept silent, with their place, for the thread that has them.

use std::cell::RefCell;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on panics are kept, and not printed where a seed is lived.
pub(crate) fn keep() {
    std::panic::set_hook(Box::new(|panic| {
        LAST.with(|last| *last.borrow_mut() = Some(panic.to_string().replace('\n', " ")));
    }));
}

/// The last one of this thread.
pub(crate) fn last() -> Option<String> {
    LAST.with(|last| last.borrow_mut().take())
}
