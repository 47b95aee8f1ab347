# claim: text is wrapped at spaces
# file: inkwell/table.py
def wrap_cell(text, width):
    """Breaks a text into lines of at most `width` characters, at spaces where it can.

    A word longer than the width is cut. An empty text is one empty line.
    """
    if width < 1:
        raise ValueError(f"cannot wrap at {width} characters")
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
            continue
        pieces = [word[at : at + width] for at in range(0, len(word), width)]
        if lines[-1]:
            lines.extend(pieces)
        else:
            lines = pieces
    return lines
