# claim: bars and line breaks in cells do not break the table
# file: inkwell/table.py
def as_markdown(rows, header):
    """A Markdown table; a bar in a cell is escaped, a line break becomes `<br>`."""
    def cell(text):
        return text.replace("|", "\\|").replace("\n", "<br>")

    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(map(cell, line)) + " |\n" for line in lines)
