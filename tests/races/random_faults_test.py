"""Makes random kernels, each with one fault and a twin without it: the fault must be found, and the
twin must be free of findings.

usage: random_faults_test.py PROGRAM [PROGRAMS_OF_EACH_KIND [FIRST_SEED]]
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = ""
COUNT, FIRST = 1 if "WARPSCOPE_ONE_CASE_OF" in os.environ else 3, 1


class Made:
    """A kernel of the template parameter FIXED, and its launch."""

    def __init__(self, text, grid, block, buffers, scalars=None, finding=""):
        self.text, self.finding = text, finding
        self.launch = {"source": "made.cu", "buffers": buffers, "scalars": scalars or {},
                       "launches": [{"kernel": "", "grid": grid, "block": block}]}


def kernel(parameters, body):
    return ("template <bool FIXED>\n__global__ void made(" + parameters + ") {\n    " +
            "\n    ".join(line for line in body if line) + "\n}\n")


def wrong_mask(r):
    """Groups of lanes exchange values; the mask leaves a lane out, or names another group."""
    width = r.choice([2, 4, 8, 16])
    bits = (1 << width) - 1
    lost = r.randrange(width)
    right = f"({bits}u << (lane / {width} * {width}))"
    wrong = r.choice([f"({right} & ~(1u << (lane / {width} * {width} + {lost})))",
                      f"({bits}u << ((lane / {width} * {width} + {width}) % 32))",
                      f"({bits >> 1}u << (lane / {width} * {width}))"])
    exchange = r.choice([f"v += __shfl_xor_sync(mask, v, {width >> 1});",
                         "v += __ballot_sync(mask, v & 1);",
                         "v += __any_sync(mask, v > 3) ? 1 : 0;", "__syncwarp(mask);",
                         "v += __popc(__match_any_sync(mask, v % 3));"])
    body = ["int t = threadIdx.x, lane = t % 32, v = in[t];",
            f"unsigned mask = FIXED ? {right} : {wrong};",
            f"if (t / {width} % 2 == {r.randrange(2)}) {{ {exchange} }}", "out[t] = v;"]
    block = 32 * r.randint(1, 3)
    buffers = {"in": {"shape": block, "fill": f"i * {r.randint(1, 9)}"}, "out": {"shape": block}}
    return Made(kernel("const int* in, int* out", body), 1, block, buffers,
                finding="wrong member mask")


def narrow_scope(r):
    """A block hands words to the next one; a fence or an atomic has the scope of a block."""
    words, block = r.randint(1, 60), 32 * r.randint(1, 3)
    place = r.choice(["writer", "reader", "flag"])
    choose = {"writer": ["__threadfence();"] * 2, "reader": ["__threadfence();"] * 2,
              "flag": ["atomicExch(flag, 1);"] * 2}
    narrow = {"writer": "__threadfence_block();", "reader": "__threadfence_block();",
              "flag": "atomicExch_block(flag, 1);"}[place]
    choose[place] = [choose[place][0], narrow]
    at = {key: f"if (FIXED) {{ {right} }} else {{ {wrong} }}"
          for key, (right, wrong) in choose.items()}
    body = ["int t = threadIdx.x;", "if (blockIdx.x == 0) {",
            f"    for (int k = t; k < {words}; k += blockDim.x) message[k] = k * {r.randint(1, 9)};",
            "    __syncthreads();", f"    if (t == 0) {{ {at['writer']} {at['flag']} }}",
            "} else if (blockIdx.x == 1 && t == 0 && atomicAdd(flag, 0)) {",
            f"    {at['reader']}", f"    for (int k = 0; k < {words}; ++k) out[k] = message[k];",
            "}"]
    buffers = {"message": {"shape": words}, "flag": {"shape": 1}, "out": {"shape": words}}
    return Made(kernel("int* message, int* flag, int* out", body), 2, block, buffers,
                finding="race between")


def narrow_counter(r):
    """Blocks count in the same words."""
    words, block = r.randint(1, 16), r.choice([32, 64, 96])
    operation = r.choice(["Add", "Max", "Or"])
    body = ["int i = blockIdx.x * blockDim.x + threadIdx.x;",
            f"if (FIXED) atomic{operation}(&count[i % {words}], 1);",
            f"else atomic{operation}_block(&count[i % {words}], 1);"]
    return Made(kernel("int* count", body), r.randint(2, 6), block, {"count": {"shape": words}},
                finding="has the scope of a block")


def bound_of_shared_array(r):
    """A step beyond an array in shared memory, into the one behind it."""
    size, step = r.choice([32, 64, 96]), r.randint(1, 5)
    body = [f"__shared__ int first[{size}], second[{size}];", "int t = threadIdx.x;",
            "first[t] = in[t]; second[t] = -t;", "__syncthreads();",
            f"int sum = t + {step} {'<'} (FIXED ? {size} : {size} + 1) ? first[t + {step}] : 0;",
            "out[t] = sum + second[t];"]
    buffers = {"in": {"shape": size, "fill": "i"}, "out": {"shape": size}}
    return Made(kernel("const int* in, int* out", body), 1, size, buffers,
                finding="bytes of the array first in shared memory")


def bound_of_buffer(r):
    """The last block passes the end of a buffer by one element."""
    n, block, before = r.randint(100, 900), r.choice([32, 64, 128]), r.choice([0, 0, 1])
    blocks = n // block + 1
    body = ["int i = blockIdx.x * blockDim.x + threadIdx.x;",
            f"if (i >= {before} && i < (FIXED ? n : n + 1)) out[i] = in[i] * {r.randint(2, 9)};"]
    buffers = {"in": {"shape": n, "fill": "i"}, "out": {"shape": n}}
    return Made(kernel("const float* in, float* out, int n", body), blocks, block, buffers,
                {"n": n}, "invalid access")


def bound_of_local_array(r):
    """An element of a local array too few is set."""
    size = r.randint(4, 20)
    body = [f"int own[{size}], t = threadIdx.x;",
            f"for (int k = 0; k < (FIXED ? n : n - 1); ++k) own[k] = in[k] + t;", "int sum = 0;",
            "for (int k = 0; k < n; ++k) sum += own[in[k]];", "out[t] = sum;"]
    buffers = {"in": {"shape": size, "fill": f"{size} - 1 - i"}, "out": {"shape": 64}}
    return Made(kernel("const int* in, int* out, int n", body), 1, 64, buffers, {"n": size},
                "undefined value")


def missing_barrier(r):
    """Threads of different warps exchange words, without a barrier at one of two places."""
    block, step, rounds = r.choice([64, 96, 128]), r.randint(1, 40), r.randint(2, 4)
    lost = r.randrange(2)
    barriers = ["__syncthreads();" if k != lost else "if (FIXED) __syncthreads();"
                for k in range(2)]
    body = [f"__shared__ int s[{block}];", "int t = threadIdx.x, v = in[t];",
            f"for (int round = 0; round < {rounds}; ++round) {{", f"    s[t] = v; {barriers[0]}",
            f"    v += s[(t + {step}) % {block}]; {barriers[1]}", "}", "out[t] = v;"]
    buffers = {"in": {"shape": block, "fill": "i"}, "out": {"shape": block}}
    return Made(kernel("const int* in, int* out", body), 1, block, buffers, finding="race between")


def missing_grid_barrier(r):
    """Blocks exchange words of global memory, without a barrier of the grid."""
    blocks, block = r.randint(2, 5), r.choice([32, 64])
    n = blocks * block
    body = ["auto grid = cooperative_groups::this_grid();",
            "int i = blockIdx.x * blockDim.x + threadIdx.x;",
            f"for (int round = 0; round < {r.randint(1, 3)}; ++round) {{",
            "    b[i] = a[i] + 1; grid.sync();",
            f"    a[i] = b[(i + {block * r.randint(1, blocks - 1)}) % {n}];",
            "    if (FIXED) grid.sync();", "}",
            f"if (!FIXED) b[(i + 1) % {n}] = 0;"]
    buffers = {"a": {"shape": n, "fill": "i"}, "b": {"shape": n}}
    text = "#include <cooperative_groups.h>\n" + kernel("int* a, int* b", body)
    return Made(text, blocks, block, buffers, finding="race between")


KINDS = [wrong_mask, narrow_scope, narrow_counter, bound_of_shared_array, bound_of_buffer,
         bound_of_local_array, missing_barrier, missing_grid_barrier]


class RandomFaults(unittest.TestCase):
    def report(self, made, fixed, folder):
        made.launch["launches"][0]["kernel"] = f"made<{str(fixed).lower()}>"
        (folder / "made.cu").write_text(made.text)
        (folder / "made.launch.json").write_text(json.dumps(made.launch))
        done = subprocess.run([PROGRAM, "--check", "race,barrier,memory", "--launch",
                               "made.launch.json"], capture_output=True, text=True, timeout=120,
                              cwd=folder)
        report = done.stdout + done.stderr
        if "NVRTC" in report and "not installed" in report:
            self.skipTest(report)
        if "cooperative_groups.h" in report and "cannot open" in report:
            self.skipTest("the headers of the CUDA Toolkit are not installed")
        return done.returncode, re.sub(r"\n=* *", " ", report)

    def test_each_fault_is_found_and_its_twin_is_clean(self):
        with tempfile.TemporaryDirectory() as name:
            for make in KINDS:
                for seed in range(FIRST, FIRST + COUNT):
                    made = make(random.Random(f"{make.__name__} {seed}"))
                    with self.subTest(kind=make.__name__, seed=seed):
                        code, report = self.report(made, True, Path(name))
                        self.assertEqual(code, 0, made.text + report)
                        self.assertIn(": 0 findings", report, made.text)
                        code, report = self.report(made, False, Path(name))
                        self.assertEqual(code, 1, made.text + report)
                        self.assertRegex(report, r"Error: .*" + made.finding, made.text)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    if len(sys.argv) > 1:
        COUNT = int(sys.argv.pop(1))
    if len(sys.argv) > 1:
        FIRST = int(sys.argv.pop(1))
    unittest.main()
