# claim: bars and sparklines also hold for empty and equal values
# new file: inkwell/chart.py
"""Charts of characters."""

STEPS = "▁▂▃▄▅▆▇█"


def bar(value, largest, width):
    """A bar of `#` whose length stands to `width` as `value` to `largest`; one at least for a value above zero."""
    if value <= 0 or largest <= 0:
        return ""
    return "#" * min(width, max(1, value * width // largest))


def sparkline(values):
    """One character for each value, from the lowest to the highest step."""
    if not values:
        return ""
    lowest = min(values)
    spread = max(values) - lowest
    if spread == 0:
        return STEPS[0] * len(values)
    return "".join(STEPS[(value - lowest) * (len(STEPS) - 1) // spread] for value in values)
