#include <fmt/format.h>

#include <bit>
#include <cfloat>
#include <cmath>

#include "instructions/form.h"
#include "instructions/rounding.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class FloatInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(FloatInstructions);

double sum(double a, double b, double) {
    return a + b;
}
double difference(double a, double b, double) {
    return a - b;
}
double product(double a, double b, double) {
    return a * b;
}
double quotient(double a, double b, double) {
    return a / b;
}
double reciprocal(double a, double, double) {
    return 1 / a;
}
double root(double a, double, double) {
    return std::sqrt(a);
}
/// std::fma of floats rounds once; a computation in double would round twice.
double fused32(double a, double b, double c) {
    return std::fma(float(a), float(b), float(c));
}
double fused64(double a, double b, double c) {
    return std::fma(a, b, c);
}

/// PTX ISA, "Floating Point Instructions", .sat: into [0, 1], NaN to +0.
template <class F>
auto saturated(F f) {
    return [f](double a, double b, double c) {
        const double x = f(a, b, c);
        return x > 0 ? std::min(x, 1.0) : 0.0;
    };
}

TEST_P(FloatInstructions, RoundToNearest) {
    check(device(), {
                        {"add.rn.T %d, %a, %b;", "f32 f64", "T T T", reals(sum)},
                        {"sub.rn.T %d, %a, %b;", "f32 f64", "T T T", reals(difference)},
                        {"mul.rn.T %d, %a, %b;", "f32 f64", "T T T", reals(product)},
                        {"add.T %d, %a, %b;", "f32 f64", "T T T", reals(sum)},
                        {"sub.T %d, %a, %b;", "f32 f64", "T T T", reals(difference)},
                        {"mul.T %d, %a, %b;", "f32 f64", "T T T", reals(product)},
                        {"fma.rn.f32 %d, %a, %b, %c;", "f32", "T T T T", reals(fused32)},
                        {"fma.rn.f64 %d, %a, %b, %c;", "f64", "T T T T", reals(fused64)},
                        {"mad.rn.f32 %d, %a, %b, %c;", "f32", "T T T T", reals(fused32)},
                        {"mad.rn.f64 %d, %a, %b, %c;", "f64", "T T T T", reals(fused64)},
                    });
}

TEST_P(FloatInstructions, DivisionAndRootsRoundToNearest) {
    check(device(), {
                        {"div.rn.T %d, %a, %b;", "f32 f64", "T T T", reals(quotient)},
                        {"rcp.rn.T %d, %a;", "f32 f64", "T T", reals(reciprocal)},
                        {"sqrt.rn.T %d, %a;", "f32 f64", "T T", reals(root)},
                    });
}

TEST_P(FloatInstructions, WithImmediates) {
    check(device(), {
                        {"add.f32 %d, %a, 0f3F800000;", "f32", "T T",
                         reals([](double a, auto...) { return a + 1; })},
                        {"sub.f32 %d, 0f40000000, %a;", "f32", "T T",
                         reals([](double a, auto...) { return 2 - a; })},
                        {"mul.f32 %d, %a, 0fC2FE0000;", "f32", "T T",
                         reals([](double a, auto...) { return a * -127; })},
                        {"mul.f64 %d, %a, 0d3FF921FB54442D18;", "f64", "T T",
                         reals([](double a, auto...) { return a * M_PI_2; })},
                        {"fma.rn.f32 %d, %a, 0f3F000000, 0fBF800000;", "f32", "T T",
                         reals([](double a, auto...) { return fused32(a, 0.5, -1); })},
                        {"div.rn.f32 %d, %a, 0f40400000;", "f32", "T T",
                         reals([](double a, auto...) { return a / 3; })},
                    });
}

TEST_P(FloatInstructions, FtzFlushesSubnormals) {
    check(device(), {
                        {"add.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(sum)},
                        {"sub.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(difference)},
                        {"mul.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(product)},
                        {"add.rn.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(sum)},
                        {"mul.rn.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(product)},
                        {"fma.rn.ftz.f32 %d, %a, %b, %c;", "f32", "T T T T", flushed(fused32)},
                        {"div.rn.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(quotient)},
                        {"rcp.rn.ftz.f32 %d, %a;", "f32", "T T", flushed(reciprocal)},
                        {"sqrt.rn.ftz.f32 %d, %a;", "f32", "T T", flushed(root)},
                    });
}

TEST_P(FloatInstructions, FlushingAndKeepingSubnormalsInOneKernel) {
    check(device(),
          {
              {"add.ftz.f32 %r0, %a, %b; add.f32 %d, %a, %b;", "f32", "T T T", reals(sum)},
              {"add.f32 %r0, %a, %b; add.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(sum)},
              {"rsqrt.approx.ftz.f32 %r0, %a; add.f32 %d, %a, %b;", "f32", "T T T", reals(sum)},
              {"mul.ftz.f32 %r0, %a, %b; mul.f64 %d, %c, 0d3FE0000000000000;", "f64",
               "f64 f32 f32 f64", reals([](double, double, double c) { return c / 2; })},
          });
}

TEST_P(FloatInstructions, SatClampsToZeroAndOne) {
    check(device(),
          {
              {"add.sat.f32 %d, %a, %b;", "f32", "T T T", reals(saturated(sum))},
              {"sub.sat.f32 %d, %a, %b;", "f32", "T T T", reals(saturated(difference))},
              {"mul.sat.f32 %d, %a, %b;", "f32", "T T T", reals(saturated(product))},
              {"fma.rn.sat.f32 %d, %a, %b, %c;", "f32", "T T T T", reals(saturated(fused32))},
              {"add.ftz.sat.f32 %d, %a, %b;", "f32", "T T T", flushed(saturated(sum))},
          });
}

TEST_P(FloatInstructions, SignsAndExtremes) {
    // fmin and fmax may return either zero; PTX orders -0 below +0.
    const auto least = [](double a, double b, double) {
        return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
    };
    const auto most = [](double a, double b, double) {
        return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
    };
    check(device(),
          {
              {"neg.T %d, %a;", "f32 f64", "T T", reals([](double a, auto...) { return -a; })},
              {"abs.T %d, %a;", "f32 f64", "T T",
               reals([](double a, auto...) { return std::abs(a); })},
              {"neg.ftz.f32 %d, %a;", "f32", "T T", flushed([](double a, auto...) { return -a; })},
              {"abs.ftz.f32 %d, %a;", "f32", "T T",
               flushed([](double a, auto...) { return std::abs(a); })},
              {"min.T %d, %a, %b;", "f32 f64", "T T T", reals(least)},
              {"max.T %d, %a, %b;", "f32 f64", "T T T", reals(most)},
              {"min.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(least)},
              {"max.ftz.f32 %d, %a, %b;", "f32", "T T T", flushed(most)},
              {"copysign.f32 %d, %a, %b;", "f32", "T T T",
               bits([](auto a, auto b, auto) { return (b & 0x7fffffff) | (a & 0x80000000); })},
          });
}

template <class T, class F>
auto directed(const std::string& rounding, F f) {
    return bits([=](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        const auto value = [](std::uint64_t x) { return std::bit_cast<T>(Word(x)); };
        return std::uint64_t(std::bit_cast<Word>(f(rounding, value(a), value(b), value(c))));
    });
}

template <class T>
std::vector<Form> directed_forms(const std::string& type) {
    std::vector<Form> table;
    for (const std::string rounding : {"rz", "rm", "rp"}) {
        const auto named = [&](const char* opcode, const char* operands) {
            return fmt::format("{}.{}.{} {};", opcode, rounding, type, operands);
        };
        const auto row = [&](std::string ptx, std::string signature, auto f) {
            table.push_back({ptx, type, signature, directed<T>(rounding, f)});
        };
        row(named("add", "%d, %a, %b"), "T T T", directed_add<T>);
        row(named("sub", "%d, %a, %b"), "T T T", directed_subtract<T>);
        row(named("mul", "%d, %a, %b"), "T T T", directed_multiply<T>);
        row(named("fma", "%d, %a, %b, %c"), "T T T T", directed_fma<T>);
        row(named("div", "%d, %a, %b"), "T T T",
            [](auto way, T a, T b, T) { return directed_quotient(way, a, b); });
        row(named("rcp", "%d, %a"), "T T",
            [](auto way, T a, T, T) { return directed_quotient(way, T(1), a); });
        row(named("sqrt", "%d, %a"), "T T",
            [](auto way, T a, T, T) { return directed_root(way, a); });
    }
    return table;
}

TEST_P(FloatInstructions, DirectedRounding) {
    check(device(), directed_forms<float>("f32"));
}

TEST_P(FloatInstructions, DirectedRoundingOfDoubles) {
    check(device(), directed_forms<double>("f64"));
}

using Directed = float (*)(std::string_view rounding, float, float, float);

/// The reference of one number, of both numbers in a register. NaNs may have any bits.
auto of_pair(const std::string& rounding, bool flushes, Directed f) {
    const auto half = [=](std::uint64_t bits, unsigned upper) {
        const float x = std::bit_cast<float>(std::uint32_t(bits >> 32 * upper));
        return flushes && std::abs(x) < FLT_MIN ? std::copysign(0.0f, x) : x;
    };
    return bits([=](auto a, auto b, auto c) -> std::optional<std::uint64_t> {
        std::uint64_t both = 0;
        for (unsigned upper = 0; upper < 2; ++upper) {
            const float rounded = f(rounding, half(a, upper), half(b, upper), half(c, upper));
            const float result = half(std::bit_cast<std::uint32_t>(rounded), 0);
            if (std::isnan(result) || (flushes && std::abs(result) == FLT_MIN)) return std::nullopt;
            both |= std::uint64_t(std::bit_cast<std::uint32_t>(result)) << 32 * upper;
        }
        return both;
    });
}

/// PTX ISA, "add", "sub", "mul" and "fma": .f32x2 of sm_100 has what .f32 has, in both halves.
TEST_P(FloatInstructions, Pairs) {
    if (!executes(device(), 100)) GTEST_SKIP() << "the GPU is older than sm_100";
    std::vector<Form> table;
    for (const std::string rounding : {"rn", "rz", "rm", "rp"})
        for (const bool flushes : {false, true}) {
            const auto row = [&](const char* opcode, const char* operands, const char* signature,
                                 Directed f) {
                table.push_back({fmt::format("{}.{}{}.f32x2 {};", opcode, rounding,
                                             flushes ? ".ftz" : "", operands),
                                 "u64", signature, of_pair(rounding, flushes, f)});
            };
            row("add", "%d, %a, %b", "T T T", directed_add<float>);
            row("sub", "%d, %a, %b", "T T T", directed_subtract<float>);
            row("mul", "%d, %a, %b", "T T T", directed_multiply<float>);
            row("fma", "%d, %a, %b, %c", "T T T T", directed_fma<float>);
        }
    check(device(), table, "sm_100");
}

}  // namespace
}  // namespace warpscope::tests
