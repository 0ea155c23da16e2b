"""Checks the kernels of the folder cases with the real program, as its user would.

A row of cases/cases.tsv is a launch: source, kernel, grid, block, buffers and scalars ("out:64" holds
zeroes, "in:64=i" the index of each element, "n=3" is a scalar, "cooperative=1" a cooperative launch, "cluster=2" one
with clusters of 2 blocks), options, errors, warnings, and a
regular expression that the report must match on one line; "-" for none. "." in the first column
stands for the source of the row above.

usage: cases_test.py PROGRAM [PART PARTS]      PART: 1 to PARTS
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"
PROGRAM = ""
ONE_WARP_ARRIVES = {"one_warp_arrives_for_two<true>", "one_warp_arrives_for_two<false>"}
ONE_OF = int(os.environ.get("WARPSCOPE_ONE_CASE_OF", 1))  # rows of which one is run
PART, PARTS = 0, 1


def rows():
    source = ""
    with open(CASES / "cases.tsv", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["source"] == ".":
                row["source"] = source
            source = row["source"]
            yield row


def launch_of(row):
    launch = {"source": str(CASES / row["source"]), "buffers": {}, "scalars": {},
              "launches": [{"kernel": row["kernel"], "grid": int(row["grid"]),
                            "block": int(row["block"])}]}
    for word in row["arguments"].split():
        if ":" not in word:
            name, value = word.split("=")
            if name == "shared":
                launch["launches"][0]["shared"] = int(value)
            elif name == "cooperative":
                launch["launches"][0]["cooperative"] = True
            elif name == "cluster":
                launch["launches"][0]["cluster"] = int(value)
            else:
                launch["scalars"][name] = int(value)
            continue
        name, rest = word.split(":")
        shape, _, fill = rest.partition("=")
        launch["buffers"][name] = {"shape": int(shape)}
        if fill:
            launch["buffers"][name]["fill"] = fill
    return launch


class Cases(unittest.TestCase):
    def check(self, row, folder):
        file = Path(folder) / "case.launch.json"
        file.write_text(json.dumps(launch_of(row)))
        done = subprocess.run([PROGRAM, "--check", "race,barrier,memory", "--launch", str(file)] +
                              ([] if row["options"] == "-" else shlex.split(row["options"])),
                              capture_output=True, text=True, timeout=120, cwd=folder)
        if "NVRTC" in done.stderr and "not installed" in done.stderr:
            self.skipTest(done.stderr.strip())
        report = done.stdout + done.stderr
        if "built without a compiler of kernels" in report:
            self.skipTest("this build cannot compile kernels")
        summary = re.search(r"CHECK SUMMARY \(.*\): .* \((\d+) errors?, (\d+) warnings?",
                            done.stdout)
        self.assertIsNotNone(summary, report)
        found = (int(summary[1]), int(summary[2]))
        self.assertEqual(found, (int(row["errors"]), int(row["warnings"])), report)
        text = re.sub(r"\n========= +", " ", report)
        if row["report"] != "-":
            self.assertRegex(text, row["report"])
        severe = found[0] if "--fail-on error" in row["options"] else sum(found)
        ended = "The run ended with an error" in report
        self.assertEqual(done.returncode, 1 if severe or ended else 0, report)

    def test_every_row(self):
        with tempfile.TemporaryDirectory() as folder:
            for row in list(rows())[PART::ONE_OF * PARTS]:
                with self.subTest(kernel=row["kernel"], grid=row["grid"], options=row["options"]):
                    self.check(row, folder)

    def test_some_rows_under_every_schedule_and_landing(self):
        schedules = ["--schedule run-to-barrier", "--schedule reverse"]
        schedules += [f"--seed {seed}" for seed in range(1, 21)]
        landings = ["--landing random", "--landing at-once", "--landing late"]
        with tempfile.TemporaryDirectory() as folder:
            for row in list(rows())[PART::PARTS]:
                if row["kernel"] in ONE_WARP_ARRIVES:
                    runs = schedules[::ONE_OF]
                elif row["source"] == "hangs.cu" and row["errors"] == "1":
                    runs = [f"{s} {l}" for s in schedules[:4:ONE_OF] for l in landings]
                else:
                    continue
                for options in runs:
                    if row["options"] == "-":
                        with self.subTest(kernel=row["kernel"], options=options):
                            self.check(row | {"options": options}, folder)

    def test_a_run_that_fails_writes_what_was_found(self):
        for kernel in ("assertion", "trap")[PART::PARTS]:
            with self.subTest(kernel=kernel), tempfile.TemporaryDirectory() as folder:
                row = {"source": "failing.cu", "kernel": kernel, "grid": "1", "block": "32",
                       "arguments": "a:32 b:32"}
                file = Path(folder) / "case.launch.json"
                file.write_text(json.dumps(launch_of(row)))
                done = subprocess.run(
                    [PROGRAM, "--check", "race", "--launch", str(file), "--json", "found.json",
                     "--sarif", "found.sarif"], capture_output=True, text=True, cwd=folder)
                if "NVRTC" in done.stderr and "not installed" in done.stderr:
                    self.skipTest(done.stderr.strip())
                self.assertEqual(done.returncode, 1, done.stderr)
                found = json.loads((Path(folder) / "found.json").read_text())
                self.assertGreater(len(found["findings"]), 0)
                self.assertTrue(found["stopped"])
                run = json.loads((Path(folder) / "found.sarif").read_text())["runs"][0]
                invocation = run["invocations"][0]
                self.assertFalse(invocation["executionSuccessful"])
                self.assertEqual(
                    invocation["toolExecutionNotifications"][0]["message"]["text"],
                    found["stopped"])
                self.assertEqual(len(run["results"]), len(found["findings"]))


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    if len(sys.argv) > 2:
        PART, PARTS = int(sys.argv.pop(1)) - 1, int(sys.argv.pop(1))
    unittest.main()
