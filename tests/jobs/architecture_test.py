"""Checks the #include lines of app/ against the floors of the house. A room is a folder of app/. It
includes only itself and rooms on lower floors. A room's subfolders have floors of their own, and
files straight in the room stand above them all. Each outside library stays in its rooms.

usage: architecture_test.py REPOSITORY
"""

import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

FLOORS = [{"files"}, {"emulator", "compiler"}, {"launches"}, {"compute", "programs"}, {"experiments", "gl"}, {"jobs", "ui"}, {""}]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
ROOF = ""  # options and main, straight in app/

# The subfolders of a room or of another folder, from the ground up.
SUBFLOORS = {
    "compute": [{"device"}, {"libraries", "confinement"}, {"cuda", "emulated"}, {"helper", "ranks"},
                {"mpi"}],
    "emulator": [{"program"}, {"async"}, {"warp", "ptx"}, {"textures"}, {"observe"}, {"machine", "handlers", "lower"},
                 {"decode", "happens_before", "checks", "counters"}, {"races"}, {"stepper"}, {"witness"}, {"slice"},
                 {"fast_paths"}],
    "emulator/fast_paths": [{"llvm"}, {"alike"}, {"compiled"}],
    "emulator/fast_paths/compiled": [{"plan"}, {"generate"}],
    "experiments": [{"bodies"}, {"framework"}, {"measure"}, {"export"}, {"proposals"},
                    {"nbody", "pipeline", "ripple", "sums", "launch"}, {"replicas"}, {"lessons"}],
    "launches": [{"arrays"}, {"files"}, {"lanes"}],
    "programs": [{"images", "report"}, {"memory"}, {"checks"}, {"gpu"}, {"api", "recorder", "embedded"}, {"driver_api"}, {"runtime_api"},
                 {"injection"}],
    "jobs": [{"output"}, {"headless"}, {"programs"}, {"debugger"}],
    "ui": [{"language"}, {"widgets"}, {"source"}, {"documents"}, {"stage"}, {"edits", "finders"},
           {"editor", "heat", "launch_form", "microscope"}, {"microscope_tile"}, {"timeline"},
           {"commands", "dock", "lessons"}, {"bars", "parameters", "picture", "results"}, {"window"}],
}

# What makes the emulator fast, and can be left out.
FAST_PATHS = ("emulator", "fast_paths")

# The checks, which only the judge of launches applies, and what steps or searches a block.
CHECKS = re.compile(r"emulator/(races/race_detector|races/grid/grid_races|checks/(barrier|memory)_check)\.h")
CALLS_CHECKS = re.compile(r"emulator/.*|programs/checks/check_host_calls\.cpp")

# Outside headers, and the files that may include them (paths below app/).
KEPT = [
    ("CUDA", r"cuda.*|nv(rtc|Jit|ml).*|.*cublas.*", r"(?!)"),  # libraries are loaded at run time
    ("MPI", r"mpi.*", r"compute/mpi/.*"),
    ("ImGui", r"(.*/)?(imgui|imconfig|imstb).*", r"ui/.*"),
    ("GLFW, GLAD or EGL", r"(GLFW|glad|EGL|GL|GLES\d?)/.*", r"(gl|ui)/.*|programs/runtime_api/opengl\.cpp"),
]
# Pages whose paths must exist.
PAGES = ["docs/architecture.md", "docs/testing.md", "CONTRIBUTING.md", "app/*/README.md"]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".cpp", ".cu", ".c"}


def room_of(path):
    return path.parts[0] if len(path.parts) > 1 else ROOF


def subfolder_of(path):
    return path.parts[1] if len(path.parts) > 2 else ROOF


def check_subfolder(where, path, target, depth=1):
    """A header of the room or subfolder that `path` is in: both have `depth` folders in common.
    Files straight in a room stand above its subfolders, files straight in a subfolder beside its own."""
    parent = "/".join(path.parts[:depth])
    floors = SUBFLOORS.get(parent)
    mine, other = (p.parts[depth] if len(p.parts) > depth + 1 else ROOF for p in (path, target))
    if floors is None or mine == ROOF or (depth > 1 and other == ROOF):
        return []
    if mine == other:
        return check_subfolder(where, path, target, depth + 1)
    floor = {folder: number for number, folders in enumerate(floors) for folder in folders}
    if other in floor and floor[other] < floor[mine]:
        return []
    return [f"{where}: {parent}/{mine} may not include {target}: "
            f"{other or 'the room itself'} is not below it"]


def check_fast_paths(where, path, target):
    """The emulator works without the folder fast_paths: only its launcher knows of it."""
    is_inside = path.parts[:2] == FAST_PATHS or path.with_suffix("") == Path("emulator/launcher")
    if target.parts[:2] != FAST_PATHS or is_inside:
        return []
    return [f"{where}: only emulator/launcher.cpp may include {target}"]


def check_judge(where, path, target):
    """Launches are judged in one place."""
    if not CHECKS.fullmatch(target) or CALLS_CHECKS.fullmatch(path.as_posix()):
        return []
    return [f"{where}: include emulator/judge.h, which applies {target} to launches"]


def check_own(where, path, target, app):
    """One of our own headers, included from `path`."""
    if not (app / target).is_file():
        return [f"{where}: {target} is no file below app/"]
    mine, other = room_of(path), room_of(Path(target))
    if other == mine:
        return check_subfolder(where, path, Path(target)) or check_fast_paths(where, path, Path(target))
    if FLOOR[other] < FLOOR[mine]:
        return check_fast_paths(where, path, Path(target))
    return [f"{where}: {mine or 'app'} may not include {target}: {other or 'app'} is not below it"]


def check_line(where, path, kind, target, app):
    found = []
    for name, headers, files in KEPT:
        own = kind == '"' and (app / target).is_file()
        if not own and re.fullmatch(headers, target) and not re.fullmatch(files, path.as_posix()):
            found.append(f"{where}: {name} header {target} does not belong here")
    if kind == '"':
        found += check_own(where, path, target, app) + check_judge(where, path, target)
    return found


def nameless_folders(repository):
    """Subfolders of rooms about which no sentence in the room's page says what belongs in them."""
    found = []
    for folder in sorted(f for f in (Path(repository) / "app").glob("*/*") if f.is_dir()):
        pages = [folder.parent / "README.md", Path(repository) / "docs/architecture.md"]
        names = [f"`{folder.name}`", f"`{folder.parent.name}/{folder.name}`"]
        text = "".join(p.read_text(encoding="utf-8") for p in pages if p.is_file())
        if not any(name in text for name in names):
            found.append(f"{folder.relative_to(repository)}: no sentence in "
                         f"{pages[0].relative_to(repository)} says what belongs in it")
    return found


def violations(repository):
    """Sentences, one for each broken rule."""
    app = Path(repository) / "app"
    found = []
    for file in sorted(f for f in app.rglob("*") if f.suffix in SOURCES):
        path = file.relative_to(app)
        if room_of(path) not in FLOOR:
            found.append(f"app/{path}: the house has no room {room_of(path)}")
            continue
        floors = SUBFLOORS.get(room_of(path))
        if floors is not None and subfolder_of(path) not in set().union({ROOF}, *floors):
            found.append(f"app/{path}: {room_of(path)} has no subfolder {subfolder_of(path)}")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                found += check_line(f"app/{path}:{number}", path, *match.groups(), app)
    for file in sorted((Path(repository) / "kernels").glob("*.cu")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if INCLUDE.match(line):
                found.append(f"kernels/{file.name}:{number}: kernels stand alone, without headers")
    return found


def missing_paths(repository):
    """Paths in the pages that show the way at which nothing is."""
    pages = sorted(file for page in PAGES for file in Path(repository).glob(page))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    paths = re.findall(r"`((?:app|assets|cmake|docs|kernels|shaders|tests)/[\w./*]*)`", text)
    return [p for p in paths if "NAME" not in p and not any(Path(repository).glob(p))]


class House(unittest.TestCase):
    repository = "."

    def test_has_no_violations(self):
        self.assertEqual(violations(self.repository), [])

    def test_every_path_of_the_pages_exists(self):
        self.assertEqual(missing_paths(self.repository), [])

    def test_every_folder_has_a_sentence(self):
        self.assertEqual(nameless_folders(self.repository), [])

    def test_every_room_is_read(self):
        seen = {room_of(f.relative_to(Path(self.repository) / "app"))
                for f in (Path(self.repository) / "app").rglob("*.cpp")}
        self.assertLessEqual({"emulator", "compute", "experiments", "gl", "jobs", "ui", ROOF}, seen)


class Seeded(unittest.TestCase):
    """Puts each kind of violation into a copy of the sources; the check must find it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = Path(folder.name)
        for part in ("app", "kernels"):
            shutil.copytree(Path(House.repository) / part, cls.copy / part)
        cls.before = set(violations(cls.copy))

    def write(self, file, text):
        """Into the copy, until the test ends."""
        path = self.copy / file
        if path.exists():
            self.addCleanup(path.write_bytes, path.read_bytes())
        else:
            new = path
            while not new.parent.exists():
                new = new.parent
            self.addCleanup(shutil.rmtree if new != path else Path.unlink, new)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_path_that_is_gone(self):
        text = "`app/main.cpp`, `app/gone.cpp`, `app/*.cpp`, `app/gone_*.cpp`, `kernels/NAME.cu`"
        self.write("docs/architecture.md", text)
        self.write("CONTRIBUTING.md", "`app/gone.h`")
        for page in (self.copy / "app").glob("*/README.md"):
            self.write(page.relative_to(self.copy), "")
        self.write("app/ui/README.md", "`app/ui/gone.h`")
        self.assertEqual(missing_paths(self.copy),
                         ["app/gone.h", "app/ui/gone.h", "app/gone.cpp", "app/gone_*.cpp"])

    def found_after(self, file, text):
        self.write(file, text)
        return [v for v in violations(self.copy) if v not in self.before]

    def expect_one(self, file, text, words):
        found = self.found_after(file, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_upwards(self):
        self.expect_one("app/compute/seeded.h", '#include "experiments/framework/experiment.h"\n',
                        "experiments is not below it")

    def test_sideways(self):
        self.expect_one("app/jobs/seeded.h", '#  include "ui/stage/stage.h"\n', "ui is not below it")

    def test_beside_each_other(self):
        self.expect_one("app/experiments/seeded.h", '#include "gl/png.h"\n', "gl is not below it")

    def test_up_inside_a_room(self):
        self.expect_one("app/experiments/framework/seeded.h",
                        '#include "experiments/nbody/nbody.h"\n', "nbody is not below it")

    def test_up_inside_compute(self):
        self.expect_one("app/compute/device/seeded.h", '#include "compute/pick_device.h"\n',
                        "the room itself is not below it")

    def test_sideways_inside_a_room(self):
        self.expect_one("app/experiments/ripple/seeded.h",
                        '#include "experiments/nbody/nbody.h"\n', "nbody is not below it")

    def test_up_inside_the_emulator(self):
        self.expect_one("app/emulator/machine/seeded.h",
                        '#include "emulator/handlers/handlers.h"\n', "handlers is not below it")

    def test_sideways_inside_the_emulator(self):
        self.expect_one("app/emulator/lower/seeded.h",
                        '#include "emulator/handlers/handlers.h"\n', "handlers is not below it")

    def test_fast_paths(self):
        self.expect_one("app/compute/seeded.h", '#include "emulator/fast_paths/compiled/plan/plan.h"\n',
                        "only emulator/launcher.cpp")

    def test_fast_paths_from_the_emulator(self):
        self.expect_one("app/emulator/seeded.h", '#include "emulator/fast_paths/compiled/plan/plan.h"\n',
                        "only emulator/launcher.cpp")

    def test_up_inside_the_fast_paths(self):
        self.expect_one("app/emulator/fast_paths/alike/seeded.h",
                        '#include "emulator/fast_paths/compiled/plan/plan.h"\n', "compiled is not below it")

    def test_up_inside_a_subfolder(self):
        self.expect_one("app/emulator/fast_paths/compiled/plan/seeded.h",
                        '#include "emulator/fast_paths/compiled/generate/slots.h"\n',
                        "generate is not below it")

    def test_down_inside_a_subfolder(self):
        self.assertEqual(self.found_after("app/emulator/fast_paths/compiled/generate/seeded.h",
                                          '#include "emulator/fast_paths/compiled/plan/plan.h"\n'), [])

    def test_new_subfolder(self):
        self.expect_one("app/experiments/attic/seeded.cpp", "\n", "no subfolder attic")

    def test_folder_without_a_sentence(self):
        before = nameless_folders(self.copy)
        self.write("app/ui/attic/seeded.h", "\n")
        self.assertEqual([f for f in nameless_folders(self.copy) if f not in before],
                         ["app/ui/attic: no sentence in app/ui/README.md says what belongs in it"])

    def test_roof(self):
        self.expect_one("app/ui/seeded.h", '#include "options.h"\n', "app is not below it")

    def test_relative(self):
        self.expect_one("app/ui/seeded.h", '#include "../gl/png.h"\n', "no file below app/")

    def test_cuda(self):
        self.expect_one("app/experiments/seeded.cpp", "#include <cuda_runtime.h>\n", "CUDA header")

    def test_imgui(self):
        self.expect_one("app/compiler/seeded.cpp", "#include <imgui.h>\n", "ImGui header")

    def test_window(self):
        self.expect_one("app/jobs/seeded.cpp", "#include <GLFW/glfw3.h>\n", "GLFW")

    def test_new_room(self):
        self.expect_one("app/attic/seeded.cpp", "\n", "no room attic")

    def test_kernel_header(self):
        self.expect_one("kernels/seeded.cu", "#include <cmath>\n", "stand alone")

    def test_right_ones_pass(self):
        self.assertEqual(self.found_after("app/ui/seeded.cpp",
                                          '#include <imgui.h>\n#include "gl/png.h"\n'), [])


if __name__ == "__main__":
    House.repository = sys.argv.pop(1)
    unittest.main()
