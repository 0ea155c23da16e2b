"""The user opens a CUDA source with a kernel of any signature, fills the form of its launch file, finds
a race, mends it, and runs the saved file without a window.

usage: launching.py PROGRAM [Launching.NAME]
"""
import json
import os
import struct
import subprocess

from driver import wait_for
from scenario import main
from session import Session

SOURCE = """#include <cstdio>

struct Scale {
    float factor;
    int n;
};

__global__ void reversed(const float* in, float* out, Scale scale) {
    __shared__ float tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = i < scale.n ? in[i] : 0;

    if (i < scale.n) out[i] = scale.factor * tile[63 - threadIdx.x];
}
"""
MENDED = SOURCE.replace("0;\n\n", "0;\n__syncthreads();\n", 1)

TEMPLATE = """template <int width>
__global__ void stamp(int* out, int n) {
    const int i = blockIdx.x * width + threadIdx.x;
    if (i < n) out[i] = 100 * width;
}

template <typename T, int value>
__global__ void other(T* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
"""


class Launching(Session):
    def setUp(self):
        super().setUp()
        self.source = self.home / "reversed.cu"
        self.source.write_text(SOURCE, encoding="utf-8")
        said = self.headless("--headless").stderr
        if "NVRTC, the compiler of edits, is not installed" in said:
            self.skipTest(said)

    def headless(self, *arguments):
        return subprocess.run([self.program, *arguments, "--launch", self.source], check=False,
                              capture_output=True, text=True)

    def fill(self, app, field, text):
        app.type_into(f"launch.{field}", text)
        app.wait_value(f"launch.{field}", text)
        app.settle()

    def test_a_kernel_runs_is_mended_and_its_launch_file_is_saved(self):
        app = self.start("--launch", self.source)
        # The form begins with blocks of 256 threads, which are too many for the tile.
        app.wait_value("message", lambda value: "lie outside the 256 bytes" in value)
        app.wait_value("launch.launches[0].kernel", "reversed")
        app.wait_value("launch.note", lambda value: value.startswith("Guessed for reversed: ") and "the block" in value)
        app.settle()

        self.fill(app, "launches[0].block", "64")
        app.wait_value("editor.state", lambda value: "runs in the emulator" in value)
        self.fill(app, "launches[0].grid", "(scale_n + 63) / 64")
        self.fill(app, "launches[0].arguments.scale.factor", "2")
        app.wait_value("launch.state", "reversed.launch.json (not saved)")
        app.wait_value("race", lambda value: value.startswith("Race"))

        app.click("editor.line.12", (0.02, 0.5))
        app.pass_frames()
        app.display.xdotool("type", "--", "__syncthreads();")
        app.wait_value("editor.line.12", lambda value: "__syncthreads();" in value)
        app.wait_value("race", "No race found")
        app.settle()

        app.click("launch.save")
        app.wait_value("message", lambda value: value.endswith(" and its source reversed.cu."))
        saved = json.loads((self.home / "reversed.launch.json").read_text(encoding="utf-8"))
        self.assertEqual(saved["launches"][0]["block"], 64)
        app.settle()
        largest = app.number("result.largest")
        app.quit()

        self.assertEqual(self.source.read_text(encoding="utf-8"), MENDED)
        self.assertEqual(self.headless("--check", "race").returncode, 0)
        run = json.loads(self.headless("--headless", "--json", "-").stdout)
        found = next(r["value"] for r in run["report"] if r["name"] == "largest")
        self.assertAlmostEqual(found, largest, delta=1e-4 * largest)

    def captured(self, number, values, kernel="twice"):
        """Writes launch `number` of a program, whose kernel doubles these integers. "early" reads what another warp
        may have doubled already."""
        def keep(name, numbers):
            (folder / name).write_bytes(struct.pack(f"<{len(numbers)}i", *numbers))
            return {"file": name}
        folder = self.home / "captured"
        folder.mkdir(exist_ok=True)
        source = folder / "sources/0123456789abcdef/double.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(
            "__global__ void twice(int* data, int n) {\n"
            "    if (threadIdx.x < n) data[threadIdx.x] *= 2;\n}\n"
            "__global__ void early(int* data, int n) {\n"
            "    if (threadIdx.x < n) data[threadIdx.x] = 2 * data[63 - threadIdx.x];\n}\n", encoding="utf-8")
        file = f"{number:05}-{kernel}.launch.json"
        (folder / file).write_text(json.dumps({
            "source": str(source.relative_to(folder)),
            "buffers": {"memory1": {"fill": keep(f"before{number}.bin", values)}},
            "launches": [{"kernel": kernel, "grid": 1, "block": 64, "captured": [
                {"bytes": "0000000000200000",
                 "addresses": [{"at": 0, "buffer": "memory1", "plus": 4}]},
                {"bytes": struct.pack("<i", len(values) - 1).hex()}]}],
            "expect": [{"buffer": "memory1", "equals": keep(
                f"after{number}.bin", [values[0], *(2 * value for value in values[1:])])}]}),
            encoding="utf-8")
        return {"number": number, "file": file, "kernel": kernel, "grid": [1, 1, 1],
                "block": [64, 1, 1], "ms": 0.5, "findings": 0}

    def test_the_launches_of_a_program_open_one_after_the_other(self):
        launches = [self.captured(3, [5, 6, 7]), self.captured(8, [1, -2, 3, 4])]
        folder = self.home / "captured"
        (folder / "program.json").write_text(
            json.dumps({"command": "./app", "launches": launches}), encoding="utf-8")
        app = self.start("--launch", folder)
        app.wait_value("program_launch", "3")
        app.click("dock.launch")
        app.wait_value("launch.launches[0].kernel", "twice")
        app.wait_value("launch.launches[0].arguments.data", "data + 1")
        app.wait_value("launch.launches[0].arguments.n", "2")
        app.wait_value("result.smallest", "5")
        app.settle()
        app.choose("program_launch", "8")
        app.wait_value("launch.launches[0].arguments.n", "3")
        app.wait_value("result.smallest", lambda value: value.endswith("4"))

    def test_each_launch_of_a_program_has_its_verdict_and_the_first_with_a_race_is_on_show(self):
        numbers = list(range(65))
        launches = [self.captured(number, numbers, "early" if number in (4, 5) else "twice") for number in range(1, 7)]
        (self.home / "captured" / "program.json").write_text(
            json.dumps({"command": "./app", "launches": launches}), encoding="utf-8")
        app = self.start("--launch", self.home / "captured")
        app.wait_value("program_launch", "4")
        app.wait_value("program.state", "The program has ended. 6 of 6 launches are checked.")
        app.settle()
        app.wait_value("program_launch:1", "No race found")
        app.wait_value("program_launch:5", lambda value: value.startswith("Race"))
        app.click("program_found")
        wait_for("the harmless launches to go", lambda: "program_launch:1" not in app.widgets())
        self.assertIn("program_launch:5", app.widgets())
        app.click("program_found")
        app.choose("program_kernel", "twice")
        wait_for("the other kernel to go", lambda: "program_launch:5" not in app.widgets())
        # A person's choice stays.
        app.choose("program_launch", "6")
        # What the capture has fixed can't be changed.
        app.click("dock.launch")
        wait_for("the form", lambda: "launch.buffers.data.type" in app.widgets())
        self.assertFalse(app.widgets()["launch.buffers.data.type"]["enabled"])

    def test_a_right_click_says_which_launch_has_written_a_number(self):
        launches = [self.captured(3, [5, 6, 7]), self.captured(8, [5, 12, 14])]
        folder = self.home / "captured"
        (folder / "program.json").write_text(
            json.dumps({"command": "./app", "launches": launches}), encoding="utf-8")
        app = self.start("--launch", folder / launches[1]["file"])
        app.wait_value("result.smallest", "5")
        app.pause()
        app.click("dock.buffer")
        app.wait_value("buffer.state", lambda value: value.startswith("data: 3 of type int"))
        app.click("buffer.first", (1.5, 0.5), button=3)
        app.wait_value("why", "data[1] is 24, as the program's launch left it. No right value is known.")
        self.assertEqual(
            [app.value(f"why.right.{row}") for row in range(3)],
            ["data[1] = 24: launch 8, twice, double.cu:2, block 0, thread 0",
             "  data[1] = 12: launch 3, twice, double.cu:2, block 0, thread 0",
             "    data[1] = 6: no captured launch; it was there before launch 3"])
        # No thread writes data[0].
        app.click("microscope.close")
        app.click("buffer.first", button=3)
        app.wait_value("message", lambda value: value.endswith(
            "No right value is known. data[0] = 5: no captured launch; it was there before launch 3"))

    def test_a_program_beside_the_window_pauses_behind_its_launches(self):
        folder = self.home / "captured"

        launches = []

        def launch(number):
            launches.append(self.captured(number, [5, 6, 7]))
            (folder / "list.part").write_text(json.dumps(
                {"command": "./app", "process": os.getpid(), "launches": launches}))
            (folder / "list.part").rename(folder / "program.json")

        def wait_control(condition):
            def holds():
                file = folder / "control.json"
                return file.exists() and condition(json.loads(file.read_text()))
            wait_for("control.json", holds)

        launch(3)
        app = self.start("--launch", folder)
        app.wait_value("program_launch", "3")
        app.settle()
        app.click("program.pause")
        wait_control(lambda control: control["until"] == 4 and control["kernel"] == "")
        launch(4)
        wait_for("the new launch", lambda: "program_launch:4" in app.widgets())
        app.settle()
        app.choose("program_launch", "4")
        app.wait_value("program_launch", "4")
        app.choose("program_pause_at", "twice")
        wait_control(lambda control: control["until"] == 5 and control["kernel"] == "twice")
        app.click("program.pause")
        wait_control(lambda control: control["until"] == 2**64 - 1)

    def test_saving_writes_the_file_that_was_opened(self):
        app = self.start("--launch", self.source)
        app.wait_value("launch.launches[0].kernel", "reversed")
        app.settle()
        self.assertNotIn("edited", app.widgets())
        app.click("editor.line.2", (0.02, 0.5))
        app.pass_frames()
        app.display.xdotool("type", "--", "// mine")
        app.wait_value("editor.line.2", "// mine")
        app.key("ctrl+s")
        app.wait_value("message", f"Saved {self.source}.")
        self.assertEqual(self.source.read_text(encoding="utf-8"),
                         SOURCE.replace("\n\n", "\n// mine\n", 1))
        self.assertNotIn("editor.path", app.widgets())
        # Select all and another path: the popup takes the keys as they come.
        app.key("ctrl+o")
        wait_for("the popup", lambda: "open.path" in app.widgets())
        app.pass_frames()
        app.key("ctrl+a")
        app.display.xdotool("type", "--", "none.cu")
        app.wait_value("open.path", "none.cu")
        app.key("Return")
        app.wait_value("open.path.error", "There is no file with this path.")
        app.key("Escape")
        wait_for("the popup to close", lambda: "open.path" not in app.widgets())

    def test_a_text_that_cannot_be_used_stays_in_its_field(self):
        self.source.write_text(SOURCE.replace("64", "256").replace("63", "255"), encoding="utf-8")
        app = self.start("--launch", self.source)
        app.wait_value("editor.state", lambda value: "runs in the emulator" in value)
        app.wait_value("launch.launches[0].kernel", "reversed")
        app.settle()
        app.type_into("launch.launches[0].block", "n /")
        app.wait_value("launch.state", lambda value: value.startswith("launches[0].block: "))
        app.wait_value("launch.launches[0].block", "n /")
        app.type_into("launch.launches[0].block", "2000")
        app.wait_value("launch.state",
                       lambda value: "\"2000\" is 2000: it must be 1 to 1024" in value)
        frame = app.frame()
        wait_for("further frames", lambda: app.frame() > frame + 3)
        self.fill(app, "launches[0].block", "128")
        app.wait_value("launch.state", "reversed.launch.json (not saved)")

    def test_a_template_gets_arguments_that_the_form_changes(self):
        self.source.write_text(TEMPLATE, encoding="utf-8")
        app = self.start("--launch", self.source)
        app.wait_value("launch.launches[0].kernel", "stamp<16>")
        app.wait_value("launch.note", lambda value: "the arguments of the template" in value)
        app.settle()
        self.assertEqual(app.value("launch.launches[0].grid"), "(n + 255) / 256")
        self.assertEqual(app.value("launch.scalars.n"), "4096")
        # Blocks that begin 16 elements apart write the first 496 elements.
        self.assertEqual(app.number("result.largest"), 1600)
        app.choose("launch.launches[0].kernel.list", "other<float, 16>")
        app.wait_value("launch.launches[0].block", "256")
        app.settle()
        self.assertEqual(app.value("launch.buffers.x.shape"), "n")
        app.type_into("launch.launches[0].kernel", "other<float, 32>")
        app.wait_value("result.largest", "32")


if __name__ == "__main__":
    main()
