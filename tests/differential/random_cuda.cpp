#include "differential/random_cuda.h"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace warpscope::tests {
namespace {

using Texts = std::vector<std::string_view>;

// A grammar: $x in a text stands for one of the texts of x. Operands: $U $Q $F $D $H are variables
// of 32 and 64 bits, float, double and half, $u $q $f $d $h variables or constants.
const std::map<char, Texts> grammar{
    {'U', {"u0", "u1", "u2", "u3", "u4", "u5"}},
    {'Q', {"q0", "q1", "q2"}},
    {'F', {"f0", "f1", "f2"}},
    {'D', {"d0", "d1"}},
    {'H', {"h0", "h1", "h2"}},
    {'u', {"$U", "$U", "$U", "$U", "$n", "0x$x$xu", "~0u"}},
    {'q', {"$Q", "$Q", "$Q", "0x$x$x$x$xull", "1ull"}},
    {'f', {"$F", "$F", "$F", "$n.5f", "-0x1.$xp5f", "-0.0f", "1e-40f", "3e38f"}},
    {'d', {"$D", "$D", "$D", "$n.25", "-0x1.$x$xp-9", "1e-310", "1e300"}},
    {'h', {"$H", "$H", "$H", "(half_bits)0x3c0$k", "(half_bits)0x8000", "(half_bits)0x000$k"}},
    {'m', {"rn", "rz", "ru", "rd"}},
    {'w', {"8", "16", "32"}},
    {'c',
     {"$u < $u", "(int)$u < (int)$u", "($u & $k) == 0", "$f < $f", "$f != $f", "$q > $q",
      "$d >= $d", "__popc($u) > $n", "half_less($h, $h)", "(lane & $k) != 0", "lane < $n * 4"}},
    // Expressions of each type.
    {'1',
     {"$u + $u",
      "$u - $u",
      "$u * $u",
      "$u * $u + $u",
      "$u & $u",
      "$u | $u",
      "$u ^ $u",
      "($u & $u) | (~$U & $u)",
      "$u << ($u & 31)",
      "$u >> ($u & 31)",
      "(unsigned)((int)$u >> ($u & 31))",
      "min($u, $u)",
      "(unsigned)max((int)$u, (int)$u)",
      "__umulhi($u, $u)",
      "(unsigned)__mulhi((int)$u, (int)$u)",
      "__popc($u)",
      "__clz((int)$u)",
      "__ffs((int)$u)",
      "__brev($u)",
      "__byte_perm($u, $u, $u)",
      "__funnelshift_l($u, $u, $u)",
      "__funnelshift_rc($u, $u, $u)",
      "__sad((int)$u, (int)$u, $u)",
      "$u / ($u | 1u)",
      "$u % ($u | 1u)",
      "(unsigned)((int)$u / (int)($u >> 1 | 1u))",
      "(unsigned)__dp4a((int)$u, (int)$u, (int)$u)",
      "__vmaxu4($u, $u)",
      "__vadd2($u, $u)",
      "(unsigned)(signed char)$u",
      "(unsigned)(unsigned short)$u",
      "bits($f)",
      "(unsigned)$q",
      "(unsigned)($q >> 32)",
      "$c ? $u : $u",
      "(unsigned)__float2int_$m(number($f))",
      "__float2uint_$m(number($f))",
      "(unsigned)__double2int_$m(number($d))",
      "(unsigned)$h * 65537u",
      "pair_sum($u, $u)",
      "repeat($u, $u, $n)",
      "descend($u, $u, $n & 7)"}},
    {'2',
     {"$q + $q", "$q - $q", "$q * $q", "$q ^ $q", "$q << ($u & 63)", "$q >> ($u & 63)",
      "(unsigned long long)((long long)$q >> ($u & 63))", "$q / ($q | 1)", "__umul64hi($q, $q)",
      "(unsigned long long)__popcll($q)", "(unsigned long long)__clzll((long long)$q)",
      "(unsigned long long)$u * $u", "(unsigned long long)((long long)(int)$u * (int)$u)",
      "min($q, $q)", "(unsigned long long)max((long long)$q, (long long)$q)",
      "(unsigned long long)$u << 32 | $u", "bits($d)", "$c ? $q : $q"}},
    {'3',
     {"__fadd_$m($f, $f)",
      "__fsub_$m($f, $f)",
      "__fmul_$m($f, $f)",
      "__fmaf_$m($f, $f, $f)",
      "__fdiv_$m($f, $f)",
      "__fsqrt_$m(fabsf($f))",
      "__frcp_$m($f)",
      "fminf($f, $f)",
      "fmaxf($f, $f)",
      "truncf($f)",
      "floorf($f)",
      "ceilf($f)",
      "rintf($f)",
      "fabsf($f)",
      "-$F",
      "__saturatef($f)",
      "copysignf($f, number($f))",
      "__uint2float_$m($u)",
      "__int2float_$m((int)$u)",
      "__ull2float_$m($q)",
      "__double2float_$m($d)",
      "float_of($u)",
      "widened($h)",
      "$c ? $f : $f"}},
    {'4',
     {"__dadd_$m($d, $d)", "__dmul_$m($d, $d)", "__fma_$m($d, $d, $d)", "__ddiv_$m($d, $d)",
      "__dsqrt_$m(fabs($d))", "floor($d)", "rint($d)", "fmin($d, $d)", "(double)$f",
      "__uint2double_rn($u)", "__ll2double_$m((long long)$q)", "$c ? $d : $d"}},
    {'5',
     {"half_add($h, $h)", "half_mul($h, $h)", "half_fma($h, $h, $h)", "narrowed($f)",
      "half_negative($h)", "half_of($u)", "$c ? $h : $h"}},
    // A short statement, a statement, a block of them.
    {'s',
     {"$U = $1;", "$U = $1;", "$U = $1;", "$U = $1;", "$Q = $2;", "$F = $3;", "$F = $3;",
      "$D = $4;", "$H = $5;", "local[$u & 7] = $u; $U += local[$u & 7];", "$U += $1;"}},
    {'S',
     {"$s", "$s", "$s", "$s", "$s", "$s", "$s", "$s", "if ($c) { $B }",
      "if ($c) { $B } else { $B }",
      "_Pragma(\"unroll 1\") for (int i = 0; i < (int)($u & 7); ++i) { $B if ($c) break; $s }",
      "_Pragma(\"unroll 1\") for (int i = 0; i < ($n & 7); ++i) { $s if ($c) continue; $s }",
      "switch ($u & 3) { case 0: $s break; case 1: $B case 2: $s break; default: $s }",
      "{ int i = 0; while (($c) && ++i < 9) { $s $s } }"}},
    {'B', {"$S", "$S $S", "$S $S $S"}},
    // What all threads of a block do together.
    {'T',
     {"$U = __shfl_xor_sync(~0u, $U, $n);", "$U = __shfl_up_sync(~0u, $U, $n, $w);",
      "$U = __shfl_down_sync(~0u, $U, $n, $w);", "$U = __shfl_sync(~0u, $U, $u & 31);",
      "$U = __ballot_sync(~0u, $c);", "$U = __any_sync(~0u, $c) + 2 * __all_sync(~0u, $c);",
      "$U = __match_any_sync(~0u, $U & 3);", "$U = __syncthreads_count($c);",
      "$U += __syncthreads_or($c);",
      "tile[lane] = $u; __syncthreads(); $U = tile[(lane * 37 + $n) & 127]; __syncthreads();",
      "tile[lane] = $u; __syncthreads(); $U ^= tile[lane ^ $n]; __syncthreads();",
      "if (lane < 8) sums[lane] = $n; __syncthreads(); $A(&sums[$u & 7], $u); __syncthreads(); "
      "$U ^= sums[$u & 7]; __syncthreads();",
      // Threads wait at one barrier in different places.
      "tile[lane] = $U; if ($c) { $B wait(); $s } else { $B wait(); } $U ^= tile[lane ^ $k]; "
      "__syncthreads();",
      "tile[lane] = $U; for (unsigned i = 0; i < 1 + ($n & 3); ++i) { if ($c) { $s } wait(); } "
      "$U += tile[127 - lane]; __syncthreads();",
      "if ($c) { $B } __syncwarp();",
      // A barrier of two warps of four.
      "tile[lane] = $U; if (lane < 64) { wait_for_64(); $U -= tile[lane ^ 32]; } __syncthreads();",
      "$A(&totals[$u & 15], $u);", "if ($c) { $A(&totals[$n & 15], $u); $s }",
      "$G(&totals[16 + ($u & 7)], $u);",
      "atomicAdd((unsigned long long*)&totals[32 + ($u & 6)], $q);"}},
    // What depends on the order of threads.
    {'O',
     {"tile[lane] = $u; $U = tile[lane ^ $n]; __syncthreads();",
      "tile[lane ^ 96] = $u; if ($c) { $s } $U += tile[lane]; __syncthreads();",
      "$U = $A(&totals[$u & 15], $u);", "if ($c) { $U ^= atomicExch(&totals[$n & 15], $u); $s }",
      "$U += atomicCAS(&totals[$u & 15], $u, $u);", "$U = atomicInc(&sums[$u & 7], 5u);",
      "if ($c) { $s __syncthreads(); $s }", "if (($c) && lane > 100) return;"}},
    {'A', {"atomicAdd"}},
    {'G', {"atomicMax"}},
};

constexpr std::string_view functions = R"(
typedef unsigned short half_bits;
__device__ unsigned bits(float f) { return isnan(f) ? 0x7fc00000u : __float_as_uint(f); }
__device__ unsigned long long bits(double d) {
    return isnan(d) ? 0x7ff8000000000000ull : (unsigned long long)__double_as_longlong(d);
}
__device__ float number(float f) { return isnan(f) ? 0.0f : f; }
__device__ double number(double d) { return isnan(d) ? 0.0 : d; }
__device__ float float_of(unsigned u) {
    const float f = __uint_as_float(u);
    return isnan(f) ? 1.5f : f;
}
__device__ half_bits half_of(unsigned u) { return (u & 0x7c00) == 0x7c00 ? u & 0xbfff : u; }
__device__ half_bits canonical(half_bits h) { return (h & 0x7fff) > 0x7c00 ? 0x7fff : h; }
__device__ half_bits half_add(half_bits a, half_bits b) {
    half_bits r;
    asm("add.rn.f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return canonical(r);
}
__device__ half_bits half_mul(half_bits a, half_bits b) {
    half_bits r;
    asm("mul.rn.f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return canonical(r);
}
__device__ half_bits half_fma(half_bits a, half_bits b, half_bits c) {
    half_bits r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a), "h"(b), "h"(c));
    return canonical(r);
}
__device__ half_bits half_negative(half_bits a) { return canonical(a ^ 0x8000); }
__device__ bool half_less(half_bits a, half_bits b) {
    unsigned r;
    asm("{ .reg .pred p; setp.lt.f16 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "h"(a), "h"(b));
    return r;
}
__device__ float widened(half_bits h) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}
__device__ half_bits narrowed(float f) {
    half_bits r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(f));
    return canonical(r);
}
__device__ unsigned pair_sum(unsigned a, unsigned b) {
    unsigned r;
    a = half_of(a) | (unsigned)half_of(a >> 16) << 16;
    b = half_of(b) | (unsigned)half_of(b >> 16) << 16;
    asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(r) : "r"(a), "r"(b));
    return canonical(r) | (unsigned)canonical(r >> 16) << 16;
}
__device__ __noinline__ unsigned repeat(unsigned a, unsigned b, int n) {
    for (int i = 0; i < n; ++i) a = a & 1 ? a * 3 + b : a >> 1;
    return a ^ b;
}
__device__ __noinline__ unsigned descend(unsigned a, unsigned b, int n) {
    return n <= 0 ? a + b : descend(b, a * 5 + n, n - 1 - (a & 1));
}
__device__ unsigned mix(unsigned h, unsigned v) {
    h ^= v + 0x9e3779b9u + (h << 6) + (h >> 2);
    return h * 0x85ebca6bu ^ h >> 13;
}
__device__ unsigned mix(unsigned h, unsigned long long v) {
    return mix(mix(h, (unsigned)v), (unsigned)(v >> 32));
}
// Threads of one warp may wait at it in different places.
__device__ void wait() { asm volatile("barrier.sync 0;" ::: "memory"); }
__device__ void wait_for_64() { asm volatile("barrier.sync 1, 64;" ::: "memory"); }
)";

constexpr std::string_view begin = R"(
extern "C" __global__ void random_kernel(unsigned* pixels, unsigned* totals) {
    __shared__ unsigned tile[128], sums[8];
    const unsigned lane = threadIdx.x, x = blockIdx.x * 128 + lane;
    unsigned u0 = x * 2654435761u, u1 = mix(u0, x), u2 = mix(u1, lane), u3 = lane, u4 = ~x, u5 = 7;
    unsigned long long q0 = (unsigned long long)u1 << 32 | u2, q1 = u4, q2 = ~q0;
    float f0 = float_of(u1), f1 = __uint2float_rn(x), f2 = __fdiv_rn(f1, 7.0f);
    double d0 = f1, d1 = __ddiv_rn(1.0, d0 + 1.0);
    half_bits h0 = half_of(u2), h1 = narrowed(f2), h2 = 0x3c00;
    unsigned local[8] = {u0, u1, u2, u3, u4, u5, 7, 8};
    tile[lane] = 0;
    if (lane < 8) sums[lane] = 0;
    __syncthreads();
)";

constexpr std::string_view end = R"(
    unsigned h = mix(mix(mix(mix(mix(mix(1u, u0), u1), u2), u3), u4), u5);
    h = mix(mix(mix(h, q0), q1), q2);
    h = mix(mix(mix(h, bits(f0)), bits(f1)), bits(f2));
    h = mix(mix(h, bits(d0)), bits(d1));
    h = mix(mix(mix(h, (unsigned)h0), (unsigned)h1), (unsigned)h2);
    for (int i = 0; i < 8; ++i) h = mix(h, local[i]);
    pixels[x] = h;
}
)";

class CudaWriter {
  public:
    explicit CudaWriter(std::uint64_t seed) : random_(seed) {}

    std::string kernel(bool depends_on_order) {
        std::string text(functions);
        text += begin;
        const unsigned parts = 2 + unsigned(random_() % 4);
        for (unsigned part = 0; part < parts; ++part) {
            for (unsigned k = 0; k < 4; ++k) text += line("$S");
            text += line(depends_on_order && random_() % 2 ? "$O" : "$T");
        }
        return text + line("$T") + std::string(end);
    }

  private:
    static constexpr unsigned deepest = 2;  ///< of nested blocks

    std::string line(std::string_view text) { return "    " + expand(text, 0) + "\n"; }

    std::string expand(std::string_view text, unsigned depth) {
        std::string out;
        for (std::size_t at = 0; at < text.size(); ++at)
            if (text[at] == '$')
                out += choice(text[++at], depth);
            else
                out += text[at];
        return out;
    }

    std::string choice(char rule, unsigned depth) {
        if (rule == 'n') return std::to_string(random_() % 32);
        if (rule == 'k') return std::to_string(1u << random_() % 3);
        if (rule == 'x') return fmt::format("{:04x}", random_() & 0xFFFF);
        if (rule == 'c' && depth > deepest + 2) return "$u < $u";
        if (rule == 'B' && ++depth > deepest) rule = 's';
        const Texts& texts = grammar.at(rule);
        return expand(texts[random_() % texts.size()], depth);
    }

    std::mt19937_64 random_;
};

}  // namespace

std::string random_cuda(std::uint64_t seed, bool depends_on_order) {
    return CudaWriter(seed).kernel(depends_on_order);
}

}  // namespace warpscope::tests
