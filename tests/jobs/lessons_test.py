"""Every lesson is failed by what it starts with and by a wrong solution, and passed by a right one.

usage: lessons_test.py PROGRAM
"""
import csv
import io
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lesson_solutions import LESSONS, NAMED, RIPPLE, SOLUTIONS

PROGRAM = sys.argv[1]
WITH_MAIN = "the-host-that-reads-too-early"


def name_of(file):
    return re.sub(r"^\d+-", "", file.stem)


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True,
                          timeout=120)


class Lessons(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        said = run("--lesson", 2, "--check", LESSONS / "mend_ripple.cu").stderr
        if "NVRTC, the compiler of edits, is not installed" in said:
            self.skipTest(said)

    def hand_in(self, text, name="solution.cu"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def grade(self, lesson, text):
        done = run("--lesson", lesson, "--check", self.hand_in(text), "--json", "-")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        grade = json.loads(done.stdout)
        self.assertEqual(grade["passed"], done.returncode == 0, grade)
        return grade

    def test_each_lesson_is_failed_before_it_is_passed(self):
        files = sorted(f for f in LESSONS.glob("*.md") if f.name != "README.md")
        self.assertEqual([name_of(f) for f in files], list(SOLUTIONS))
        for number, lesson in enumerate(SOLUTIONS, 1):
            with self.subTest(lesson=lesson):
                source, wrong, right = SOLUTIONS[lesson]
                start = source.read_text(encoding="utf-8")
                self.assertNotIn(start, (wrong(start), right(start)))
                failed = self.grade(number, start)
                if lesson == WITH_MAIN and not failed["conditions"]:
                    self.skipTest(failed["reason"])  # without nvcc, or without the library of programs
                self.assertFalse(failed["passed"])
                self.assertFalse(self.grade(number, wrong(start))["passed"])
                self.assertEqual(self.grade(lesson, right(start))["reason"], "")

    def test_a_condition_that_does_not_hold_is_named(self):
        text = (LESSONS / "banks.cu").read_text(encoding="utf-8")
        grade = self.grade("bank-conflicts", text)
        self.assertEqual([c["holds"] for c in grade["conditions"]], [True, True, True, True, False])
        self.assertEqual(grade["reason"], "Not yet: No access to shared memory has a bank conflict.")

    def test_a_lock_is_failed_by_the_fence_that_is_missing(self):
        text = (LESSONS / "lock.cu").read_text(encoding="utf-8")
        grade = self.grade("a-lock-with-its-fences", text)
        self.assertEqual([c["holds"] for c in grade["conditions"]], [False, True])
        relaxed = text.replace("    atomicExch", "    __threadfence_block();\n    atomicExch")
        self.assertFalse(self.grade("a-lock-with-its-fences", relaxed)["passed"])

    def test_a_program_is_judged_by_its_run(self):
        text = (LESSONS / "early.cu").read_text(encoding="utf-8")
        grade = self.grade(WITH_MAIN, text)
        if not grade["conditions"]:
            self.skipTest(grade["reason"])
        self.assertEqual([c["holds"] for c in grade["conditions"]], [False, False, True])
        _, wrong, right = SOLUTIONS[WITH_MAIN]
        on_the_host = right(text).replace("add_one<<<n / 64, 64>>>(numbers);", "for (int i = 0; i < n; ++i) ++numbers[i];")
        self.assertEqual([c["holds"] for c in self.grade(WITH_MAIN, on_the_host)["conditions"]], [True, True, False])
        # A wait behind the read comes too late; the sum of an expectation that was changed is still a race.
        expects_less = wrong(text).replace("n * (n + 1) / 2", "n * (n - 1) / 2")
        self.assertEqual([c["holds"] for c in self.grade(WITH_MAIN, expects_less)["conditions"]], [False, True, True])
        broken = self.grade(WITH_MAIN, text.replace("int main()", "int main("))
        self.assertEqual(broken["conditions"], [])
        self.assertIn("solution.cu:", broken["reason"])

    def test_a_thread_outside_of_the_block_reads_nothing(self):
        text = RIPPLE.read_text(encoding="utf-8").replace("if (barrier) __syncthreads();", "")
        self.assertEqual([c["holds"] for c in self.grade(1, NAMED.format(16, 3) + text)["conditions"]],
                         [True, False])

    def test_only_a_thread_that_reads_before_the_write_reads_too_early(self):
        # The warps run one after the other: (3, 4) is in warp 2, and the opposite (12, 11) in warp 5.
        lesson = self.folder / "order.md"
        lesson.write_text("# Order\n\n## Start\n\n- `experiment ripple`\n- `schedule run-to-barrier`\n"
                          "\n## Gate\n\n- `reader_named == 1`: It is named.\n", encoding="utf-8")
        text = RIPPLE.read_text(encoding="utf-8").replace("if (barrier) __syncthreads();", "")
        self.assertTrue(self.grade(lesson, NAMED.format(3, 4) + text)["passed"])
        self.assertFalse(self.grade(lesson, NAMED.format(12, 11) + text)["passed"])

    def test_a_folder_of_solutions_becomes_a_table(self):
        start = (LESSONS / "halo.cu").read_text(encoding="utf-8")
        right = SOLUTIONS["the-halo"][2](start)
        self.hand_in(right, "anna.cu")
        self.hand_in(start, "ben, the second.cu")
        self.hand_in(right.replace("float* out", "floaty* out"), "carl.cu")
        self.hand_in(right.replace("tile[t] = in[i];", "while (n) tile[t] = in[i];"), "dora.cu")
        self.hand_in(right.replace("tile[t] = in[i];", "tile[t] = in[i + 123456789];"), "emil.cu")
        (self.folder / "notes.txt").write_text("no kernel", encoding="utf-8")
        done = run("--lesson", 8, "--check", self.folder)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(done.returncode, 1)
        self.assertEqual([(r["file"], r["passed"]) for r in rows],
                         [("anna.cu", "yes"), ("ben, the second.cu", "no"), ("carl.cu", "no"),
                          ("dora.cu", "no"), ("emil.cu", "no")])
        self.assertEqual(rows[0]["reason"], "")
        self.assertIn("Every word of the tile is written", rows[1]["reason"])
        self.assertIn("carl.cu:3: ", rows[2]["reason"])

    def test_what_cannot_be_used_is_said(self):
        for words, said in [
            (("--lesson", 99), "is no lesson; write a number from 1 to 13"),
            (("--lesson", 2, "--check", "/nowhere.cu"), "--check /nowhere.cu: there is no such file"),
            (("--lesson", 2, "--check", self.folder), "has no .cu file"),
            (("--lesson", 2, "--check", RIPPLE, "--frames", 3), "only --json goes with them"),
        ]:
            done = run(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)

    def lesson(self, text):
        """Grades the ripple by a lesson with this text and returns what is said."""
        path = self.folder / "mine.md"
        path.write_text(text, encoding="utf-8")
        return run("--lesson", path, "--check", RIPPLE)

    def test_a_lesson_of_ones_own(self):
        text = "# Mine\n\n## Start\n\n- `experiment ripple`\n- `set size=64`\n\n## Gate\n\n- `{}`: It is so.\n"
        self.assertEqual(self.lesson(text.format("barriers == 1")).stdout,
                         f"Mine: {RIPPLE}\n  yes  It is so.\npassed\n")
        for wrong, said in [(text.format("barrier =="), "mine.md:10: "),
                            (text.format("colour == 3"), "colour"),
                            (text.format("1").replace("ripple", "pond"), "pond"),
                            (text.format("1").replace("## Gate", "## Quiz"), "mine.md:8: the part \"Quiz\" is unknown")]:
            done = self.lesson(wrong)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
