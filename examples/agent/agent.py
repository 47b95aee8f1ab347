"""A scripted agent: it makes each item's edit from a prepared piece of Python in `edits/`.

It stands where a coding model would, speaks the same language (the environment and the outbox), and
needs nothing but Python's standard library. What it leaves out is thinking: the edits are there, some
with a first version that is wrong on purpose, so that the run shows what becomes of wrong work.

Read: CANTUS_ITEM, CANTUS_ATTEMPT (from 1), CANTUS_PROMPT (markdown; names the defect in a repair, and what earlier
attempts learned), CANTUS_EFFORT (a wrong version may be clung to until it is high), CANTUS_DEMANDS (JSON lines).
Written: the working directory, and JSON lines in CANTUS_OUTBOX: progress, claims, findings, learnings, proposals, usage.
"""

import json
import os
import pathlib
import sys
import time
import zlib

sys.dont_write_bytecode = True  # the agent may be on a read-only mount, or in somebody's checkout
import edit  # noqa: E402

EDITS = pathlib.Path(__file__).resolve().parent / "edits"
PAUSE_SECONDS_MIN = 0.5  # long enough to be seen by `cantus watch`
PAUSE_SECONDS_MAX = 1.5
WAIT_SECONDS_MAX = 30  # for a demand of the kernel, which comes after a quarter of a minute of work
LOOK_SECONDS = 0.2


def say(kind, **fields):
    """Appends one line to an outbox file."""
    path = pathlib.Path(os.environ["CANTUS_OUTBOX"]) / f"{kind}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(fields, ensure_ascii=False) + "\n")


def pause_seconds(item):
    """The same for an item each time, and different between items; EXAMPLE_PAUSE_SECONDS overrules it."""
    if "EXAMPLE_PAUSE_SECONDS" in os.environ:
        return float(os.environ["EXAMPLE_PAUSE_SECONDS"])
    share = zlib.crc32(item.encode()) % 1000 / 1000
    return PAUSE_SECONDS_MIN + share * (PAUSE_SECONDS_MAX - PAUSE_SECONDS_MIN)


def section(prompt, *titles):
    """The lines under the prompt's headings that have one of these words in them."""
    lines, inside = [], False
    for line in prompt.splitlines():
        if line.startswith("#"):
            inside = any(title in line.lower() for title in titles)
        elif inside and line.strip():
            lines.append(line.strip())
    return lines


def holds(condition):
    """Whether `effort=high` or `file=PATH` is so."""
    kind, _, value = condition.partition("=")
    if kind == "effort":
        return os.environ.get("CANTUS_EFFORT") == value
    return pathlib.Path(value).exists()


def choose(item, attempt, told):
    """The wrong first version, where there is one, is only for the first try, unless it says until when it stays."""
    first = EDITS / f"{item}.first.py"
    if not first.exists():
        return EDITS / f"{item}.py"
    until = edit.read(first.read_text(encoding="utf-8")).all("until")
    if not all(map(holds, until)) if until else attempt == 1 and not told:
        return first
    return EDITS / f"{item}.py"


def wait_for_demand():
    """Does nothing until something is demanded; answers with what."""
    path = pathlib.Path(os.environ.get("CANTUS_DEMANDS", os.devnull))
    end = time.monotonic() + (0 if "EXAMPLE_PAUSE_SECONDS" in os.environ else WAIT_SECONDS_MAX)
    while time.monotonic() < end:
        if path.is_file() and (lines := path.read_text(encoding="utf-8").splitlines()):
            return json.loads(lines[-1]).get("text", "")
        time.sleep(LOOK_SECONDS)
    return ""


def main():
    item = os.environ["CANTUS_ITEM"]
    attempt = int(os.environ.get("CANTUS_ATTEMPT", "1"))
    prompt = pathlib.Path(os.environ["CANTUS_PROMPT"]).read_text(encoding="utf-8")
    told = section(prompt, "defect", "what was wrong")
    path = choose(item, attempt, told)
    if not path.exists():
        print(f"agent: no edit for the item {item!r} in {EDITS}", file=sys.stderr)
        return 1

    if told:
        say("progress", text=f"repairing after: {told[0]}")
    for line in section(prompt, "attempts learned"):
        if line.startswith("- Rule: "):
            say("progress", text=f"applying what was learned: {line.removeprefix('- Rule: ')}")
    say("progress", text=f"reading the contract of {item}")
    time.sleep(pause_seconds(item) / 2)
    plan = edit.read(path.read_text(encoding="utf-8"))
    if plan.all("wait"):
        say("progress", text=f"thinking about {item}")
        if demanded := wait_for_demand():
            say("progress", text=f"answering a demand: {demanded}")
    for part in plan.sections:
        edit.apply(part, pathlib.Path.cwd())
        say("progress", text=f"edited {part.path}: {', '.join(part.names) or 'new file'}")
    time.sleep(pause_seconds(item) / 2)

    for kind in ("claim", "finding"):
        for text in plan.all(kind):
            say(f"{kind}s", text=text)
    for kind in ("learning", "proposal"):
        for text in plan.all(kind):
            say(f"{kind}s", **json.loads(text))
    # No model was asked, and that is what is told: nothing is not the same as unknown.
    say("usage", input_tokens=0, output_tokens=0, cost_usd=0.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
