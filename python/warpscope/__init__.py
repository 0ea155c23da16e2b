"""Runs CUDA kernels in Warpscope's emulator and checks them for races. No GPU is needed.

    result = warpscope.check("saxpy.cu", "saxpy", grid=4, block=256, n=1000, a=2.0, x=x, y=y)
    assert result.ok, result
    result["y"]
"""
import base64
import functools
import html
import json
import os
import shutil
import sys
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

from ._program import WarpscopeError, server

__all__ = ["check", "Result", "Finding", "Place", "WarpscopeError"]

# The formats of Python's buffers, as the module struct names them, and the types of launch files.
_TYPES = {"f": "float", "d": "double", "e": "half", "?": "bool", "c": "uint8_t"}


def _type_of(view, name):
    """The type that a launch file gives a buffer with the elements of `view`."""
    code = view.format.lstrip("@=<")
    if code in _TYPES:
        return _TYPES[code]
    if len(code) == 1 and code in "bhilqnBHILQN":
        return f"{'u' if code.isupper() else ''}int{8 * view.itemsize}_t"
    raise TypeError(f"{name}: elements of the format {view.format!r} can't be passed; "
                    "use an array of numbers")


@dataclass(frozen=True)
class Place:
    """A line of the source, and the thread that is there."""
    file: str
    line: int
    text: str              #: the line in the source; empty for a line of another file
    thread: "tuple | None"
    block: "tuple | None"

    def __str__(self):
        where = f"{self.file}:{self.line}"
        return f"{where}: {self.text}" if self.text else where


@dataclass(frozen=True)
class Finding:
    """What a check has found."""
    kind: str              #: "race", "barrier", "memory", …
    severity: str          #: "error", "warning" or "note"
    sentence: str
    count: int             #: how often it happened
    places: tuple          #: one or two Places

    def __str__(self):
        lines = "".join(f"\n    {place}" for place in self.places)
        return f"{self.severity}: {self.sentence} [{self.count}]{lines}"


class _Launch:
    """A folder with a launch file, which is removed with this object."""

    def __init__(self, array_bytes):
        # Files in memory take a tenth of the time of files on a disk; containers often have no more than 64 MiB for them.
        in_memory = array_bytes < 1 << 20 and os.access("/dev/shm", os.W_OK)
        self.folder = Path(tempfile.mkdtemp(prefix="warpscope-", dir="/dev/shm" if in_memory else None))
        self.file = self.folder / "launch.json"
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class Result:
    """What a launch has computed and what the checks have found.

    `ok` says whether the checks passed. `arrays` has the arrays after the launch by name, and is empty where an
    error has ended the launch; `result["y"]` is short for `result.arrays["y"]`. `output` is what printf() in the
    kernel has printed, and `error` what has ended the launch, or "".
    """

    def __init__(self, ok, answer, arrays, source, launch):
        self._source, self._launch = source, launch
        self.ok, self.arrays, self.output = ok, arrays, answer.get("output", "")
        self.error = self._named(answer["stopped"] or "")
        self.findings = [self._finding(found) for found in answer["findings"] if found["standing"] == "new"]

    def __getitem__(self, name):
        return self.arrays[name]

    def __repr__(self):
        return "\n".join([*map(str, self.findings), *filter(None, [self.error])]) or "no findings"

    def _named(self, words):
        """The words with the name of the source in place of its path."""
        return words.replace(str(self._source), self._source.name)

    def _finding(self, found):
        places = tuple(self._place(found[k]) for k in ("first", "second") if found[k])
        return Finding(found["kind"], found["severity"], self._named(found["sentence"]), found["count"], places)

    def _place(self, party):
        file, line, text = party["file"] or "", party["line"], ""
        if file == str(self._source):
            lines = self._source.read_text(encoding="utf-8", errors="replace").splitlines()
            text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        thread, block = (tuple(party[k]) if party[k] else None for k in ("thread", "block"))
        return Place(Path(file).name, line, text, thread, block)

    @functools.cached_property
    def picture(self):
        """The picture of the buffer that the launch writes, as the bytes of a PNG; None without one."""
        file = self._launch.folder / "picture.png"
        server.run(["--headless", "--device", "emulator", "--launch", self._launch.file,
                    "--screenshot", file, "--view-only", "--size", "480x320", "--json", "-"])
        return file.read_bytes() if file.exists() else None

    def _repr_html_(self):
        cell = '<td style="text-align:left;vertical-align:top">'
        rows = "".join(
            f"<tr>{cell}{html.escape(found.severity)}</td>{cell}{html.escape(found.sentence)}</td>{cell}" +
            "<br>".join(f"<code>{html.escape(str(place))}</code>" for place in found.places) +
            f"</td>{cell}{found.count}</td></tr>" for found in self.findings)
        table = ("<table><tr><th>severity</th><th>finding</th><th>source</th><th>count</th></tr>"
                 f"{rows}</table>" if rows else "<p>no findings</p>")
        error = f"<p>{html.escape(self.error)}</p>" if self.error else ""
        picture = base64.b64encode(self.picture or b"").decode()
        image = f'<img alt="the buffer that the launch writes" src="data:image/png;base64,{picture}">'
        return (image if picture else "") + error + table


def _array_like(given, view, data):
    """The bytes as an array like the given one: numpy's for numpy's, otherwise a memoryview."""
    numpy = sys.modules.get("numpy")
    if numpy and isinstance(given, numpy.ndarray):
        return numpy.frombuffer(bytearray(data), given.dtype).reshape(given.shape)
    return memoryview(bytearray(data)).cast(view.format.lstrip("@=<"), view.shape)


def _is_array(value):
    try:
        return memoryview(value).ndim > 0
    except TypeError:
        return False


def check(source, kernel, grid, block, /, *, checks="race,barrier,memory", shared_bytes=0,
          fail_on="warning", **arguments):
    """Runs and checks one launch of a kernel in the emulator, and returns a Result.

    `source` is the path of a .cu file, or its text. `grid` and `block` are numbers or tuples of up to three.
    `arguments` are the kernel's parameters by name: numbers, and for pointers arrays, of numpy or anything else that
    has Python's buffers. The given arrays stay as they are. `checks` are those of `warpscope --check`,
    `shared_bytes` the dynamic shared memory, and Result.ok is false for findings from `fail_on` on.
    Raises WarpscopeError if the kernel can't be compiled or launched.
    """
    views = {name: memoryview(value) for name, value in arguments.items() if _is_array(value)}
    launch = _Launch(sum(view.nbytes for view in views.values()))
    folder = launch.folder
    if "\n" in str(source) or "__global__" in str(source):
        file = folder / "kernel.cu"
        file.write_text(str(source), encoding="utf-8")
    else:
        file = Path(source).absolute()
    buffers, values = {}, {}
    for name, value in arguments.items():
        if name in views:
            view = views[name]
            Path(folder, f"{name}.bin").write_bytes(view.tobytes())
            buffers[name] = {"type": _type_of(view, name), "shape": list(view.shape),
                             "fill": {"file": f"{name}.bin"}}
        else:
            values[name] = value
    description = {
        "source": str(file), "buffers": buffers,
        "launches": [{"kernel": kernel, "grid": grid, "block": block, "shared": shared_bytes,
                      "arguments": values}],
        "save": {name: f"{name}.npy" for name in buffers}}
    launch.file.write_text(json.dumps(description, allow_nan=False, default=lambda number: number.item()))
    # Nobody looks at the picture of this run, so it has one pixel.
    code, printed, said = server.run(["--check", checks, "--fail-on", fail_on, "--json", "-",
                                      "--launch", launch.file, "--size", "1x1"])
    if not printed:
        raise WarpscopeError(said)
    arrays = {}
    for name, view in views.items():
        saved = folder / f"{name}.npy"
        if saved.exists():  # behind a header, the file has the bytes of the array
            arrays[name] = _array_like(arguments[name], view, saved.read_bytes()[-view.nbytes:])
    return Result(code == 0, json.loads(printed), arrays, file, launch)
