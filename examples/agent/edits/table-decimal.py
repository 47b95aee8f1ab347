# claim: decimal points stand in one column
# file: inkwell/table.py
def align_decimal(cells):
    """Fills cells such as `12.5 EUR` or `7` with spaces so that their decimal points stand in one column.

    A cell without a point is aligned as if the point followed its last digit. All results have the
    same length.
    """
    halves = []
    for cell in cells:
        point = cell.find(".")
        if point < 0:
            digits = [at for at, character in enumerate(cell) if character.isdigit()]
            point = digits[-1] + 1 if digits else len(cell)
        halves.append((cell[:point], cell[point:]))
    before = max((len(left) for left, _ in halves), default=0)
    after = max((len(right) for _, right in halves), default=0)
    return [left.rjust(before) + right.ljust(after) for left, right in halves]
