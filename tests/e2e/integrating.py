"""A project checks its kernels in continuous integration: with a baseline, in CTest and pytest, on GitHub and GitLab.

usage: integrating.py PROGRAM [Integrating.NAME]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

from scenario import Scenario, main

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CHECKS = ["--check", "race,barrier,memory"]
HISTOGRAM = """__global__ void histogram(const int* values, int* counts) {
    counts[values[threadIdx.x]]++;
}
"""
REVERSE = """__global__ void reverse(int* x) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
MAIN = """int main() {
    int *values, *counts;
    cudaMalloc(&values, 256);
    cudaMalloc(&counts, 256);
    cudaMemset(values, 0, 256);
    cudaMemset(counts, 0, 256);
    histogram<<<1, 64>>>(values, counts);
    reverse<<<1, 64>>>(values);
    return cudaDeviceSynchronize();
}
"""


def blocks(language):
    """The examples of the page, by their language."""
    page = (REPOSITORY / "docs/ci.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def steps_of_action(**inputs):
    """[(name, command, environment, whether it runs after a failure)] of action.yml; those with `uses` are left out."""
    text = (REPOSITORY / "action/action.yml").read_text(encoding="utf-8")
    head, steps = text.split("  steps:\n")
    values = dict(re.findall(r'^  ([\w-]+):\n(?:    .*\n)*?    default: "?(.*?)"?$', head, re.M))
    values.update(inputs)
    found = []
    for step in steps.split("    - name: ")[1:]:
        command = re.search(r"^      run: (.*)$", step, re.M)
        if not command:
            continue
        variables = re.findall(r"^        (\w+): \$\{\{ inputs\.([\w-]+) \}\}$", step, re.M)
        found.append((step.split("\n")[0], command[1], {name: values[key] for name, key in variables},
                      "if: always()" in step))
    return found


class Integrating(unittest.TestCase):
    def setUp(self):
        toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        if not shutil.which("nvcc") and not shutil.which("nvcc", path=f"{toolkit}/bin"):
            self.skipTest("nvcc is not here")
        folder = tempfile.TemporaryDirectory(prefix="warpscope-ci-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.project = self.folder / "project"
        self.project.mkdir()
        self.environment = {**os.environ, "HOME": str(self.folder),
                            "PATH": f"{pathlib.Path(Scenario.program).parent}:{os.environ['PATH']}"}
        self.write("sums.cu", HISTOGRAM + REVERSE + MAIN)

    def write(self, name, text):
        (self.project / name).write_text(text, encoding="utf-8")

    def run_in_project(self, *command, **variables):
        return subprocess.run(list(map(str, command)), cwd=self.project, text=True, check=False, capture_output=True,
                              env={**self.environment, **variables})

    def check(self, *arguments):
        return self.run_in_project("warpscope", *CHECKS, *arguments)

    def take_baseline(self):
        done = self.check("--write-baseline", "sums.baseline", "sums.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 findings (0 errors, 0 warnings); 2 known", done.stderr)

    def test_a_baseline_survives_moves_a_new_name_a_mended_finding_and_a_new_one(self):
        self.take_baseline()
        # The file has another name and other lines. The histogram is mended, and a kernel races anew.
        moved = "// moved\n" + REVERSE.replace("    ", "  ") + HISTOGRAM.replace("counts[values[threadIdx.x]]++",
                                                                            "atomicAdd(counts, 1)")
        (self.project / "sums.cu").unlink()
        self.write("other.cu", moved + MAIN)
        done = self.check("--baseline", "sums.baseline", "other.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("; 1 known\n", done.stderr)
        self.assertIn("sums.baseline matches nothing: race: counts[values[threadIdx.x]]++;, in histogram", done.stderr)

        worse = MAIN.replace("reverse<<<1, 64>>>(values)", "reverse<<<1, 64>>>(values); shift<<<1, 64>>>(values)")
        shift = "__global__ void shift(int* x) {\n  x[threadIdx.x] = x[(threadIdx.x + 1) % 64];\n}\n"
        self.write("other.cu", moved + shift + worse)
        done = self.check("--baseline", "sums.baseline", "--junit", "r.xml", "--sarif", "r.sarif", "other.cu")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 finding (1 error, 0 warnings); 1 known\n", done.stderr)
        suite = xml.etree.ElementTree.parse(self.project / "r.xml").getroot()[0]
        self.assertEqual({key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")},
                         {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"})
        self.assertEqual([case.get("classname") for case in suite if case.find("failure") is not None], ["shift"])
        results = json.loads((self.project / "r.sarif").read_text())["runs"][0]["results"]
        self.assertEqual({r["properties"]["kernel"]: r["baselineState"] for r in results},
                         {"reverse": "unchanged", "shift": "new"})

        # What is meant so has a reason, at its line or in a file.
        allowed = shift.replace("];\n}", "];  // warpscope: allow race: a test\n}")
        self.write("other.cu", moved + allowed + worse)
        self.write("known.supp", "{\n  As it was\n  race, uninitialized\n  kernel: rev*\n}\n")
        done = self.check("--suppressions", "known.supp", "other.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("; 2 suppressed\n========= Suppressed: As it was [1]\n========= Suppressed: a test [1]\n",
                      done.stderr)

    def test_the_examples_of_the_page_run(self):
        self.take_baseline()
        [listing], [script] = blocks("cmake"), blocks("python")
        self.write("CMakeLists.txt", listing)
        self.write("test_races.py", script)
        done = self.run_in_project("cmake", "-S", ".", "-B", "build")
        self.assertEqual(done.returncode, 0, done.stderr)

        def outcomes():
            ctest = self.run_in_project("ctest", "--test-dir", "build")
            pytest = shutil.which("pytest") and self.run_in_project("pytest", "-q", "-p", "no:cacheprovider")
            return ctest.returncode == 0, pytest.returncode == 0 if pytest else ctest.returncode == 0
        self.assertEqual(outcomes(), (True, True))
        self.assertIn('skipped="2"', (self.project / "build/sums.xml").read_text())
        self.write("sums.cu", HISTOGRAM.replace("values[", "values[1 * ") + REVERSE + MAIN)
        self.assertEqual(outcomes(), (False, False), "the race has another line")
        comment = blocks("cpp")[0].partition("  ")[2].strip()
        self.write("sums.cu", HISTOGRAM.replace("++;", f" += 1;  {comment}") + REVERSE + MAIN)
        self.assertEqual(outcomes(), (True, True), "the comment of the page allows it")

    def run_action(self, **inputs):
        """Runs the steps as GitHub does. Returns (whether all went well, the summary, the output)."""
        summary = self.folder / "summary.md"
        summary.write_text("")
        failed, output = False, ""
        for name, command, variables, always in steps_of_action(**inputs):
            if failed and not always:
                continue
            done = self.run_in_project("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command, **variables,
                                       GITHUB_ACTION_PATH=str(REPOSITORY / "action"),
                                       GITHUB_STEP_SUMMARY=str(summary), RUNNER_TEMP=str(self.folder))
            failed = failed or done.returncode != 0
            output += f"{name}: {done.returncode}\n{done.stdout}{done.stderr}"
        return not failed, summary.read_text(encoding="utf-8"), output

    def test_the_steps_of_the_action_run_in_a_clean_folder(self):
        self.assertEqual([step[0] for step in steps_of_action(run="sums.cu")], ["Install Warpscope", "Check", "Summary"])
        well, summary, output = self.run_action(run="sums.cu")
        self.assertFalse(well, output)
        self.assertIn("2 new, 0 known, 0 suppressed", summary)
        self.assertRegex(summary, r"\n\| error \| race \| reverse \| `sums.cu:6`<br>`sums.cu:7` \| Thread ")
        results = json.loads((self.project / "warpscope-reports/warpscope.sarif").read_text())["runs"][0]["results"]
        self.assertEqual(len(results), 2)

        well, summary, output = self.run_action(run="sums.cu", **{"fail-on": "new"})
        self.assertIn("fail-on: new: name a baseline", output)
        self.assertFalse(well)
        self.take_baseline()
        well, summary, output = self.run_action(run="sums.cu", baseline="sums.baseline", **{"fail-on": "new"})
        self.assertTrue(well, output)
        self.assertIn("0 new, 2 known, 0 suppressed", summary)

        well, summary, output = self.run_action(run="nowhere.cu")
        self.assertFalse(well)
        self.assertIn("nowhere.cu: there is no such file", output)
        self.assertIn("The check has not run to its end", summary)

    def test_the_action_installs_a_wheel_where_there_is_no_warpscope(self):
        wheel = self.folder / "warpscope-1.0-py3-none-any.whl"
        info = "warpscope-1.0.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("warpscope.py", f"import os, sys\ndef main(): os.execv({Scenario.program!r}, sys.argv)\n")
            archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: warpscope\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\nwarpscope = warpscope:main\n")
            archive.writestr(f"{info}/RECORD", "")
        self.environment["PATH"] = "/usr/bin:/bin"
        if shutil.which("warpscope", path=self.environment["PATH"]):
            self.skipTest("a warpscope is installed")
        if self.run_in_project("python3", "-c", "import ensurepip").returncode:
            self.skipTest("python3-venv is not installed")
        well, summary, output = self.run_action(run="sums.cu", package=str(wheel))
        self.assertFalse(well, output)
        self.assertIn("2 new, 0 known, 0 suppressed", summary)

    def test_the_job_of_gitlab_runs_and_has_its_report(self):
        text = (REPOSITORY / "action/gitlab.yml").read_text(encoding="utf-8")
        variables = dict(re.findall(r"^    (WARPSCOPE_\w+): (.*)$", text, re.M))
        variables.update(WARPSCOPE_ACTION=str(REPOSITORY / "action"), WARPSCOPE_RUN="sums.cu")
        script = re.search(r"^  script:\n((?:    - .*\n)+)", text, re.M)[1].replace("    - ", "")
        done = self.run_in_project("sh", "-ec", script, **variables)
        self.assertEqual(done.returncode, 1, done.stderr)
        report = re.search(r"junit: (.*)", text)[1]
        suite = xml.etree.ElementTree.parse(self.project / report).getroot()[0]
        self.assertEqual(suite.get("failures"), "2", done.stderr)


if __name__ == "__main__":
    main()
