# claim: parents hold the sum of their accounts
# file: inkwell/ledger.py
class Ledger:
    def balances(self):
        """What each account holds, by name; parents (`expenses` of `expenses:rent`) hold the sum of theirs."""
        sums = {}
        for posting in self.postings():
            parts = posting.account.split(":")
            for depth in range(1, len(parts) + 1):
                name = ":".join(parts[:depth])
                sums[name] = sums.get(name, Amount(0, posting.amount.currency)) + posting.amount
        return dict(sorted(sums.items()))
