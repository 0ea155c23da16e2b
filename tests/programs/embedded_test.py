"""Uses libwarpscope.so as its users do: embedded_test.py LIBRARY CC CXX REPOSITORY."""
import ctypes
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p, cast
from pathlib import Path

LIBRARY, CC, CXX, REPOSITORY = sys.argv[1:5]
del sys.argv[1:5]
EXAMPLES = Path(REPOSITORY, "docs/examples")
HEADER = Path(REPOSITORY, "app/programs/embedded/warpscope.h")
REVERSE = (EXAMPLES / "reverse.ptx").read_bytes()


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel(body, parameters=".param .u64 p", before=""):
    return (f".version 9.0\n.target sm_75\n.address_size 64\n{before}\n.visible .entry k({parameters})\n{{\n"
            ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
            f"ld.param.u64 %rd0, [p];\n{body}\nret;\n}}\n").encode()


lib = load_example("embedding").library(LIBRARY)
for name, result, *types in [("version", c_uint), ("attach", c_int, c_void_p, c_void_p, c_size_t),
                             ("free", c_int, c_void_p, c_void_p), ("unload", c_int, c_void_p, c_void_p),
                             ("variable", c_void_p, c_void_p, c_void_p, ctypes.c_char_p, c_void_p)]:
    function = getattr(lib, f"warpscope_{name}")
    function.restype, function.argtypes = result, types


class Gpu:
    def __init__(self, checks=None):
        self.handle = lib.warpscope_open(checks)
        assert self.handle, lib.warpscope_error()

    def __getattr__(self, name):
        return lambda *arguments: getattr(lib, f"warpscope_{name}")(self.handle, *arguments)

    def run(self, module, *values, grid=(1, 1, 1), block=(1, 1, 1), name=b"k", shared=0, limit=0):
        pointers = (c_void_p * max(len(values), 1))(*(cast(byref(value), c_void_p) for value in values))
        return self.launch(module, name, (c_uint * 3)(*grid), (c_uint * 3)(*block), shared, pointers, len(values), limit)

    def report_of(self):
        return json.loads(self.report())


class Examples(unittest.TestCase):
    def test_the_one_in_c_is_linked_with_the_library_and_finds_the_race(self):
        with tempfile.TemporaryDirectory() as folder:
            built = run(CC, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", HEADER.parent, EXAMPLES / "embedding.c",
                        "-o", f"{folder}/embedding", LIBRARY, f"-Wl,-rpath,{Path(LIBRARY).parent}")
            self.assertEqual(built.returncode, 0, built.stderr)
            done = run(f"{folder}/embedding", EXAMPLES / "reverse.ptx")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            first, report = done.stdout.splitlines()
            self.assertEqual(first, "out[63] = 0")
            [finding] = json.loads(report)["findings"]
            self.assertEqual((finding["kind"], finding["first"]["line"], finding["second"]["line"]), ("race", 4, 5))
            self.assertIn("libwarpscope.so.1", run("ldd", f"{folder}/embedding").stdout)
            Path(folder, "bad.ptx").write_text(".version 9.0\n.frob\n")
            done = run(f"{folder}/embedding", f"{folder}/bad.ptx")
            self.assertEqual(done.returncode, 1)
            self.assertIn("unknown directive '.frob'", done.stderr)

    def test_the_one_in_python_finds_the_race(self):
        done = run(sys.executable, "-B", EXAMPLES / "embedding.py", LIBRARY, EXAMPLES / "reverse.ptx")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("__syncthreads() is missing between reverse.cu:4 and reverse.cu:5", done.stdout)

    def test_ptx_run_runs_a_kernel_on_memory_of_the_process(self):
        code = ("import ctypes; from ptx_run import ptx_run\n"
                "words = (ctypes.c_uint32 * 4)()\n"
                f"source = {kernel('ld.param.u32 %r1, [n]; st.global.u32 [%rd0+8], %r1;', '.param .u64 p, .param .u32 n')!r}\n"
                "for n in 5, 6: ptx_run(source, 2, (ctypes.c_void_p * 2)(ctypes.addressof(words), n), 1, 1, 1, 1, 1, 1, 0)\n"
                "print(list(words))")
        done = subprocess.run([sys.executable, "-B", "-c", code], text=True, capture_output=True,
                              env={"LIBWARPSCOPE": LIBRARY, "PYTHONPATH": str(EXAMPLES)})
        self.assertEqual((done.stdout, done.stderr), ("[0, 0, 6, 0]\n", ""))

    def test_the_header_is_c_and_cpp(self):
        for compiler, language, standard in (CC, "c", "c89"), (CXX, "c++", "c++98"):
            done = run(compiler, "-x", language, f"-std={standard}", "-pedantic-errors", "-Wall", "-fsyntax-only", HEADER)
            self.assertEqual(done.returncode, 0, done.stderr)


class Library(unittest.TestCase):
    def test_has_the_functions_of_its_header_and_nothing_else(self):
        declared = set(re.findall(r"(warpscope_\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)))
        names = {line.split()[-1].partition("@")[0] for line in run("nm", "-D", "--defined-only", LIBRARY).stdout.splitlines()}
        self.assertEqual(names - {"WARPSCOPE_1"}, declared)
        self.assertIn("[libwarpscope.so.1]", run("readelf", "-d", LIBRARY).stdout)
        version = re.search(r"project\(warpscope VERSION (\d+)\.(\d+)\.(\d+)", Path(REPOSITORY, "CMakeLists.txt").read_text())
        self.assertEqual(lib.warpscope_version(), sum(int(n) * m for n, m in zip(version.groups(), (10000, 100, 1))))

    def run_long_kernel(self, launches, **variables):
        code = ("import sys; sys.argv = ['', *sys.argv[1:]]\n"
                f"exec(compile(open({__file__!r}).read().split('class Examples')[0], 'test', 'exec'))\n"
                "gpu = Gpu()\nwords = (ctypes.c_uint32 * 32)()\n"
                "gpu.attach(words, 128)\n"
                "module = gpu.load(kernel('mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 200000; @%p1 bra L;"
                " st.global.u32 [%rd0], %r1;'))\n"
                "for n in range(int(sys.argv[1])):\n"
                "    assert not gpu.run(module, c_void_p(ctypes.addressof(words)), grid=(16, 1, 1)), lib.warpscope_error()\n"
                "print(words[0])")
        done = subprocess.run([sys.executable, "-B", "-c", code, LIBRARY, CC, CXX, REPOSITORY, str(launches)], text=True,
                              capture_output=True, env={**os.environ, **variables})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "200000\n", ""))

    def test_ends_with_its_process_while_kernels_are_compiled(self):
        for launches in 1, 20:
            self.run_long_kernel(launches)

    def test_goes_on_where_the_system_has_no_thread_left_for_the_compiler(self):
        # Threads of oneTBB, which run the blocks, are started as usual; those of libstdc++ are not.
        refuses = r"""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <string.h>
            int pthread_create(void* a, void* b, void* c, void* d) {
                Dl_info caller;
                if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libstdc++")) return EAGAIN;
                int (*real)(void*, void*, void*, void*) = dlsym(RTLD_NEXT, "pthread_create");
                return real(a, b, c, d);
            }"""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "none.c").write_text(refuses)
            built = run(CC, "-shared", "-fPIC", "-w", "-fno-builtin", f"{folder}/none.c", "-o", f"{folder}/none.so", "-ldl")
            self.assertEqual(built.returncode, 0, built.stderr)
            self.run_long_kernel(20, LD_PRELOAD=f"{folder}/none.so")


class Launches(unittest.TestCase):
    def setUp(self):
        self.gpu = Gpu()
        self.addCleanup(self.gpu.close)
        self.words = (ctypes.c_uint32 * 64)()
        self.pointer = c_void_p(ctypes.addressof(self.words))
        self.assertEqual(self.gpu.attach(self.words, 256), 0)

    def fails(self, result, words):
        self.assertTrue(result is None or result != 0)
        self.assertIn(words, lib.warpscope_error().decode())

    def test_of_the_only_kernel_need_no_name(self):
        module = self.gpu.load(kernel("st.global.u32 [%rd0], 7;"))
        self.assertEqual(self.gpu.run(module, self.pointer, name=None), 0)
        self.assertEqual(self.words[0], 7)

    def test_use_variables_and_memory_that_was_copied(self):
        module = self.gpu.load(kernel("ld.const.u32 %r1, [c]; ld.global.u32 %r2, [%rd0]; add.u32 %r1, %r1, %r2;"
                                      "st.global.u32 [%rd0+4], %r1;", before=".const .u32 c;"))
        size = c_size_t()
        constant = self.gpu.variable(module, b"c", byref(size))
        self.assertEqual(size.value, 4)
        own = c_void_p(self.gpu.allocate(8))
        self.assertEqual(self.gpu.copy(constant, byref(c_uint(40)), 4), 0)
        self.assertEqual(self.gpu.copy(own, byref(c_uint(2)), 4), 0)
        self.assertEqual(self.gpu.run(module, own), 0, lib.warpscope_error())
        self.assertEqual(self.gpu.copy(self.words, own, 8), 0)
        self.assertEqual(list(self.words[:2]), [2, 42])
        self.assertEqual(self.gpu.free(own), 0)

    def test_print_and_allocate(self):
        module = self.gpu.load(kernel(
            "{ .param .b64 a; .param .b64 b; .param .b32 r; mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;"
            "st.param.b64 [a], %rd1; st.param.b64 [b], 0; call.uni (r), vprintf, (a, b); }\n"
            "{ .param .b64 n; .param .b64 q; st.param.b64 [n], 16; call.uni (q), malloc, (n); ld.param.b64 %rd2, [q]; }\n"
            "st.u32 [%rd2], 9; ld.u32 %r1, [%rd2]; st.global.u32 [%rd0], %r1;",
            before=".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                   ".extern .func (.param .b64 q) malloc(.param .b64 n);\n"
                   '.global .align 1 .b8 text[4] = {104, 105, 10, 0};'))
        self.assertTrue(module, lib.warpscope_error())
        self.assertEqual(self.gpu.run(module, self.pointer), 0, lib.warpscope_error())
        self.assertEqual(self.words[0], 9)
        self.assertEqual(self.gpu.report_of()["output"], "hi\n")
        self.assertEqual(self.gpu.report_of()["output"], "")

    def test_that_are_wrong_are_refused_with_a_sentence(self):
        module = self.gpu.load(kernel("st.global.u32 [%rd0], 7;"))
        self.fails(self.gpu.run(module), "kernel k has 1 parameters, and 0 arguments were given")
        self.fails(self.gpu.run(module, self.pointer, name=b"other"), "the PTX has no kernel other")
        self.fails(self.gpu.run(module, self.pointer, block=(2000, 1, 1)), "a block has 1 to 1024 threads")
        self.fails(self.gpu.run(module, self.pointer, grid=(0, 1, 1)), "the grid is too large or empty")
        self.fails(self.gpu.run(module, self.pointer, shared=1 << 20), "more shared memory than a block can have")
        self.fails(self.gpu.run(module, c_void_p(0)), "kernel k")
        self.fails(self.gpu.run(module, c_void_p(ctypes.addressof(self.words) + 256)), "past the end of the allocation")
        self.fails(self.gpu.run(12345, self.pointer), "the module is none of this emulator")
        one = (c_uint * 3)(1, 1, 1)
        self.fails(self.gpu.launch(module, b"k", one, one, 0, (c_void_p * 1)(5), 1, 0),
                   "argument 1 of kernel k, a pointer to its value: 8 bytes from 0x5 on are no memory of this process")
        self.fails(self.gpu.launch(module, b"k", one, one, 0, None, 1, 0), "the arguments")
        two = self.gpu.load(kernel("") + kernel("").replace(b" k(", b" k2(").partition(b"64\n")[2])
        self.fails(self.gpu.run(two, self.pointer, name=None), "the PTX has 2 kernels, and the launch names none")
        self.assertEqual(self.gpu.run(module, self.pointer), 0)  # the emulator goes on

    def test_without_an_end_are_ended(self):
        still = self.gpu.load(kernel("L: bra L;"))
        self.fails(self.gpu.run(still, self.pointer), "kernel k")
        counting = self.gpu.load(kernel("mov.u64 %rd1, 0; L: add.u64 %rd1, %rd1, 1; setp.ne.u64 %p1, %rd1, 0; @%p1 bra L;"))
        self.fails(self.gpu.run(counting, self.pointer, limit=200), "did not end within 0.2 s")

    def test_that_the_emulator_cannot_run_say_why(self):
        module = self.gpu.load(kernel("frobnicate.u32 %r1, %r2;"))
        self.fails(self.gpu.run(module, self.pointer), "kernel k is not launched: the PTX: kernel k, PTX line 11: unknown opcode")
        self.fails(self.gpu.load(b"no PTX at all"), "the PTX: PTX line 1")
        self.fails(self.gpu.load(b""), "the emulator runs PTX")
        self.fails(self.gpu.load(None), "the PTX: 4 bytes from 0x0 on are no memory of this process")


class Memory(unittest.TestCase):
    def setUp(self):
        self.gpu = Gpu(b"race,barrier,memory")
        self.addCleanup(self.gpu.close)

    def fails(self, result, words):
        self.assertTrue(result is None or result != 0)
        self.assertIn(words, lib.warpscope_error().decode())

    def test_that_is_no_memory_is_refused(self):
        own = self.gpu.allocate(16)
        words = (ctypes.c_uint32 * 4)()
        self.fails(self.gpu.allocate(0), "0 bytes")
        self.fails(self.gpu.allocate(1 << 50), f"cannot allocate {1 << 50} bytes")
        self.fails(self.gpu.allocate((1 << 64) - 1), "cannot allocate")
        self.fails(self.gpu.attach(None, 16), "no memory of this process")
        self.fails(self.gpu.attach(words, 0), "0 bytes")
        self.fails(self.gpu.attach(words, (1 << 64) - 1), "no memory of this process")
        self.fails(self.gpu.attach(own + 4, 4), "is memory of the emulator already")
        self.fails(self.gpu.free(own + 4), "no memory of the emulator begins at")
        self.fails(self.gpu.copy(own, words, 32), "the target of a copy: 32 bytes from byte 0 of an allocation of 16 bytes")
        self.fails(self.gpu.copy(words, own + 8, 9), "the source of a copy: 9 bytes from byte 8 of an allocation of 16 bytes")
        self.fails(self.gpu.copy(own, None, 4), "the source of a copy")
        self.fails(self.gpu.copy(7, words, 4), "the target of a copy")
        self.assertEqual([self.gpu.copy(own, words, 16), self.gpu.copy(own, words, 0), self.gpu.free(None),
                          self.gpu.free(own)], [0, 0, 0, 0])
        self.fails(self.gpu.free(own), "no memory of the emulator begins at")

    def test_that_nothing_has_written_is_found_but_not_where_it_was_copied_or_attached(self):
        module = self.gpu.load(kernel("ld.global.u32 %r1, [%rd0]; st.global.u32 [%rd0+4], %r1;"))
        words = (ctypes.c_uint32 * 4)()
        copied, unwritten = c_void_p(self.gpu.allocate(16)), c_void_p(self.gpu.allocate(16))
        self.assertEqual([self.gpu.attach(words, 16), self.gpu.copy(copied, words, 16)], [0, 0])
        for pointer in c_void_p(ctypes.addressof(words)), copied:
            self.assertEqual(self.gpu.run(module, pointer), 0)
        self.assertEqual(self.gpu.report_of()["findings"], [])
        self.assertEqual(self.gpu.run(module, unwritten), 0)
        [finding] = self.gpu.report_of()["findings"]
        self.assertEqual((finding["kind"], finding["kernel"]), ("uninitialized", "k"))

    def test_beyond_an_allocation_is_a_finding_and_an_error(self):
        module = self.gpu.load(kernel("st.global.u32 [%rd0+64], 1;"))
        self.fails(self.gpu.run(module, c_void_p(self.gpu.allocate(16))), "past the end of the allocation of 16 bytes")
        report = self.gpu.report_of()
        self.assertEqual([finding["kind"] for finding in report["findings"]], ["memory"])
        self.assertIn("past the end", report["stopped"])


class Emulators(unittest.TestCase):
    def test_that_are_not_open_are_refused(self):
        gpu = Gpu()
        self.assertEqual(gpu.close(), 0)
        for handle in gpu.handle, None, 1234:
            self.assertEqual(lib.warpscope_close(handle), 1)
            self.assertIsNone(lib.warpscope_load(handle, REVERSE))
            self.assertIsNone(lib.warpscope_allocate(handle, 4))
            self.assertIsNone(lib.warpscope_report(handle))
            self.assertIn("the emulator is not open", lib.warpscope_error().decode())

    def test_know_their_checks(self):
        self.assertIsNone(lib.warpscope_open(b"race,frob"))
        self.assertIn("frob: write one or more of race, barrier, memory", lib.warpscope_error().decode())
        self.assertIsNone(lib.warpscope_open(b"leaks"))
        self.assertIn("the library checks race, barrier and memory", lib.warpscope_error().decode())
        gpu = Gpu(b"memory,race")
        self.assertEqual(gpu.report_of(), {"checks": ["race", "memory"], "findings": [], "stopped": None,
                                           "timed_out": False, "not_tried": [], "output": ""})
        gpu.close()

    def test_work_in_several_threads(self):
        shared, found = Gpu(b"race"), []

        def work(gpu):
            module = gpu.load(REVERSE)
            arguments = [c_void_p(gpu.allocate(256)) for _ in range(2)]
            for _ in range(10):
                assert gpu.run(module, *arguments, block=(64, 1, 1), name=b"reverse") == 0
            found.append(len(gpu.report_of()["findings"]))
            assert gpu.unload(module) == 0
        threads = [threading.Thread(target=work, args=[gpu]) for gpu in [shared, shared, Gpu(b"race"), Gpu(b"race")]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [1, 1, 1, 1])

    def test_survive_damaged_texts(self):
        chance = random.Random(1)
        gpu = Gpu(b"race,barrier,memory")
        memory = [c_void_p(gpu.allocate(256)) for _ in range(2)]
        for _ in range(300):
            text = bytearray(REVERSE)
            for _ in range(chance.randint(1, 4)):
                text[chance.randrange(len(text))] = chance.choice(b"%rd[]{};.,0189az \n")
            module = gpu.load(bytes(text))
            if not module:
                self.assertNotEqual(lib.warpscope_error(), b"")
                continue
            gpu.run(module, *memory, block=(64, 1, 1), name=b"reverse", limit=2000)
            self.assertEqual(gpu.unload(module), 0)
        self.assertEqual(gpu.close(), 0)


if __name__ == "__main__":
    unittest.main()
