"""What a journal consists of."""

import datetime
from dataclasses import dataclass

from inkwell.money import Amount, is_settled


class UnbalancedError(ValueError):
    """A transaction whose postings do not add up to zero."""


@dataclass(frozen=True)
class Posting:
    """An amount that is put on an account, or taken from it when negative."""

    account: str
    amount: Amount


@dataclass(frozen=True)
class Transaction:
    """Postings of one day that cancel out."""

    day: datetime.date
    payee: str
    postings: tuple

    def __post_init__(self):
        if not is_settled(posting.amount for posting in self.postings):
            raise UnbalancedError(f"{self.day} {self.payee}: the postings do not add up to zero")


@dataclass(frozen=True)
class Entry:
    """One line of an account's register: what came, and what was there afterwards."""

    day: datetime.date
    payee: str
    amount: Amount
    balance: Amount
