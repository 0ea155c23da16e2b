"""The user downloads the compiler of edits with the button of the editor.

usage: downloading.py PROGRAM [Downloading.NAME]
"""
import os
import pathlib
import shutil
import signal
import subprocess

from driver import wait_for
from scenario import RIPPLE, main
from session import BARRIER, Session


class Downloading(Session):
    """The app in a mount namespace without the CUDA Toolkit. A fake of Python brings the machine's NVRTC
    in place of PyPI."""

    def setUp(self):
        super().setUp()
        data = pathlib.Path(os.environ.get("XDG_DATA_HOME", "~/.local/share")).expanduser()
        known = [pathlib.Path("/usr/local/cuda/lib64"), data / "warpscope/nvrtc"]
        library, builtins = "libnvrtc.so.[0-9][0-9]", "libnvrtc-builtins.so.[0-9][0-9].[0-9]"
        toolkit = next((path for path in known if list(path.glob(library))), None)
        if not toolkit:
            self.skipTest(f"no NVRTC in {known[0]} or {known[1]}")
        (self.home / "wheel").mkdir()
        for pattern in [library, builtins]:
            shutil.copy(next(toolkit.glob(pattern)), self.home / "wheel")
        self.put("bin/python3", f"""case $* in
            *download*) while [ -e {self.home}/slow ]; do sleep 0.1; done ;;
            *zipfile*) mkdir -p "$5/nvidia/cu13/lib" "$5/nvidia/cu13/include"
                mkdir -p "$5/nvidia_cuda_nvrtc-13.dist-info/licenses"
                touch "$5/nvidia_cuda_nvrtc-13.dist-info/licenses/License.txt"
                mv {self.home}/wheel/* "$5/nvidia/cu13/lib" ;;
        esac""")
        inside = self.put("inside", f"""mount -t tmpfs none /usr/local || exit
            unset XDG_DATA_HOME CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
            export HOME={self.home} PATH={self.home}/bin:$PATH
            exec {self.program} "$@" """)
        self.program = self.put("outside", f'exec unshare --map-root-user --mount {inside} "$@"')
        text = self.home / "other.cu"
        text.write_text("not a kernel", encoding="utf-8")
        said = subprocess.run([self.program, "--headless", "--kernel-source", text], check=False,
                              capture_output=True, text=True).stderr
        if "NVRTC, the compiler of edits, is not installed" not in said:
            self.skipTest(f"NVRTC can't be hidden: {said}")

    def put(self, name, lines):
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def test_a_button_downloads_the_compiler_and_edits_run_at_once(self):
        slow = self.home / "slow"
        slow.touch()
        app = self.start(*RIPPLE)
        app.key("e")
        app.wait_value("editor.read_only", lambda value: "NVRTC" in value)
        app.pause()  # while an experiment computes, Escape cancels it
        app.click("editor.download")
        app.wait_value("editor.downloading", lambda value: value.startswith("Downloading NVRTC"))
        app.key("Escape")
        wait_for("the button", lambda: "editor.download" in app.widgets())
        self.assertNotIn("editor.download.error", app.widgets())
        self.assertEqual(list(self.home.glob(".local/share/warpscope/*")), [])

        slow.unlink()
        app.click("editor.download")
        app.wait_value("editor.state", "built-in")
        app.settle()
        app.click(f"editor.barrier.{BARRIER}")
        app.wait_value("editor.state", "runs in the emulator")
        app.wait_value("race", "Race: 256 hazards a block")

    def test_a_signal_to_the_app_ends_the_download(self):
        (self.home / "slow").touch()
        app = self.start(*RIPPLE)
        app.key("e")
        app.click("editor.download")
        wait_for("the script's folder", lambda: list(self.home.glob(".local/share/warpscope/*")))
        self.assertEqual(app.end(signal.SIGTERM), -signal.SIGTERM)
        self.assertEqual(list(self.home.glob(".local/share/warpscope/*")), [])


if __name__ == "__main__":
    main()
