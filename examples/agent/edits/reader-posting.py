# claim: postings are read, and half a posting is refused
# file: inkwell/reader.py
def parse_posting(text):
    """Reads `  expenses:office   12.50 EUR`: an account, two spaces or more, an amount.

    Account names may hold single spaces. A text without an amount, or without an account, is a
    `ValueError` that names the text.
    """
    account, gap, amount = text.strip().partition("  ")
    if not gap:
        raise ValueError(f"not a posting: {text.strip()!r}; put two spaces between account and amount")
    return Posting(account, parse_amount(amount))
