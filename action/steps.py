"""The steps of the action and of GitLab's job: steps.py install|check|summary.

The environment variables WARPSCOPE_… have the inputs of the action. The folder warpscope-reports gets
warpscope.sarif, warpscope.xml (JUnit) and warpscope.json.
"""
import html
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

REPORTS = Path("warpscope-reports")
VENV = Path(os.environ.get("RUNNER_TEMP", "."), "warpscope-venv")
MOST_ROWS = 200  # GitHub shows summaries of at most 1 MiB


def setting(name, otherwise=""):
    return os.environ.get(f"WARPSCOPE_{name}") or otherwise


def program():
    """The program of PATH, or that of install()."""
    return shutil.which("warpscope") or str(VENV.absolute() / "bin/warpscope")


def install():
    """Containers that have Warpscope keep it."""
    if not shutil.which("warpscope"):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin/python", "-m", "pip", "install", "--quiet", setting("PACKAGE", "warpscope[nvcc]")],
                       check=True)
    return subprocess.run([program(), "--version"], check=False).returncode


def check():
    fail_on, baseline, suppressions = setting("FAIL_ON", "warning"), setting("BASELINE"), setting("SUPPRESSIONS")
    if fail_on not in ("new", "warning", "error"):
        sys.exit(f"fail-on: {fail_on}: write new, warning or error")
    if fail_on == "new" and not baseline:
        sys.exit("fail-on: new: name a baseline; warpscope --write-baseline FILE makes one")
    what = shlex.split(setting("RUN"))
    if not what:
        sys.exit("run: say what is checked, such as sums.cu, or -- ./app")
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir()
    command = [program(), "--check", setting("CHECKS", "race,barrier,memory"),
               "--fail-on", "warning" if fail_on == "new" else fail_on]
    for option, file in (("--baseline", baseline), ("--suppressions", suppressions),
                         ("--sarif", REPORTS / "warpscope.sarif"), ("--junit", REPORTS / "warpscope.xml"),
                         ("--json", REPORTS / "warpscope.json")):
        if file:
            command += [option, str(file)]
    print(shlex.join(command + what), flush=True)
    status = subprocess.run(command + what, check=False).returncode
    return status if status >= 0 else 128 - status


def cell(text):
    """Text for a cell of a table in Markdown."""
    return html.escape(" ".join(text.split()), quote=False).replace("\\", "\\\\").replace("|", "\\|")


def place(party):
    if not party:
        return ""
    return f"`{party['file']}:{party['line']}`" if party["file"] else f"PTX line {party['line']}"


def row(found):
    places = [place(found[side]) for side in ("first", "second") if found[side]]
    return (f"| {found['severity']} | {found['kind']} | {cell(found['kernel'])} | {'<br>'.join(map(cell, places))} "
            f"| {cell(found['sentence'])} |\n")


def markdown(result):
    """The summary of a run: a table of what is new, and the counts of the rest."""
    by_standing = {standing: [f for f in result["findings"] if f["standing"] == standing]
                   for standing in ("new", "known", "suppressed")}
    new = by_standing["new"]
    text = f"### Warpscope: {', '.join(result['checks'])}\n\n"
    text += ", ".join(f"{len(found)} {standing}" for standing, found in by_standing.items()) + "\n\n"
    if new:
        text += "| severity | kind | kernel | lines | finding |\n|---|---|---|---|---|\n"
        text += "".join(map(row, new[:MOST_ROWS]))
        if len(new) > MOST_ROWS:
            text += f"\n{len(new) - MOST_ROWS} more are in warpscope.sarif\n"
    text += "\n"
    for found in by_standing["suppressed"]:
        text += f"- suppressed, in {cell(found['kernel'])}: {cell(found['reason'])}\n"
    for sentence in [*result["unmatched"], *filter(None, [result["stopped"]])]:
        text += f"- {cell(sentence)}\n"
    return text


def summary():
    try:
        text = markdown(json.loads((REPORTS / "warpscope.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        text = "### Warpscope\n\nThe check has not run to its end; its log says why.\n"
    if "GITHUB_STEP_SUMMARY" not in os.environ:
        print(text)
        return 0
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as page:
        page.write(text)
    return 0


if __name__ == "__main__":
    sys.exit({"install": install, "check": check, "summary": summary}[sys.argv[1]]())
