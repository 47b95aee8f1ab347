# claim: split loses no cent
# file: inkwell/money.py
def split(amount, parts):
    """Divides an amount into `parts` amounts that differ by a cent at most and add up to it.

    The larger shares come first; a negative amount is divided as its opposite would be.
    """
    if parts < 1:
        raise ValueError(f"cannot divide into {parts} parts")
    sign = -1 if amount.cents < 0 else 1
    share, rest = divmod(abs(amount.cents), parts)
    return [Amount(sign * (share + (part < rest)), amount.currency) for part in range(parts)]
