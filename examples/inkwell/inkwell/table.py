"""Tables in plain text."""

GAP = "  "


def wrap_cell(text, width):
    """Breaks a text into lines of at most `width` characters, at spaces where it can.

    A word longer than the width is cut. An empty text is one empty line.
    """
    raise NotImplementedError("wrap_cell")


def as_markdown(rows, header):
    """A Markdown table; a bar in a cell is escaped, a line break becomes `<br>`."""
    raise NotImplementedError("as_markdown")


def pad(text, width, align="left"):
    """Fills a text with spaces up to a width."""
    if align == "right":
        return text.rjust(width)
    if align == "center":
        return text.center(width).rstrip().ljust(width)
    return text.ljust(width)


def align_decimal(cells):
    """Fills cells such as `12.5 EUR` or `7` with spaces so that their decimal points stand in one column.

    A cell without a point is aligned as if the point followed its last digit. All results have the
    same length.
    """
    raise NotImplementedError("align_decimal")


def render(rows, header=None, align=()):
    """A table of rows of texts; `align` holds `left`, `right` or `center` for each column."""
    lines = [list(header)] + [list(row) for row in rows] if header else [list(row) for row in rows]
    if not lines:
        return ""
    columns = max(len(line) for line in lines)
    for line in lines:
        line.extend([""] * (columns - len(line)))
    widths = [max(len(line[column]) for line in lines) for column in range(columns)]
    sides = list(align) + ["left"] * (columns - len(align))
    texts = [GAP.join(pad(*cell) for cell in zip(line, widths, sides)).rstrip() for line in lines]
    if header:
        texts.insert(1, GAP.join("-" * width for width in widths))
    return "\n".join(texts) + "\n"
