"""Makes the packages, and installs what `cmake --install` installs: package_test.py BUILD_FOLDER."""
import functools
import gzip
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path.cwd()
SCRIPTS = Path(__file__).resolve().parents[2] / "cmake/package"
TARBALL_FOLDER = tempfile.TemporaryDirectory()

COMMON = {
    "bin/warpscope",
    "include/warpscope.h",
    "lib/libwarpscope.so.1",
    "share/doc/warpscope/examples/embedding.c",
    "lib/warpscope/libwarpscope_cuda.so",
    "lib/warpscope/libwarpscope_recorder.so",
    "share/applications/warpscope.desktop",
    "share/bash-completion/completions/warpscope",
    "share/doc/warpscope/licences.md",
    "share/icons/hicolor/256x256/apps/warpscope.png",
    "share/icons/hicolor/scalable/apps/warpscope.svg",
    "share/man/man1/warpscope.1.gz",
    "share/warpscope/fetch_compiler",
    "share/warpscope/galaxy_20k.tipsy",
}
PLAIN = {"share/doc/warpscope/LICENSE", "share/doc/warpscope/galaxy_20k.LICENSE",
         "share/zsh/site-functions/_warpscope"}
COMPILED_IN = {f"share/doc/warpscope/licences/{package}" for package in
               ["libcli11-dev", "libimgui-dev", "liblz4-dev", "libzstd-dev", "nlohmann-json3-dev", "python3-glad"]}


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def files(folder):
    return {str(f.relative_to(folder)) for f in folder.rglob("*") if not f.is_dir()}


def package(kind, folder):
    # gzip takes less time than xz.
    run("cpack", "-G", kind, "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
        "--config", BUILD / "CPackConfig.cmake")
    [found] = [f for f in Path(folder).glob("warpscope*") if f.is_file()]
    return found


@functools.lru_cache(maxsize=None)
def tarball():
    return package("TGZ", TARBALL_FOLDER.name)


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def unpacked(self):
        with tarfile.open(tarball()) as archive:
            archive.extractall(self.folder / "some where")
        [top] = (self.folder / "some where").iterdir()
        return top

    def script(self, path, line):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def test_install_leaves_out_what_belongs_to_packages(self):
        run("cmake", "--install", BUILD, "--prefix", self.folder / "local")
        found = files(self.folder / "local")
        self.assertLess((self.folder / "local/bin/warpscope").stat().st_size, 12_500_000)
        self.assertLessEqual(COMMON | PLAIN, found)
        # Where Open MPI was installed when the app was built, its helper library is there too.
        found.discard("lib/warpscope/libwarpscope_mpi.so")
        self.assertEqual({name.split("/")[0] for name in found}, {"bin", "include", "lib", "share"})
        self.assertFalse(found & COMPILED_IN)
        self.assertNotIn("share/doc/warpscope/changelog.Debian.gz", found)

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "needs Debian's tools")
    def test_the_deb_has_debian_s_files_and_dependencies(self):
        deb = package("DEB", self.folder)
        run("dpkg-deb", "-x", deb, self.folder / "content")
        found = files(self.folder / "content/usr")
        self.assertLessEqual(COMMON | COMPILED_IN | {
            "share/doc/warpscope/changelog.Debian.gz", "share/doc/warpscope/changelog.gz",
            "share/doc/warpscope/copyright", "share/zsh/vendor-completions/_warpscope"}, found)
        self.assertFalse(found & PLAIN)
        self.assertEqual({name.split("/")[0] for name in found}, {"bin", "include", "lib", "share"})
        maintainer = run("dpkg-deb", "-f", deb, "Maintainer").strip()
        self.assertRegex(maintainer, r"^[^<>]+ <[^<>@]+@[^<>@.]+\.[^<>@]+>$")
        self.assertNotIn("example", maintainer)
        with gzip.open(self.folder / "content/usr/share/doc/warpscope/changelog.Debian.gz") as log:
            self.assertIn(f" -- {maintainer}  ", log.read().decode())
        depends = run("dpkg-deb", "-f", deb, "Depends").split(", ")
        self.assertIn("libgl1", depends)
        self.assertTrue(any(name.startswith("libglfw3 ") for name in depends), depends)
        self.assertNotIn("RUNPATH", run("objdump", "-p", self.folder / "content/usr/bin/warpscope"))

    @unittest.skipUnless(shutil.which("dpkg-query"), "the licences come from Debian's packages")
    def test_the_tarball_loads_its_own_libraries_wherever_it_lies(self):
        top = self.unpacked()
        self.assertLessEqual(COMMON | PLAIN | COMPILED_IN, files(top))
        loaded = {line.split()[0]: line.split("=> ")[1].rsplit(" (")[0]
                  for line in run("ldd", top / "bin/warpscope").splitlines() if "=> /" in line}
        own = {name for name, path in loaded.items() if Path(path).resolve().is_relative_to(
            (top / "lib").resolve())}
        families = {"libfmt", "libhwy", "libtbb", "libglfw", "libpng16"}
        self.assertLessEqual(families, {name.split(".so")[0] for name in own})
        self.assertFalse(own & {"libc.so.6", "libstdc++.so.6", "libEGL.so.1", "libX11.so.6"})
        self.assertRegex(run(top / "start", "--version"), r"\Awarpscope \d")

    @unittest.skipUnless(shutil.which("dpkg-query"), "the libraries come from Debian's packages")
    def test_a_system_without_a_desktop_gets_the_libx11_that_it_lacks(self):
        top = self.unpacked()
        bare = top / "lib/bare"
        self.assertTrue((bare / "libX11.so.6").is_file())
        self.script(top / "bin/warpscope", 'echo "$LD_LIBRARY_PATH"')
        known = os.environ["PATH"]
        for has_x11 in [False, True]:
            self.script(self.folder / "fake/ldconfig",
                        "echo ' libX11.so.6 (libc6,x86-64) => /lib/libX11.so.6'" if has_x11 else "exit 1")
            done = subprocess.run([top / "start"], text=True, stdout=subprocess.PIPE, check=True, env={
                "PATH": f"{self.folder}/fake:{known}", "LD_LIBRARY_PATH": "/mine"})
            self.assertEqual(done.stdout.strip(), "/mine" if has_x11 else f"/mine:{bare}")

    def one_file(self, program):
        return subprocess.run([program, "--check", "race", "--experiment", "dot", "--set", "dot.kernel=no_loop_barrier"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(self.folder / "cache")})

    def test_the_executable_file_unpacks_itself_once_and_runs(self):
        program = self.folder / "warpscope.run"
        run(SCRIPTS / "one_file.sh", tarball(), program)
        content = program.read_bytes()
        program.write_bytes(content[:len(content) // 2])
        done = self.one_file(program)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the program can't be unpacked", done.stdout)
        self.assertEqual(list((self.folder / "cache/warpscope").iterdir()), [])
        program.write_bytes(content)
        for _ in range(2):
            done = self.one_file(program)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("CHECK SUMMARY (race): 1 finding", done.stdout)
            # The second start needs no archive.
            program.write_bytes(content[:content.index(b"\nexec ") + len('\nexec "$folder/start" "$@"\n')])
        self.assertEqual(len(list((self.folder / "cache/warpscope").glob("program-*"))), 1)

    def test_the_wheel_is_small_and_needs_nothing_that_rhel_9_and_ubuntu_22_04_lack(self):
        run(sys.executable, SCRIPTS / "wheel.py", tarball(), self.folder)
        [wheel] = self.folder.glob("warpscope-*.whl")
        self.assertLess(wheel.stat().st_size, 15_000_000)
        self.assertIn("-py3-none-manylinux_2_", wheel.name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder / "content")
        programs = [f for f in (self.folder / "content").rglob("*")
                    if f.is_file() and f.read_bytes()[:4] == b"\x7fELF"]
        shipped = {f.name for f in programs}
        needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", *programs)))
        # auditwheel allows these. libz is everywhere, and libX11 is in the wheel too.
        self.assertLessEqual(needed - shipped, {"ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1",
                                                "libm.so.6", "libpthread.so.0", "libstdc++.so.6", "libz.so.1"})
        if subprocess.run([os.environ.get("CXX", "g++"), "-dumpversion"], text=True,
                          stdout=subprocess.PIPE).stdout.strip() != "12":
            return  # the wheel is made by Debian 12
        symbols = run("objdump", "-T", *programs)
        for library, newest in [("GLIBC", (2, 34)), ("GLIBCXX", (3, 4, 29)), ("CXXABI", (1, 3, 13))]:
            versions = {tuple(map(int, version.split(".")))
                        for version in re.findall(rf"\b{library}_([0-9.]+)", symbols)}
            self.assertLessEqual(max(versions), newest)
        self.assertIn("manylinux_2_34", wheel.name)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "pip is not installed")
    def test_the_wheel_is_installed_and_checks_a_kernel(self):
        run(sys.executable, SCRIPTS / "wheel.py", tarball(), self.folder)
        [wheel] = self.folder.glob("warpscope-*.whl")
        site = self.folder / "site"
        run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel)
        self.assertFalse({name for name in files(site) if "/man/" in name or name.endswith(".desktop")})
        environment = {**os.environ, "PYTHONPATH": str(site)}
        environment.pop("WARPSCOPE_PROGRAM", None)

        def python(*arguments):
            return subprocess.run([sys.executable, *arguments], text=True, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        self.assertRegex(python("-m", "warpscope", "--version"), r"\Awarpscope \d")
        said = python("-c", "import array, warpscope; print(warpscope.check('__global__ void f(int* x) { *x += 2; }', "
                      "'f', 1, 1, x=array.array('i', [40]))['x'][0])")
        if "NVRTC" in said:
            self.skipTest(said)
        self.assertEqual(said, "42\n")


if __name__ == "__main__":
    unittest.main()
