# claim: split divides an amount into equal parts
# file: inkwell/money.py
def split(amount, parts):
    """Divides an amount into `parts` amounts that differ by a cent at most and add up to it.

    The larger shares come first; a negative amount is divided as its opposite would be.
    """
    if parts < 1:
        raise ValueError(f"cannot divide into {parts} parts")
    return [Amount(round(amount.cents / parts), amount.currency) for _ in range(parts)]
