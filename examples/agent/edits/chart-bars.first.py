# claim: all tests pass
# new file: inkwell/chart.py
"""Charts of characters."""

STEPS = "▁▂▃▄▅▆▇█"


def bar(value, largest, width):
    """A bar of `#` whose length stands to `width` as `value` to `largest`; one at least for a value above zero."""
    return "#" * int(value / largest * width)


def sparkline(values):
    """One character for each value, from the lowest to the highest step."""
    lowest, highest = min(values), max(values)
    return "".join(STEPS[int((value - lowest) / (highest - lowest) * 7)] for value in values)
