"""Plain-text accounts: a journal that anyone can read, and reports that fit a letter."""

__version__ = "0.3.0"
