# claim: both days of a period are part of it
# file: inkwell/ledger.py
import datetime


class Ledger:
    def between(self, first, last):
        """A ledger of the transactions from one day to another, both included."""
        inside = [transaction for transaction in self.transactions if first <= transaction.day <= last]
        return Ledger(inside, self.currency)

    def month(self, month):
        """A ledger of the transactions of one month, given as the pair (year, month)."""
        return self.between(datetime.date(*month, 1), last_day(month))
