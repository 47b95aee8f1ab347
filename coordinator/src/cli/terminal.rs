//! The terminal behind a stream: whether there is one, and how large it is now.

use std::os::fd::AsFd;

use super::paint;

/// Rows and columns where a terminal does not tell: what terminals began with.
const SIZE_DEFAULT: Size = Size { columns: 80, rows: 24 };

/// Of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Asks the terminal.
pub(super) fn size(stream: impl AsFd) -> Size {
    match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) }
        }
        _ => SIZE_DEFAULT,
    }
}

/// Whether this is a terminal whose cursor can be moved.
pub(super) fn is_live(terminal: bool) -> bool {
    terminal && !paint::terminal_is_dumb()
}
