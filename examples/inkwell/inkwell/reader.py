"""Reads a journal: one transaction per paragraph, comments after a semicolon."""

from inkwell.dates import DateError, parse_date
from inkwell.model import Posting, Transaction, UnbalancedError
from inkwell.money import parse_amount


class JournalError(ValueError):
    """What is wrong with a journal, with the line it is on."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line


def parse_posting(text):
    """Reads `  expenses:office   12.50 EUR`: an account, two spaces or more, an amount.

    Account names may hold single spaces. A text without an amount, or without an account, is a
    `ValueError` that names the text.
    """
    raise NotImplementedError("parse_posting")


def strip_comment(line):
    """The line without what follows a semicolon, and without spaces at its end."""
    return line.split(";", 1)[0].rstrip()


def read(text):
    """All transactions of a journal, in the order of the text."""
    transactions = []
    paragraph = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = strip_comment(line)
        if line:
            paragraph.append((number, line))
        elif paragraph:
            transactions.append(_transaction(paragraph))
            paragraph = []
    if paragraph:
        transactions.append(_transaction(paragraph))
    return transactions


def _transaction(paragraph):
    number, head = paragraph[0]
    day, _, payee = head.partition(" ")
    try:
        day = parse_date(day)
    except DateError as error:
        raise JournalError(number, str(error)) from error
    postings = tuple(_posting(line, text) for line, text in paragraph[1:])
    try:
        return Transaction(day, payee.strip(), postings)
    except UnbalancedError as error:
        raise JournalError(number, str(error)) from error


def _posting(number, text):
    try:
        return parse_posting(text)
    except ValueError as error:
        raise JournalError(number, str(error)) from error
