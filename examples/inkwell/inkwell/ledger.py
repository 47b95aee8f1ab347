"""Questions to a list of transactions: balances, registers, periods."""

from inkwell.dates import last_day, month_of
from inkwell.model import Entry
from inkwell.money import Amount


class Ledger:
    """The transactions of a journal, oldest first."""

    def __init__(self, transactions, currency="EUR"):
        self.transactions = sorted(transactions, key=lambda transaction: transaction.day)
        self.currency = currency

    def accounts(self):
        """The names of all accounts, in order."""
        return sorted({posting.account for posting in self.postings()})

    def postings(self):
        """All postings, oldest first."""
        return [posting for transaction in self.transactions for posting in transaction.postings]

    def balances(self):
        """What each account holds, by name; parents (`expenses` of `expenses:rent`) hold the sum of theirs."""
        raise NotImplementedError("Ledger.balances")

    def is_empty(self):
        """Whether there is no transaction at all."""
        return not self.transactions

    def register(self, account):
        """The entries of an account and of those below it, oldest first, with a running balance."""
        raise NotImplementedError("Ledger.register")

    def span(self):
        """The first and the last day, or None for an empty ledger."""
        if self.is_empty():
            return None
        return (self.transactions[0].day, self.transactions[-1].day)

    def between(self, first, last):
        """A ledger of the transactions from one day to another, both included."""
        raise NotImplementedError("Ledger.between")

    def payees(self):
        """The names of all payees, in order."""
        return sorted({transaction.payee for transaction in self.transactions})

    def month(self, month):
        """A ledger of the transactions of one month, given as the pair (year, month)."""
        raise NotImplementedError("Ledger.month")
