"""Prepared edits: pieces of Python that take the place of the functions of the same name.

An edit is a Python file in sections. `# file: PATH` begins one: each function in it replaces the
function of that name in PATH, and each method the method of that name in that class; a function that PATH
has not yet goes to its end, and an import to its first imports. `# new file: PATH` begins a section that is the whole file. Comments
before the first section are what the agent says and does besides: `# claim: TEXT`, `# finding: TEXT`,
`# learning: JSON` and `# proposal: JSON` are said afterwards; `# until: effort=high` and `# until: file=PATH` say how long a
wrong first version is clung to; `# wait: demand` makes it do nothing until the kernel demands something.

Replacing by name, not by line, lets an edit be made on any base and on top of an earlier attempt.
"""

import ast
import dataclasses
import re

_SECTION = re.compile(r"^# (new file|file): (\S+)$")
_SAYING = re.compile(r"^# (claim|finding|learning|proposal|until|wait): (.+)$")


@dataclasses.dataclass
class Section:
    """What becomes of one file."""

    path: str
    whole: bool
    text: str
    names: list


@dataclasses.dataclass
class Edit:
    """What an edit file holds."""

    sections: list
    sayings: dict

    def all(self, kind):
        """What the edit says of this kind, in order."""
        return self.sayings.get(kind, [])


def read(text):
    """Takes an edit file apart."""
    result = Edit([], {})
    for line in text.splitlines(keepends=True):
        section, saying = _SECTION.match(line), _SAYING.match(line)
        if section:
            result.sections.append(Section(section[2], section[1] == "new file", "", []))
        elif result.sections:
            result.sections[-1].text += line
        elif saying:
            result.sayings.setdefault(saying[1], []).append(saying[2])
    for section in result.sections:
        section.text = section.text.strip("\n") + "\n"
        if not section.whole:
            section.names = [name for name, _ in _functions(section.text)]
    return result


def apply(section, root):
    """Makes one section's edit below `root`; a method that is not there is an error."""
    path = root / section.path
    if section.whole:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(section.text, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    for name, piece in _functions(section.text):
        text = _replace(text, name, piece, section.path)
    for line in _imports(section.text):
        text = _add_import(text, line)
    path.write_text(text, encoding="utf-8")


def _functions(text):
    """Pairs of the name and the lines of each function, methods as `Class.method`."""
    lines = text.splitlines(keepends=True)
    return [(name, "".join(lines[first:last])) for name, (first, last) in _places(text)]


def _places(text):
    """Pairs of a function's name and its lines, as a half-open range."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, _lines(node)
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    yield f"{node.name}.{part.name}", _lines(part)


def _lines(node):
    first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
    return first - 1, node.end_lineno


def _replace(text, name, piece, path):
    places = dict(_places(text))
    if name not in places and "." in name:
        raise KeyError(f"{path} has no method {name}")
    if name not in places:
        return f"{text}\n\n{piece}"
    first, last = places[name]
    lines = text.splitlines(keepends=True)
    return "".join(lines[:first]) + piece + "".join(lines[last:])


def _imports(text):
    lines = text.splitlines(keepends=True)
    return [lines[node.lineno - 1] for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]


def _add_import(text, line):
    lines = text.splitlines(keepends=True)
    if line in lines:
        return text
    first = next(node.lineno for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom)))
    return "".join(lines[: first - 1]) + line + "".join(lines[first - 1 :])
