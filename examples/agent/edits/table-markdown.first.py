# until: effort=high
# claim: rows are written as a Markdown table
# file: inkwell/table.py
def as_markdown(rows, header):
    """A Markdown table; a bar in a cell is escaped, a line break becomes `<br>`."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
