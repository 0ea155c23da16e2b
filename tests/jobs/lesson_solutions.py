"""A wrong and a right solution of each lesson, as edits of the source that it starts from."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LESSONS = ROOT / "lessons"
RIPPLE = ROOT / "kernels" / "ripple.cu"

TILED = """    __shared__ float left[16][16], right[16][16];
    for (int first = 0; first < 64; first += 16) {
        left[threadIdx.y][threadIdx.x] = a[y * 64 + first + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * 64 + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
"""
PLAIN = "    for (int k = 0; k < 64; ++k) sum += a[y * 64 + k] * b[k * 64 + x];\n"
STRIDED = """        if (2 * stride * t < 256) partial[2 * stride * t] += partial[2 * stride * t + stride];
"""
SPREAD = "        if (t % (2 * stride) == 0) partial[t] += partial[t + stride];\n"
NAMED = "// reads too early: thread ({}, {})\n"
BARRIER = "    __syncthreads();\n"
FENCE = "    __threadfence();\n"
WAIT = "    cudaDeviceSynchronize();\n"


def without(text, which):
    """The source without its barrier number `which`, from 0."""
    parts = text.split(BARRIER)
    return BARRIER.join(parts[:which + 1]) + BARRIER.join(parts[which + 1:])


# By lesson: what a source is made from, and edits that make a wrong and a right solution of it.
SOLUTIONS = {
    "break-the-ripple": (
        RIPPLE, lambda s: NAMED.format(3, 4) + s,
        lambda s: NAMED.format(3, 4) + s.replace("if (barrier) __syncthreads();", "")),
    "mend-the-ripple": (
        LESSONS / "mend_ripple.cu",
        lambda s: s.replace("    tile[threadIdx.x]", BARRIER + "    tile[threadIdx.x]"),
        lambda s: s.replace("    const float value", BARRIER + "    const float value")),
    "the-divergent-barrier": (
        LESSONS / "divergent.cu", lambda s: s.replace("            __syncthreads();\n", ""),
        lambda s: s.replace("            __syncthreads();\n", "")
                   .replace("        if (t < half) {", "        __syncthreads();\n        if (t < half) {")),
    "the-ladder-of-the-reduction": (
        LESSONS / "ladder.cu", lambda s: s.replace(SPREAD, STRIDED),
        lambda s: s.replace("int stride = 1; stride < 256; stride *= 2", "int half = 128; half > 0; half /= 2")
                   .replace(SPREAD, "        if (t < half) partial[t] += partial[t + half];\n")),
    "bank-conflicts": (
        LESSONS / "banks.cu", lambda s: s.replace("[32][32]", "[32][34]"),
        lambda s: s.replace("[32][32]", "[32][33]")),
    "tiles-and-sectors": (
        LESSONS / "tiles.cu", lambda s: s.replace(PLAIN, TILED.replace("        __syncthreads();\n    }", "    }")),
        lambda s: s.replace(PLAIN, TILED)),
    "two-barriers": (
        LESSONS / "two_barriers.cu",
        lambda s: s.replace("        __syncthreads();\n", "").replace(
            "- own;\n", "- own;\n        __syncthreads();\n"),
        lambda s: s.replace("- own;\n", "- own;\n        __syncthreads();\n")),
    "the-halo": (
        LESSONS / "halo.cu",
        lambda s: s.replace("    if (t == 1)", "    if (t == 64) tile[65] = 0;\n    if (t == 1)"),
        lambda s: s.replace("    if (t == 1)", "    if (t == 64) tile[65] = i + 1 < n ? in[i + 1] : 0;\n"
                                               "    if (t == 1)")),
    "syncwarp": (
        LESSONS / "syncwarp.cu",
        lambda s: s.replace("half /= 2) partial[t] += partial[t + half];",
                            "half /= 2) { partial[t] += partial[t + half]; __syncwarp(); }"),
        lambda s: s.replace("half /= 2) partial[t] += partial[t + half];",
                            "half /= 2) { if (t < half) partial[t] += partial[t + half]; __syncwarp(); }")),
    "a-barrier-too-many": (
        LESSONS / "too_many.cu", lambda s: without(without(s, 2), 0),
        lambda s: without(without(s, 3), 1)),
    "the-race-that-no-picture-shows": (
        LESSONS / "hidden.cu",
        lambda s: s.replace("t < 32 ? tile[t] : tile[t - 32]", "t < 32 ? in[i] : in[i - 32]"),
        lambda s: s.replace("    out[i] =", BARRIER + "    out[i] =")),
    "a-lock-with-its-fences": (
        LESSONS / "lock.cu", lambda s: s.replace("    if (in", FENCE + "    if (in"),
        lambda s: s.replace("    if (in", FENCE + "    if (in").replace("    atomicExch", FENCE + "    atomicExch")),
    "the-host-that-reads-too-early": (
        LESSONS / "early.cu", lambda s: s.replace("    const int expected", WAIT + "    const int expected"),
        lambda s: s.replace("    int sum", WAIT + "    int sum")),
}
