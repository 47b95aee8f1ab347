"""The command line: one report of one journal file at a time."""

from inkwell.ledger import Ledger
from inkwell.reader import JournalError, read

USAGE = """usage: inkwell balance FILE
       inkwell monthly FILE [ACCOUNT]
       inkwell guess FILE RULES
       inkwell share FILE ACCOUNT PERSONS
"""


def load(path):
    """The ledger of a journal file."""
    with open(path, encoding="utf-8") as file:
        return Ledger(read(file.read()))


def main(arguments, out, err):
    """Runs one command; returns the exit code: 0, 1 for a journal that cannot be read, 2 for wrong usage."""
    try:
        text = run(arguments)
    except (JournalError, OSError) as error:
        err.write(f"inkwell: {error}\n")
        return 1
    if text is None:
        err.write(USAGE)
        return 2
    out.write(text)
    return 0


def run(arguments):
    """The text that a command prints, or None when there is no such command.

    `guess` is a table of all payees with the account that the rules give them, or `?`. `share` says
    in a sentence, wrapped at 60 characters, what each of some persons pays of an account's balance.
    """
    raise NotImplementedError("run")
