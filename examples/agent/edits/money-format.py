# claim: format_amount writes what parse_amount reads
# file: inkwell/money.py
def format_amount(amount, grouping=True):
    """Writes an amount so that `parse_amount` reads it back: `-1,234.50 EUR`.

    The minus stands before the number; `grouping` puts a comma between thousands.
    """
    whole, cents = divmod(abs(amount.cents), 100)
    sign = "-" if amount.cents < 0 else ""
    number = f"{whole:,}" if grouping else str(whole)
    return f"{sign}{number}.{cents:02d} {amount.currency}"
