"""Runs CUDA kernels in Warpscope's emulator and checks them for races. No GPU is needed.

    result = warpscope.check("saxpy.cu", "saxpy", grid=4, block=256, n=1000, a=2.0, x=x, y=y)
    assert result.ok, result
    result["y"]
"""
import base64
import contextlib
import functools
import html
import json
import math
import operator
import os
import re
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


def _value(value, name):
    """A value of an argument as a launch file has it. Raises TypeError for what no kernel can take."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {member: _value(given, f"{name}.{member}") for member, given in value.items()}
    if isinstance(value, (list, tuple)) and "." in name:  # an array in a struct
        return [_value(element, name) for element in value]
    if isinstance(value, (list, tuple)):
        raise TypeError(f"{name}: a {type(value).__name__} is no array; pass an array.array or an array of numpy")
    for convert in (operator.index, float):  # those of numpy, too
        with contextlib.suppress(TypeError, ValueError):
            number = convert(value)
            if isinstance(number, float) and not math.isfinite(number):  # which JSON can't write
                return f"{(number > 0) - (number < 0)}.0 / 0.0"
            return number
    raise TypeError(f"{name}: a value of the type {type(value).__name__} can't be passed; use a number, an array, "
                    "a dict for a struct, or None for a null pointer")


def _size(value, name):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is no integer") from None


def _sizes(value, name):
    """One to three sizes; a tuple has those of x, y and z."""
    sizes = value if isinstance(value, (list, tuple)) else [value]
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{name}: it has one to three sizes, not {len(sizes)}")
    return [_size(size, name) for size in sizes]


# What messages of the program say of the fields of a launch file, and what the caller knows of them.
_FIELDS = (
    (r"^warpscope: ", ""),
    (r"^launches\[0\]\.arguments: ", ""),
    (r"^launches\[0\]\.arguments\.(\S+): ", r"the argument \1 of {kernel}: "),
    (r"^(launches\[0\]|save|buffers)\.(\w+)(\.shape)?: ", r"\2: "),
    (r"^shared: ", "shared_bytes: "),
    (r": give it one here, or a \w+ of its name$", ""),
    (r"write the name of a buffer, or null, for", "pass an array, or None for a null pointer, for"),
    (r'"(.*)" is no buffer; write the name of one, as in "x" or "x \+ 2", or null$',
     r"\1 is no array; pass an array, or None for a null pointer"),
    (r"is a buffer; write a number or an expression for", "is an array; pass a number for"),
    (r"write a number or an expression for", "pass a number for"),
    (r"write an object with", "pass a dict with"),
    (r'"([^"]*)" is \1: it must be (.*)$', r"it must be \2, not \1"),
    (r"but the buffer (\w+) holds", "but the array holds"),
)


def _for_caller(message, launch, kernel):
    """The message with the things of the caller in place of those of the launch file."""
    message = message.replace(f"{launch.file}: ", "")
    for of_file, of_caller in _FIELDS:
        message = re.sub(of_file, of_caller.format(kernel=kernel), message)
    return message


def check(source, kernel, grid, block, /, *, checks="race,barrier,memory", shared_bytes=0,
          fail_on="warning", **arguments):
    """Runs and checks one launch of a kernel in the emulator, and returns a Result.

    `source` is the path of a .cu file, or its text. `grid` and `block` are numbers or tuples of up to three.
    `arguments` are the kernel's parameters by name: numbers, for structs dicts, and for pointers None or arrays, of
    numpy or anything else that has Python's buffers. A number must fit into its parameter. The given arrays stay as
    they are. `checks` are those of `warpscope --check`,
    `shared_bytes` the dynamic shared memory, and Result.ok is false for findings from `fail_on` on.
    Raises WarpscopeError if the kernel can't be compiled or launched, and TypeError or ValueError for an argument
    that no kernel can take.
    """
    if not isinstance(kernel, str):
        raise TypeError(f"kernel: its name is a str, and no {type(kernel).__name__}")
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source: a path or a text, and no {type(source).__name__}")
    views = {name: memoryview(value) for name, value in arguments.items() if _is_array(value)}
    for name, view in views.items():
        if view.nbytes == 0:
            raise ValueError(f"{name}: the array is empty; pass one element or more, or None for a null pointer")
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
            values[name] = _value(value, name)
    description = {
        "source": str(file), "buffers": buffers,
        "launches": [{"kernel": kernel, "grid": _sizes(grid, "grid"), "block": _sizes(block, "block"),
                      "shared": _size(shared_bytes, "shared_bytes"), "arguments": values}],
        "save": {name: f"{name}.npy" for name in buffers}}
    launch.file.write_text(json.dumps(description))
    # Nobody looks at the picture of this run, so it has one pixel.
    code, printed, said = server.run(["--check", checks, "--fail-on", fail_on, "--json", "-",
                                      "--launch", launch.file, "--size", "1x1"])
    if not printed:
        raise WarpscopeError(_for_caller(said, launch, kernel))
    arrays = {}
    for name, view in views.items():
        saved = folder / f"{name}.npy"
        if saved.exists():  # behind a header, the file has the bytes of the array
            arrays[name] = _array_like(arguments[name], view, saved.read_bytes()[-view.nbytes:])
    return Result(code == 0, json.loads(printed), arrays, file, launch)
