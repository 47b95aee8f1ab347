# claim: the register runs a balance
# file: inkwell/ledger.py
class Ledger:
    def register(self, account):
        """The entries of an account and of those below it, oldest first, with a running balance."""
        entries, balance = [], Amount(0, self.currency)
        for transaction in self.transactions:
            for posting in transaction.postings:
                if posting.account == account or posting.account.startswith(account + ":"):
                    balance = balance + posting.amount
                    entries.append(Entry(transaction.day, transaction.payee, posting.amount, balance))
        return entries
