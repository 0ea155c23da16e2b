"""The user opens a CUDA source with a main(): the window asks, has nvcc compile the program, and shows its launches.

usage: running.py PROGRAM [Running.NAME]
"""
import json
import os
import shutil

from driver import wait_for
from scenario import RIPPLE, main
from session import Session

SOURCE = """__global__ void fill(int* out, int value) {
    out[threadIdx.x] = value;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof *out);
    fill<<<1, 32>>>(out, 1);
    fill<<<1, 64>>>(out, 2);
    return cudaDeviceSynchronize();
}
"""


class Running(Session):
    def setUp(self):
        super().setUp()
        toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        if not shutil.which("nvcc") and not shutil.which("nvcc", path=f"{toolkit}/bin"):
            self.skipTest("nvcc is not here")
        self.source = self.home / "fill.cu"
        self.source.write_text(SOURCE, encoding="utf-8")

    def open_source(self, app):
        app.key("ctrl+o")
        wait_for("the popup", lambda: "open.path" in app.widgets())
        app.type_into("open.path", str(self.source))

    def answers(self):
        """What the settings remember, once the window is closed."""
        [settings] = self.home.glob("**/settings.json")
        return json.loads(settings.read_text(encoding="utf-8"))["program_answers"]

    def test_a_program_is_asked_for_once_compiled_and_its_launches_are_listed(self):
        app = self.start(*RIPPLE)
        self.open_source(app)
        wait_for("the question", lambda: "program.run" in app.widgets())
        app.click("program.run")
        app.wait_value("program_launch", "1")
        app.settle()
        app.choose("program_launch", "2")
        app.wait_value("program_launch", "2")
        app.settle()
        # The person's file is remembered, and not the folder of its launches.
        self.open_source(app)
        app.wait_value("program_launch", "1")
        app.quit()
        self.assertEqual(self.answers(), {str(self.source): "run"})

    def test_errors_of_its_host_code_stand_in_the_editor(self):
        self.source.write_text(SOURCE.replace("return cuda", "return no_such_function() + cuda"), encoding="utf-8")
        app = self.start(*RIPPLE)
        self.open_source(app)
        wait_for("the question", lambda: "program.confined" in app.widgets())
        app.click("program.confined")
        app.wait_value("message", lambda value: "fill.cu:10: identifier \"no_such_function\" is undefined" in value)
        app.wait_value("editor.diagnostic.0", "10: identifier \"no_such_function\" is undefined")
        app.quit()
        self.assertEqual(self.answers(), {str(self.source): "confined"})


if __name__ == "__main__":
    main()
