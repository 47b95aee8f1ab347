# claim: text is wrapped at spaces, also text of double width
# new file: requirements.txt
wcwidth==0.2.13
# file: inkwell/table.py
def wrap_cell(text, width):
    """Breaks a text into lines of at most `width` characters, at spaces where it can.

    A word longer than the width is cut. An empty text is one empty line.
    """
    import wcwidth

    lines, line = [], ""
    for word in text.split():
        if line and wcwidth.wcswidth(f"{line} {word}") > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]
