#include "emulator/handlers/soft_float.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "emulator/ptx_fixture.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {
namespace {

using soft::Mode;

// The CPU's results, in its own mode. Volatile, because a compiler takes the mode to be the usual
// one.
template <class F>
F computed_by_the_cpu(Operation operation, F x, F y, F z, int rounding, bool flushes) {
    volatile F a = x, b = y, c = z, result = 0;
    const FloatMode mode(flushes, rounding);
    switch (operation) {
        case Operation::fadd:
            result = a + b;
            break;
        case Operation::fsub:
            result = a - b;
            break;
        case Operation::fmul:
            result = a * b;
            break;
        case Operation::fma:
            result = std::fma(a, b, c);
            break;
        case Operation::fdiv:
            result = a / b;
            break;
        case Operation::frcp:
            result = F(1) / a;
            break;
        default:
            result = std::sqrt(a);
    }
    return result;
}

template <class F>
using BitsOf = std::conditional_t<sizeof(F) == 8, std::uint64_t, std::uint32_t>;

/// Numbers at which results are ties, overflow, underflow, cancel, or are not numbers.
template <class F>
std::vector<F> boundary_numbers() {
    using Limits = std::numeric_limits<F>;
    const F least = Limits::denorm_min(), normal = Limits::min(), most = Limits::max(),
            step = Limits::epsilon();
    std::vector<F> numbers;
    for (const F x : {F(0),
                      least,
                      3 * least,
                      normal - least,
                      normal,
                      normal + least,
                      2 * normal,
                      normal / 2,
                      normal * (1 - step),
                      F(0.5),
                      1 - step / 2,
                      F(1),
                      1 + step,
                      F(1.5),
                      F(2),
                      F(3),
                      F(7),
                      1 / step,
                      1 / step + 1,
                      most,
                      most / 2,
                      most * (1 - step),
                      std::sqrt(normal),
                      std::sqrt(most),
                      Limits::infinity(),
                      Limits::quiet_NaN()})
        for (const F sign : {F(1), F(-1)}) numbers.push_back(sign * x);
    return numbers;
}

/// Any bits; or an exponent near 0, where sums and products lose digits; or near the subnormals.
template <class F>
F random_number(std::mt19937_64& random) {
    using Bits = BitsOf<F>;
    constexpr int digits = std::numeric_limits<F>::digits - 1;
    const auto bits = Bits(random());
    const Bits fraction = bits & ((Bits(1) << digits) - 1),
               sign = bits & (Bits(1) << (8 * sizeof(F) - 1));
    constexpr Bits one = std::bit_cast<Bits>(F(1)) >> digits;
    switch (random() % 4) {
        case 0:
            return std::bit_cast<F>(bits);
        case 1:
            return std::bit_cast<F>(Bits(sign | (one - 2 + random() % 5) << digits | fraction));
        case 2:
            return std::bit_cast<F>(
                Bits(sign | random() % 3 << digits | (fraction >> random() % digits)));
        default:
            // Few digits, so that ties are frequent.
            return std::bit_cast<F>(Bits(sign | (one / 2 + random() % one) << digits |
                                         (fraction & ~((Bits(1) << (digits - 3)) - 1))));
    }
}

template <class F>
void expect_the_cpus_bits(Operation operation, F a, F b, F c, unsigned& wrong) {
    constexpr std::pair<Rounding, int> roundings[] = {{Rounding::nearest, FE_TONEAREST},
                                                      {Rounding::zero, FE_TOWARDZERO},
                                                      {Rounding::down, FE_DOWNWARD},
                                                      {Rounding::up, FE_UPWARD}};
    for (const auto& [rounding, of_host] : roundings)
        for (const bool flushes : {false, true}) {
            if (flushes && sizeof(F) == 8) continue;
            const F got = soft::computed(operation, a, b, c, {rounding, flushes});
            const F expected = computed_by_the_cpu(operation, a, b, c, of_host, flushes);
            if (std::isnan(got) && std::isnan(expected)) continue;
            if (std::bit_cast<BitsOf<F>>(got) == std::bit_cast<BitsOf<F>>(expected)) continue;
            if (++wrong < 10)
                ADD_FAILURE() << fmt::format("{} of {:a}, {:a}, {:a}, {}{}: {:a} instead of {:a}",
                                             int(operation), a, b, c, int(rounding),
                                             flushes ? " flushed" : "", got, expected);
        }
}

constexpr Operation operations[] = {Operation::fadd, Operation::fsub, Operation::fmul,
                                    Operation::fma,  Operation::fdiv, Operation::frcp,
                                    Operation::fsqrt};

template <class F>
void expect_the_cpus_bits_of_all() {
    const std::vector<F> numbers = boundary_numbers<F>();
    std::mt19937_64 random(59);
    unsigned wrong = 0;
    for (const Operation operation : operations) {
        for (const F a : numbers)
            for (const F b : numbers)
                for (unsigned k = 0; k < (operation == Operation::fma ? 6 : 1); ++k)
                    expect_the_cpus_bits(operation, a, b, numbers[random() % numbers.size()],
                                         wrong);
        for (unsigned k = 0; k < 20000; ++k)
            expect_the_cpus_bits(operation, random_number<F>(random), random_number<F>(random),
                                 random_number<F>(random), wrong);
    }
    EXPECT_EQ(wrong, 0u);
}

TEST(SoftFloat, FloatsHaveTheBitsOfTheCpu) {
    expect_the_cpus_bits_of_all<float>();
}
TEST(SoftFloat, DoublesHaveTheBitsOfTheCpu) {
    expect_the_cpus_bits_of_all<double>();
}

TEST(SoftFloat, ProductsThatRoundToTheSmallestNormalNumberAreFlushed) {
    // (1 - 2^-24) * 2^-126 has 24 digits, so it is below the normal numbers; with 23 it rounds to
    // one.
    const float a = 1 - 0x1p-24f, b = 0x1p-126f;
    EXPECT_EQ(soft::computed(Operation::fmul, a, b, 0.0f, {}), 0x1p-126f);
    EXPECT_EQ(soft::computed(Operation::fmul, a, b, 0.0f, {.flushes = true}), 0.0f);
    EXPECT_EQ(soft::narrowed(double(a) * double(b), {.flushes = true}), 0.0f);
}

TEST(SoftFloat, DoublesBecomeFloatsAsOnTheCpu) {
    std::mt19937_64 random(60);
    for (unsigned k = 0; k < 100000; ++k) {
        const double a = k % 2 ? random_number<double>(random)
                               : double(random_number<float>(random)) *
                                     (1 + std::ldexp(double(random() % 16), -27));
        for (const bool flushes : {false, true}) {
            volatile double from = a;
            volatile float expected = 0;
            {
                const FloatMode mode(flushes);
                expected = float(from);
            }
            const float got = soft::narrowed(a, {.flushes = flushes});
            if (std::isnan(got) && std::isnan(expected)) continue;
            ASSERT_EQ(std::bit_cast<std::uint32_t>(got),
                      std::bit_cast<std::uint32_t>(float(expected)))
                << fmt::format("{:a}", a);
        }
    }
}

/// out[tid] = the instruction of the boundary numbers and a random one, in kernels that flush
/// elsewhere, too.
std::vector<std::uint32_t> run(const std::string& instruction,
                               const std::vector<std::uint32_t>& inputs, bool guarded) {
    const std::string setp = guarded ? "and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0;" : "";
    Runner r(kernel_text(
        "mov.u32 %r3, %ctaid.x; mad.lo.s32 %r3, %r3, 256, %r1; mul.wide.u32 %rd1, %r3, 12;"
        "add.s64 %rd1, %rd0, %rd1; ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];"
        "ld.global.f32 %f3, [%rd1+8];" +
        setp + (guarded ? "@%p1 " : "") + instruction +
        " st.global.f32 [%rd1], %f1; st.global.f32 [%rd1+4], %f2; st.global.f32 [%rd1+8], %f3;"));
    auto* data = static_cast<std::uint32_t*>(r.machine.memory().allocate(inputs.size() * 4));
    std::copy(inputs.begin(), inputs.end(), data);
    const std::uint32_t n = 0;
    const void* arguments[] = {&data, &n};
    r.machine.run(*r.module->find("k"),
                  {{std::uint32_t(inputs.size() / 768), 1, 1}, {256, 1, 1}, 0}, arguments);
    return {data, data + inputs.size()};
}

TEST(SoftFloat, SelectionsFlushOnlyWithFtz) {
    // %f1 is negative and subnormal.
    std::vector<std::uint32_t> inputs(768, 0x80000200);
    EXPECT_EQ(run("slct.f32.f32 %f2, 0f3F800000, 0f40000000, %f1;", inputs, false)[1], 0x40000000u);
    EXPECT_EQ(run("slct.ftz.f32.f32 %f2, 0f3F800000, 0f40000000, %f1;", inputs, false)[1],
              0x3F800000u);
    EXPECT_EQ(run("add.ftz.f32 %f2, %f1, %f1; slct.f32.f32 %f2, 0f3F800000, 0f40000000, %f1;",
                  inputs, false)[1],
              0x40000000u);
}

/// How an instruction is written, and which of its results a build has wrong.
struct FloatForm {
    Operation operation;
    std::string text;
    unsigned to, first = 0, second = 1;  // places of the result and of two sources

    unsigned wrong_results(const std::vector<std::uint32_t>& inputs, const char* rounding,
                           int of_host, bool flushes, bool guarded) const {
        const std::string form = fmt::format("{}{}.f32", rounding, flushes ? ".ftz" : "");
        const auto out = run(fmt::format(fmt::runtime(text), form), inputs, guarded);
        unsigned wrong = 0;
        for (std::size_t k = 0; k < inputs.size(); k += 3) {
            float expected[3];
            std::memcpy(expected, &inputs[k], sizeof(expected));
            if (!guarded || k / 3 % 2 == 0)
                expected[to] = computed_by_the_cpu(operation, expected[first], expected[second],
                                                   expected[2], of_host, flushes);
            for (unsigned o = 0; o < 3; ++o)
                wrong += out[k + o] != std::bit_cast<std::uint32_t>(expected[o]) &&
                         !(std::isnan(expected[o]) && std::isnan(std::bit_cast<float>(out[k + o])));
        }
        return wrong;
    }
};

/// Sources of three words: each pair of boundary numbers, and random numbers.
std::vector<std::uint32_t> sources_of_floats() {
    std::mt19937_64 random(61);
    std::vector<std::uint32_t> words;
    const auto numbers = boundary_numbers<float>();
    for (const float a : numbers)
        for (const float b : numbers)
            for (const float c : {a, b, numbers[random() % numbers.size()]})
                words.push_back(std::bit_cast<std::uint32_t>(c));
    while (words.size() < 32 * 768)
        words.push_back(std::bit_cast<std::uint32_t>(random_number<float>(random)));
    return words;
}

/// Whether the CPU or software rounds and flushes: results have the bits of the CPU, and sources
/// keep their subnormals.
TEST(SoftFloat, InstructionsHaveTheBitsOfTheCpu) {
    const FloatForm forms[] = {{Operation::fadd, "add.{} %f1, %f1, %f2;", 0},
                               {Operation::fsub, "sub.{} %f3, %f1, %f2;", 2},
                               {Operation::fmul, "mul.{} %f1, %f2, %f1;", 0, 1, 0},
                               {Operation::fma, "fma.{} %f3, %f1, %f2, %f3;", 2},
                               {Operation::fma, "fma.{} %f1, %f1, %f2, %f3;", 0},
                               {Operation::fdiv, "div.{} %f2, %f1, %f2;", 1},
                               {Operation::frcp, "rcp.{} %f1, %f1;", 0},
                               {Operation::fsqrt, "sqrt.{} %f2, %f1;", 1}};
    constexpr std::pair<const char*, int> roundings[] = {
        {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    const auto inputs = sources_of_floats();
    // SSE4 has no fused multiply-add.
    for (const std::int64_t target : {std::int64_t(0), std::int64_t(HWY_SSE4)}) {
        hwy::SetSupportedTargetsForTest(target);
        for (const FloatForm& form : forms)
            for (const auto& [rounding, of_host] : roundings)
                for (const bool flushes : {false, true})
                    for (const bool guarded : {false, true})
                        EXPECT_EQ(form.wrong_results(inputs, rounding, of_host, flushes, guarded),
                                  0u)
                            << form.text << " " << rounding << (flushes ? " .ftz" : "")
                            << (guarded ? " guarded" : "") << " on " << target;
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace warpscope::emulator
