"""The program warpscope: where it is, and a process of it that answers requests."""
import atexit
import contextlib
import importlib.util
import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path


class WarpscopeError(RuntimeError):
    """A kernel that can't be compiled or launched. The text is what the program says of it."""


def path():
    """The program: that of the environment variable WARPSCOPE_PROGRAM, or that of the wheel."""
    return os.environ.get("WARPSCOPE_PROGRAM") or str(Path(__file__).parent / "app" / "start")


def environment():
    """The variables of this process, with the compilers of PyPI's packages unless CUDA_HOME is a folder."""
    known = dict(os.environ)
    nvidia = importlib.util.find_spec("nvidia")  # a name that packages of NVIDIA share, in one folder or several
    for folder in nvidia.submodule_search_locations or [] if nvidia else []:
        if Path(folder, "cu13").is_dir() and not os.path.isdir(known.get("CUDA_HOME", "")):
            known["CUDA_HOME"] = str(Path(folder, "cu13"))
    return known


class Server:
    """A process of the program that is kept, and answers one request after the other."""

    def __init__(self):
        self.lock = threading.Lock()
        self.process = None
        self.owner = None  # a fork() of this process may not use its pipes

    def start(self):
        self.stop()
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([path(), "--serve"], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=self.said, env=environment())
        self.owner = os.getpid()

    def run(self, arguments):
        """Runs a command line. Returns (exit code, what it printed, what it said of errors)."""
        with self.lock:
            if self.owner != os.getpid() or not self.process or self.process.poll() is not None:
                self.start()
            self.said.seek(0)
            self.said.truncate()
            try:
                self.process.stdin.write(json.dumps([str(a) for a in arguments]) + "\n")
                self.process.stdin.flush()
                printed = []
                for line in self.process.stdout:
                    if line.startswith("exit "):
                        return int(line.split()[1]), "".join(printed), self.messages()
                    printed.append(line)
            except BaseException:  # also KeyboardInterrupt: the rest of an answer must not be read later
                self.stop()
                raise
            raise WarpscopeError(f"warpscope has ended: {self.messages() or 'it said nothing'}")

    def messages(self):
        self.said.seek(0)
        return self.said.read().strip()

    def stop(self):
        """Ends the process; the next request starts another one."""
        if self.process and self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.said.close()
            with contextlib.suppress(OSError):  # a request that was not read
                self.process.stdin.close()
        self.process = None


server = Server()
atexit.register(server.stop)
