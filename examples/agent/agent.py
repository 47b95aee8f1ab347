"""A scripted agent: it makes each item's edit from a prepared piece of Python in `edits/`.

It stands where a coding model would, speaks the same language (the environment and the outbox), and
needs nothing but Python's standard library. What it leaves out is thinking: the edits are there, some
with a first version that is wrong on purpose, so that the run shows what becomes of wrong work.

Read: CANTUS_ITEM, CANTUS_ATTEMPT (from 1), CANTUS_PROMPT (markdown; names the defect in a repair).
Written: the working directory, and JSON lines in CANTUS_OUTBOX: progress, claims, findings, usage.
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


def defect(prompt):
    """The text under the prompt's heading about a defect, or an empty one."""
    lines, inside = [], False
    for line in prompt.splitlines():
        if line.startswith("#"):
            inside = "defect" in line.lower()
        elif inside and line.strip():
            lines.append(line.strip())
    return "\n".join(lines)


def choose(item, attempt, told):
    """The wrong first version, where there is one, is only for the first try; a defect is always heeded."""
    first = EDITS / f"{item}.first.py"
    if attempt == 1 and not told and first.exists():
        return first
    return EDITS / f"{item}.py"


def main():
    item = os.environ["CANTUS_ITEM"]
    attempt = int(os.environ.get("CANTUS_ATTEMPT", "1"))
    told = defect(pathlib.Path(os.environ["CANTUS_PROMPT"]).read_text(encoding="utf-8"))
    path = choose(item, attempt, told)
    if not path.exists():
        print(f"agent: no edit for the item {item!r} in {EDITS}", file=sys.stderr)
        return 1

    if told:
        say("progress", text=f"repairing after: {told.splitlines()[0]}")
    say("progress", text=f"reading the contract of {item}")
    time.sleep(pause_seconds(item) / 2)
    plan = edit.read(path.read_text(encoding="utf-8"))
    for section in plan.sections:
        edit.apply(section, pathlib.Path.cwd())
        say("progress", text=f"edited {section.path}: {', '.join(section.names) or 'new file'}")
    time.sleep(pause_seconds(item) / 2)

    for claim in plan.claims:
        say("claims", text=claim)
    for finding in plan.findings:
        say("findings", text=finding)
    # No model was asked, and that is what is told: nothing is not the same as unknown.
    say("usage", input_tokens=0, output_tokens=0, cost_usd=0.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
