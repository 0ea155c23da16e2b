"""Runs the real program with launch files.

usage: cli_launch_test.py PROGRAM
"""

import json
import os
import shlex
import struct
import sys
import unittest

import cli_kernels_test
import cli_test

SOURCE = """#include <cstdio>
#include <vector>
#include "scale.h"

#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)

struct Range { float low, high; };

template <int B>
__global__ void block_sums(const float* in, float* sums, int n) {
    __shared__ float tile[B];
    const int i = blockIdx.x * B + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    for (int s = B / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

__global__ void clamp_scaled(float4* v, Range range, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i].x = fminf(fmaxf(scaled(v[i].x), range.low), range.high);
}

int main() {
    std::vector<float> host(1000);
    block_sums<256><<<4, 256>>>(nullptr, nullptr, 1000);
    printf("%zu\\n", host.size());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
"""
HEADER = """#pragma once
#include <string>
inline std::string name() { return "scale"; }
__device__ inline float scaled(float x) { return 2 * x; }
"""
# Sums of 0.5 * i over 256 numbers from i = 256 * b: 32768 * b + 16320; the last block has 232.
LAUNCH = {
    "source": "sums.cu",
    "scalars": {"n": 1000, "blocks": "(n + 255) / 256"},
    "buffers": {"in": {"shape": "n", "fill": "i * 0.5"}, "sums": {"shape": "blocks"},
                "v": {"shape": "n", "fill": "lane == 0 ? i : -1"}},
    "launches": [
        {"kernel": "block_sums<256>", "grid": "blocks", "block": 256},
        {"kernel": "clamp_scaled", "grid": ["blocks"], "block": [256],
         "arguments": {"range": {"low": 10, "high": 100.5}}},
    ],
    "expect": [
        {"buffer": "sums", "equals": "i < 3 ? 32768 * i + 16320 : 102486"},
        {"buffer": "v", "equals": "lane == 0 ? min(max(2 * i, 10), 100.5) : -1"},
    ],
    "save": {"sums": "sums.npy", "in": "in.csv"},
}


class Launches(cli_kernels_test.Kernels):
    def setUp(self):
        super().setUp()
        self.write("scale.h", HEADER)
        self.write_all(SOURCE, LAUNCH)
        done = self.run_program("--headless", "--device", "emulator", "--launch",
                                "sums.launch.json")
        if "NVRTC" in done.stderr and "not installed" in done.stderr:
            self.skipTest(done.stderr.strip())

    def write_all(self, source, launch):
        self.write("sums.cu", source)
        self.write("sums.launch.json", json.dumps(launch))

    def run_launch(self, *arguments):
        return self.run_program(*arguments, "--launch", "sums.launch.json", "--json", "-")

    def test_a_file_with_its_host_program_runs_and_is_as_expected(self):
        done = self.run_launch("--check", "race,barrier,memory")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        result = json.loads(done.stdout)
        self.assertEqual([r["value"] for r in result["report"][:2]], [0, 0])
        self.assertEqual({r["verdict"] for r in result["report"][:2]}, {"pass"})
        self.assertEqual(result["findings"], [])
        self.assertEqual(done.stderr, "sums.cu: note: host code is left out: #include of cstdio "
                         "(line 1), #include of vector (line 2), the function main (lines 26 to "
                         "32)\n")

    def test_a_program_of_the_host_does_not_disturb(self):
        self.write("lock.h", "#include <vector>\ntypedef pthread_t Thread;\n"
                   "struct Timer { std::vector<int> laps; Timer() : laps{1} {} };\n"
                   "struct Lock {\n    int* word;\n    Lock() { cudaMalloc(&word, 4); }\n"
                   "    __device__ void take() { *word = 1; }\n};\n")
        self.write_all("""#include "lock.h"
        namespace { const char* title = "two"; const int two = 2, three = (3); }
        template <class T> void fill(T* p) { twice<<<1, 1>>>(p, Lock()); }
        template void fill<float>(float*);
        Timer timer;
        __global__ void twice(uint* p, Lock lock) {
            lock.take();
            p[threadIdx.x] = two * (p[threadIdx.x] < UINT_MAX ? 1 : 0);
        }
        """, {"source": "sums.cu", "buffers": {"p": {"shape": 4}, "word": {"type": "int", "shape": 1}},
              "launches": [{"kernel": "twice", "grid": 1, "block": 4,
                            "arguments": {"lock": {"word": "word"}}}],
              "expect": [{"buffer": "p", "equals": 2}, {"buffer": "word", "equals": 1}]})
        done = self.run_launch("--headless", "--device", "emulator")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_buffers_and_arguments_of_half_precision(self):
        self.write_all("""#include <cuda_fp16.h>
        __global__ void scale(half2* h, half factor, float* f) {
            h[threadIdx.x] = __hmul2(h[threadIdx.x], __half2half2(factor));
            f[threadIdx.x] = __half2float(h[threadIdx.x].y);
        }
        """, {"source": "sums.cu", "buffers": {"h": {"shape": 8, "fill": "i + lane"}, "f": {"shape": 8}},
              "launches": [{"kernel": "scale", "grid": 1, "block": 8, "arguments": {"factor": 0.5}}],
              "expect": [{"buffer": "h", "equals": "(i + lane) / 2.0"},
                         {"buffer": "f", "equals": "(i + 1) / 2.0"}],
              "save": {"h": "h.npy"}})
        done = self.run_launch("--headless", "--device", "emulator")
        if "cuda_fp16.h" in done.stderr:
            self.skipTest("the headers of the CUDA Toolkit are not installed")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(struct.unpack("<4e", (self.folder / "h.npy").read_bytes()[-32:-24]),
                         (0, 0.5, 0.5, 1))

    def test_the_names_of_kernels_are_those_of_the_source(self):
        result = json.loads(self.run_launch("--counters").stdout)
        names = {k["kernel"] for k in result["counters"]}
        self.assertIn("block_sums<256>", names)
        self.assertIn("clamp_scaled", names)
        # Each of the 4 blocks arrives 8 times: s = 128, 64, …, 1.
        sums = next(k for k in result["counters"] if k["kernel"] == "block_sums<256>")
        self.assertEqual(sums["barriers"], 4 * 8 * sums["launches"])

    def test_a_missing_barrier_is_found_at_its_line(self):
        self.write_all(SOURCE.replace("__syncthreads();", ""), LAUNCH)
        done = self.run_launch("--check", "race")
        self.assertEqual(done.returncode, 1)
        lines = {f["first"]["line"] for f in json.loads(done.stdout)["findings"]
                 if f["kind"] == "race"}
        self.assertLessEqual(lines, {13, 16})
        self.assertEqual({f["kernel"] for f in json.loads(done.stdout)["findings"]},
                         {"block_sums<256>"})

    def mirrored(self, include, body):
        """Checks a kernel of 64 threads with an array in shared memory; returns the lines of text."""
        self.write_all(f"#include {include}\n__global__ void mirror(int* out) {{\n"
                       "    __shared__ int tile[64];\n" + body + "}\n",
                       {"source": "sums.cu", "buffers": {"out": {"shape": 64}},
                        "launches": [{"kernel": "mirror", "grid": 1, "block": 64}]})
        return self.run_program("--check", "race", "--launch", "sums.launch.json", "--sarif",
                                "found.sarif")

    def test_a_race_in_a_header_is_found_there_and_where_it_is_called(self):
        (self.folder / "sub").mkdir()
        self.write("sub/deep.h", "__device__ inline int at(const int* tile, int i) {\n"
                   "    return tile[i];\n}\n")
        self.write("tile.h", "#pragma once\n#include \"sub/deep.h\"\n"
                   "__device__ inline void put(int* tile) {\n    tile[threadIdx.x] = threadIdx.x;\n}\n"
                   "__device__ inline int get(const int* tile) {\n"
                   "    return at(tile, 63 - threadIdx.x);\n}\n")
        done = self.mirrored('"tile.h"', "    put(tile);\n    out[threadIdx.x] = get(tile);\n")
        self.assertEqual(done.returncode, 1, done.stderr)
        write, read = "tile.h:4 (called at sums.cu:4)", "sub/deep.h:2 (called at sums.cu:5)"
        text = " ".join(done.stdout.replace("=========", " ").split())
        self.assertIn(f"RAW race between {write} and {read}, in mirror [", text)
        self.assertIn("__syncthreads() is missing between sums.cu:4 and sums.cu:5.", text)
        results = json.loads((self.folder / "found.sarif").read_text())["runs"][0]["results"]
        race = next(r for r in results if r["ruleId"] == "race")

        def line(location):
            place = location["physicalLocation"]
            return f"{place['artifactLocation']['uri']}:{place['region']['startLine']}"

        self.assertEqual(line(race["locations"][0]), "sub/deep.h:2")
        self.assertEqual([(line(r), r["message"]["text"]) for r in race["relatedLocations"]],
                         [("tile.h:7", "Called here"), ("sums.cu:5", "Called here"),
                          ("tile.h:4", "The other access"),
                          ("sums.cu:4", "The other access is called here")])

    def test_a_race_in_a_header_of_the_toolkit_is_found_where_it_is_called(self):
        done = self.mirrored("<cub/block/block_reduce.cuh>", """
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ Reduce::TempStorage storage;
    int sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 2; ++i)
        sum += Reduce(storage).Sum(threadIdx.x);
    out[threadIdx.x] = sum;
""")
        if "block_reduce.cuh" in done.stderr:
            self.skipTest("the headers of the CUDA Toolkit are not installed")
        self.assertEqual(done.returncode, 1, done.stderr)
        # The second sum overwrites the storage of the first one.
        text = " ".join(done.stdout.replace("=========", " ").split())
        self.assertIn(" race between sums.cu:10 and sums.cu:10, in mirror [", text)
        self.assertRegex(text, r"at sums\.cu:10 \(in the toolkit's \w+\.cuh:\d+\)")
        results = json.loads((self.folder / "found.sarif").read_text())["runs"][0]["results"]
        places = {json.dumps(place["physicalLocation"], sort_keys=True) for r in results
                  for place in r["locations"] + r["relatedLocations"]}
        self.assertEqual(places, {json.dumps(
            {"artifactLocation": {"uri": "sums.cu"}, "region": {"startLine": 10}})})

    def test_an_expectation_that_fails_ends_with_1(self):
        self.write_all(SOURCE, {**LAUNCH, "expect": [{"buffer": "in", "equals": "i * 0.5 + (i == 9)"}]})
        done = self.run_launch("--headless", "--device", "emulator")
        self.assertEqual(done.returncode, 1)
        reading = json.loads(done.stdout)["report"][0]
        self.assertEqual(reading["value"], 1)
        self.assertIn("in[9] = 4.5, expected 5.5", reading["sentence"])

    def test_a_scalar_is_set_on_the_command_line(self):
        done = self.run_launch("--headless", "--device", "emulator", "--set", "launch.n=256")
        # 256 numbers fill one block; the expectations hold for it.
        self.assertEqual(done.returncode, 0, done.stdout)
        saved = (self.folder / "sums.npy").read_bytes()
        self.assertEqual(struct.unpack("<f", saved[-4:]), (16320.0,))
        self.assertEqual((self.folder / "in.csv").read_text().split()[:3], ["0", "0.5", "1"])

    def test_a_picture_shows_a_buffer(self):
        done = self.run_launch("--headless", "--device", "emulator", "--set", "launch.buffer=in",
                               "--set", "launch.view=grey", "--view-only", "--screenshot", "p.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        pixels, texts = cli_test.read_png(self.folder / "p.png")
        # 1000 elements in rows of 32; each row of the file begins with its filter.
        self.assertEqual(len(pixels), 32 * (1 + 4 * 32))
        again = shlex.split(texts["command"].replace("picture.png", "again.png"))
        self.assertEqual(again[:4], ["warpscope", "--headless", "--launch", "sums.launch.json"])
        self.assertEqual(self.run_program(*again[1:]).returncode, 0)
        self.assertEqual(cli_test.read_png(self.folder / "again.png")[0], pixels)

    def test_what_cannot_be_used_is_one_line_with_its_field(self):
        first = LAUNCH["launches"][0]

        def with_launch(**changes):
            return {**LAUNCH, "launches": [{**first, **changes}, LAUNCH["launches"][1]]}

        for launch, pattern in [
            (with_launch(kernel="product"), r"launches\[0\]\.kernel: the source has no kernel product"),
            (with_launch(block=2000), r"launches\[0\]\.block: \"2000\" is 2000: it must be 1 to 1024"),
            (with_launch(grid="n / 0"), r"launches\[0\]\.grid: \"n / 0\": division by zero"),
            ({**LAUNCH, "source": "none.cu"}, r"source: none\.cu: No such file"),
            ({**LAUNCH, "launch": []}, r"\"launch\" is not known"),
            ({**LAUNCH, "buffers": {**LAUNCH["buffers"], "in": {"fill": {"file": "x.npy"}}}},
             r"buffers\.in\.fill: x\.npy: No such file"),
        ]:
            with self.subTest(pattern=pattern):
                self.write_all(SOURCE, launch)
                done = self.run_launch("--headless", "--device", "emulator")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                lines = [line for line in done.stderr.splitlines() if ": note: " not in line]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertRegex(lines[0], pattern)

    def test_a_buffer_that_is_too_short_is_found(self):
        launch = {**LAUNCH, "buffers": {**LAUNCH["buffers"], "in": {"shape": "n - 1"}},
                  "expect": []}
        self.write_all(SOURCE, launch)
        done = self.run_launch("--check", "memory")
        self.assertEqual(done.returncode, 1)
        finding = json.loads(done.stdout)["findings"][0]
        self.assertEqual((finding["kind"], finding["first"]["line"]), ("memory", 13))
        self.assertIn("4 bytes", finding["sentence"])

    def test_errors_of_the_source_stand_at_their_lines(self):
        self.write_all(SOURCE.replace("float tile[B]", "flot tile[B]"), LAUNCH)
        done = self.run_launch("--headless", "--device", "emulator")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"sums\.cu:11:\d+: error: ")

    def test_a_note_names_an_array_that_the_compiler_has_removed(self):
        self.write("unread.cu", """__global__ void k(int* out) {
    __shared__ int unread[32], read[32];
    read[threadIdx.x] = threadIdx.x;
    unread[0] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = read[31 - threadIdx.x];
}
""")
        self.write("unread.json", json.dumps({
            "source": "unread.cu", "buffers": {"out": {"shape": "32"}},
            "launches": [{"kernel": "k", "grid": [1], "block": [32]}]}))
        done = self.run_program("--headless", "--device", "emulator", "--launch", "unread.json",
                                "--check", "race")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("unread.cu:4: note: the compiler has removed the array unread in shared "
                      "memory", done.stderr)
        self.assertNotIn("array read", done.stderr)

    def test_an_instruction_that_the_emulator_lacks_is_named_in_the_source(self):
        query = 'asm("{ .reg .b32 p; .reg .b64 t; mov.u64 t, 0; txq.width.b32 p, [t]; }");'
        self.write_all(SOURCE.replace("__shared__", query + " __shared__"), LAUNCH)
        done = self.run_launch("--headless", "--device", "emulator")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^(sums\.cu: note: .*\n)?warpscope: sums\.cu: "
                         r"kernel block_sums<256>, sums\.cu:11, PTX line \d+: queries of textures "
                         r"are not emulated")


class Options(cli_kernels_test.Kernels):
    def test_launch_goes_with_no_experiment(self):
        for arguments, pattern in [
            (["--launch", "a.json"], r"a\.json: No such file"),
            (["--list", "--launch", "a.json"], r"--launch: only the window and --headless"),
            (["--headless", "--launch", "a.json", "--experiment", "ripple"],
             r"--launch: leave out --experiment"),
            (["--headless", "--launch", "a.json", "--set", "ripple.sync=off"],
             r"launch\.SCALAR=VALUE"),
            (["--headless", "--launch", "a.json"], r"a\.json: No such file"),
            (["--headless", "--launch", ""], r"--launch: name a file"),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_refusal(arguments, 2, pattern)


if __name__ == "__main__":
    cli_test.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
