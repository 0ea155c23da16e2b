"""Makes the packages, and installs what `cmake --install` installs: package_test.py BUILD_FOLDER."""
import gzip
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path.cwd()

COMMON = {
    "bin/warpscope",
    "lib/warpscope/libwarpscope_cuda.so",
    "lib/warpscope/libwarpscope_recorder.so",
    "share/applications/warpscope.desktop",
    "share/bash-completion/completions/warpscope",
    "share/doc/warpscope/licences.md",
    "share/icons/hicolor/256x256/apps/warpscope.png",
    "share/icons/hicolor/scalable/apps/warpscope.svg",
    "share/man/man1/warpscope.1.gz",
    "share/warpscope/fetch_nvrtc",
    "share/warpscope/fetch_nvrtc",
    "share/warpscope/galaxy_20k.tipsy",
}
PLAIN = {"share/doc/warpscope/LICENSE", "share/doc/warpscope/galaxy_20k.LICENSE",
         "share/zsh/site-functions/_warpscope"}
COMPILED_IN = {f"share/doc/warpscope/licences/{package}" for package in
               ["libcli11-dev", "libimgui-dev", "nlohmann-json3-dev", "python3-glad"]}


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def files(folder):
    return {str(f.relative_to(folder)) for f in folder.rglob("*") if not f.is_dir()}


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def package(self, kind):
        # gzip takes less time than xz.
        run("cpack", "-G", kind, "-B", self.folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
            "--config", BUILD / "CPackConfig.cmake")
        found = [f for f in self.folder.glob("warpscope*") if f.is_file()]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_install_leaves_out_what_belongs_to_packages(self):
        run("cmake", "--install", BUILD, "--prefix", self.folder / "local")
        found = files(self.folder / "local")
        self.assertLess((self.folder / "local/bin/warpscope").stat().st_size, 13_000_000)
        self.assertLessEqual(COMMON | PLAIN, found)
        # Where Open MPI was installed when the app was built, its helper library is there too.
        found.discard("lib/warpscope/libwarpscope_mpi.so")
        self.assertEqual({name.split("/")[0] for name in found}, {"bin", "lib", "share"})
        self.assertFalse(found & COMPILED_IN)
        self.assertNotIn("share/doc/warpscope/changelog.Debian.gz", found)

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "needs Debian's tools")
    def test_the_deb_has_debian_s_files_and_dependencies(self):
        deb = self.package("DEB")
        run("dpkg-deb", "-x", deb, self.folder / "content")
        found = files(self.folder / "content/usr")
        self.assertLessEqual(COMMON | COMPILED_IN | {
            "share/doc/warpscope/changelog.Debian.gz", "share/doc/warpscope/changelog.gz",
            "share/doc/warpscope/copyright", "share/zsh/vendor-completions/_warpscope"}, found)
        self.assertFalse(found & PLAIN)
        self.assertEqual({name.split("/")[0] for name in found}, {"bin", "lib", "share"})
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
        with tarfile.open(self.package("TGZ")) as tarball:
            tarball.extractall(self.folder / "some where")
        [top] = (self.folder / "some where").iterdir()
        self.assertLessEqual(COMMON | PLAIN | COMPILED_IN, files(top))
        loaded = {line.split()[0]: line.split("=> ")[1].rsplit(" (")[0]
                  for line in run("ldd", top / "bin/warpscope").splitlines() if "=> /" in line}
        own = {name for name, path in loaded.items() if Path(path).resolve().is_relative_to(
            (top / "lib").resolve())}
        families = {"libfmt", "libhwy", "libtbb", "libglfw", "libpng16"}
        self.assertLessEqual(families, {name.split(".so")[0] for name in own})
        self.assertFalse(own & {"libc.so.6", "libstdc++.so.6", "libEGL.so.1", "libX11.so.6"})
        self.assertRegex(run(top / "bin/warpscope", "--version"), r"\Awarpscope \d")


if __name__ == "__main__":
    unittest.main()
