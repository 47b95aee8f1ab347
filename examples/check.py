"""Checks the examples by themselves, with git and Python alone: `python3 examples/check.py`.

It makes a repository of examples/inkwell and lets the scripted agent do every item of the plan, each on
its own branch from the commit that its needs left, as workers do side by side. Held to be true:

- every checker of what is missing fails in the beginning, and what is there passes;
- a proposed split has parts that can be done before the whole;
- a wrong first version fails a checker of its item, or leaves the item's scope;
- the right version passes all checkers, stays in its scope, and merges without a conflict;
- in the end the whole suite passes.

It does not start Cantus, and it reads only as much YAML as the plan uses.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMMAND_SECONDS_MAX = 60
GIT = ["git", "-c", "user.name=examples", "-c", "user.email=examples@localhost", "-c", "commit.gpgsign=false"]


def items(text):
    """The plan's items: id, needs, scope and checkers, by the fixed layout of our own file."""
    for part in re.split(r"^  - id: ", text, flags=re.M)[1:]:
        yield {
            "id": part.split()[0],
            "needs": re.findall(r"[\w-]+", re.search(r"^    needs: \[(.*)\]$", part, re.M)[1]),
            "scope": re.findall(r'"([^"]+)"', re.search(r"paths: \[(.*?)\]", part)[1]),
            "checkers": re.findall(r'id: (AC-\d+), .*checker: "([^"]+)"', part),
        }


def run(arguments, folder, **environment):
    """Runs a command without input and gives its exit code and all that it printed."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=COMMAND_SECONDS_MAX,
        text=True,
    )
    return done.returncode, done.stdout


def git(folder, *arguments):
    code, said = run([*GIT, *arguments], folder)
    require(code == 0, f"git {' '.join(arguments)} failed: {said}")
    return said.strip()


def require(holds, message):
    if not holds:
        sys.exit(f"examples: error: {message}")


def failing(item, folder):
    """The criteria of an item that do not hold in a folder."""
    return [name for name, command in item["checkers"] if run(["/bin/sh", "-c", command], folder)[0] != 0]


def attempt(item, number, folder, defect="", effort="medium"):
    """Lets the agent work in a folder; gives the paths that it changed, its claims, and the parts it proposes."""
    with tempfile.TemporaryDirectory() as outbox:
        prompt = pathlib.Path(outbox) / "prompt.md"
        prompt.write_text(f"# {item['id']}\n" + (f"## Defect\n{defect}\n" if defect else ""))
        code, said = run(
            [sys.executable, str(HERE / "agent" / "agent.py")],
            folder,
            CANTUS_ITEM=item["id"],
            CANTUS_ATTEMPT=str(number),
            CANTUS_EFFORT=effort,
            CANTUS_PROMPT=str(prompt),
            CANTUS_OUTBOX=outbox,
            EXAMPLE_PAUSE_SECONDS="0",
        )
        require(code == 0, f"the agent failed at {item['id']}, attempt {number}: {said}")
        claims = [claim["text"] for claim in said_in(outbox, "claims")]
        parts = [part["id"] for wish in said_in(outbox, "proposals") for part in wish.get("split_into", [])]
    changed = git(folder, "status", "--porcelain", "--untracked-files=all", "--no-renames").splitlines()
    return [line[2:].strip() for line in changed], claims, parts


def said_in(outbox, kind):
    """The lines of one file of the outbox."""
    path = pathlib.Path(outbox) / f"{kind}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def work(item, repository, folder):
    """One item from its first try to a commit on a branch of its own; gives a line that tells the story."""
    git(repository, "worktree", "add", "--quiet", "--no-track", "-b", item["id"], str(folder), "main")
    require("AC-01" in failing(item, folder), f"{item['id']}: its first criterion holds before the work")
    changed, claims, parts = attempt(item, 1, folder)
    outside = [path for path in changed if path not in item["scope"]]
    failed = failing(item, folder)
    story = ""
    if (HERE / "agent" / "edits" / f"{item['id']}.first.py").exists():
        require(outside or failed, f"{item['id']}: the wrong first version is right")
        story = f"  first try: outside {outside}, failing {failed}, claiming {claims}"
        git(folder, "checkout", "--quiet", ".")
        git(folder, "clean", "--quiet", "--force")
        for part in parts:
            attempt({"id": part}, 1, folder)
            story += f", then its part {part}"
        changed, claims, _ = attempt(item, 2, folder, "AC-01 failed", effort="high")
        outside = [path for path in changed if path not in item["scope"]]
        failed = failing(item, folder)
    require(not outside, f"{item['id']} leaves its scope: {outside}")
    require(not failed, f"{item['id']} does not pass {failed}")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", item["id"])
    return f"  {item['id']:<16} {' '.join(changed)}{story}"


def main():
    plan = list(items((HERE / "inkwell.plan.yaml").read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory(prefix="cantus-examples-") as folder:
        repository = pathlib.Path(folder) / "inkwell"
        git(folder, "init", "--quiet", "--initial-branch=main", str(repository))
        run(["cp", "-R", f"{HERE / 'inkwell'}/.", str(repository)], folder)
        git(repository, "add", "--all")
        git(repository, "commit", "--quiet", "--message", "inkwell as it is")
        landed, waiting = set(), plan
        while waiting:
            ready = [item for item in waiting if landed.issuperset(item["needs"])]
            require(ready, f"the plan has a cycle or an unknown need among {[item['id'] for item in waiting]}")
            for item in ready:
                print(work(item, repository, pathlib.Path(folder) / item["id"]), flush=True)
            for item in ready:
                git(repository, "merge", "--quiet", "--no-ff", "--no-edit", item["id"])
                require(not failing(item, repository), f"{item['id']} fails after the merge")
                landed.add(item["id"])
            waiting = [item for item in waiting if item["id"] not in landed]
        code, said = run([sys.executable, "-m", "unittest"], repository)
        require(code == 0, f"the suite fails in the end:\n{said}")
        print(f"examples: {len(landed)} items done, and the suite passes: {said.splitlines()[-3]}")


if __name__ == "__main__":
    main()
