#include <bit>
#include <cfloat>
#include <cmath>

#include "instructions/form.h"
#include "support/devices.h"

// The errors are those that the PTX ISA states under "Floating Point Instructions" for each
// instruction; where it states none, the result only has to be a number.
namespace warpscope::tests {
namespace {

class Approximations : public OnDevices {};
WARPSCOPE_ON_DEVICES(Approximations);

double flush(double x) {
    return std::abs(x) < FLT_MIN ? std::copysign(0.0, x) : x;
}

/// Distance between the floats around x.
double ulp(double x) {
    return std::ldexp(1.0, std::max(std::ilogb(x), -126) - 23);
}

auto ulps(double n) {
    return [n](double expected, double) { return expected == 0 ? 0 : n * ulp(expected); };
}
auto relative(double error) {
    return [error](double expected, double) {
        return std::max(std::abs(expected) * error, ulp(expected) / 2);
    };
}
/// What .ftz may make of a result next to the smallest normal number: itself or zero.
auto or_flushed(std::function<double(double, double)> tolerance) {
    return [=](double expected, double a) {
        return std::abs(expected) < FLT_MIN * (1 + 1e-6) ? std::abs(expected) + DBL_MIN
                                                         : tolerance(expected, a);
    };
}

/// 2^-20.5 within two turns, 2^-14.7 within a hundred half turns, and nothing stated beyond.
double trigonometric(double, double a) {
    if (std::abs(a) <= 2 * M_PI) return std::exp2(-20.5);
    if (std::abs(a) <= 100 * M_PI) return std::exp2(-14.7);
    return INFINITY;
}

/// 2^-22, absolute between 0.5 and 2, relative elsewhere.
double logarithmic(double expected, double a) {
    return std::exp2(-22) * (a > 0.5 && a < 2 ? 1 : std::abs(expected));
}

double sine(double a, double) {
    return std::sin(a);
}
double cosine(double a, double) {
    return std::cos(a);
}

TEST_P(Approximations, Trigonometry) {
    const auto flushed_sine = [](double a, double) { return std::sin(flush(a)); };
    const auto tangent = [](double a, double) { return std::tanh(a); };
    check(
        device(),
        {
            {"sin.approx.f32 %d, %a;", "f32", "T T", close_to(sine), trigonometric},
            {"cos.approx.f32 %d, %a;", "f32", "T T", close_to(cosine), trigonometric},
            {"sin.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(flushed_sine), trigonometric},
            {"cos.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(cosine), trigonometric},
            {"tanh.approx.f32 %d, %a;", "f32", "T T", close_to(tangent), relative(std::exp2(-11))},
        });
}

TEST_P(Approximations, PowersAndLogarithms) {
    const auto power = [](double a, double) { return std::exp2(a); };
    const auto logarithm = [](double a, double) { return std::log2(a); };
    const auto flushed_logarithm = [](double a, double) { return std::log2(flush(a)); };
    check(
        device(),
        {
            {"ex2.approx.f32 %d, %a;", "f32", "T T", close_to(power), relative(std::exp2(-22))},
            {"ex2.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(power),
             or_flushed(relative(std::exp2(-22)))},
            {"lg2.approx.f32 %d, %a;", "f32", "T T", close_to(logarithm), logarithmic},
            {"lg2.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(flushed_logarithm), logarithmic},
        });
}

TEST_P(Approximations, RootsAndReciprocals) {
    const auto root = [](double a, double) { return std::sqrt(a); };
    const auto flushed_root = [](double a, double) { return std::sqrt(flush(a)); };
    const auto inverse_root = [](double a, double) { return a == 0 ? 1 / a : 1 / std::sqrt(a); };
    const auto flushed_inverse_root = [=](double a, double b) { return inverse_root(flush(a), b); };
    const auto reciprocal = [](double a, double) { return 1 / a; };
    const auto flushed_reciprocal = [](double a, double) { return 1 / flush(a); };
    check(device(),
          {
              {"rcp.approx.f32 %d, %a;", "f32", "T T", close_to(reciprocal), ulps(1)},
              {"rcp.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(flushed_reciprocal),
               or_flushed(ulps(1))},
              {"sqrt.approx.f32 %d, %a;", "f32", "T T", close_to(root), relative(std::exp2(-23))},
              {"sqrt.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(flushed_root),
               relative(std::exp2(-23))},
              {"rsqrt.approx.f32 %d, %a;", "f32", "T T", close_to(inverse_root),
               relative(std::exp2(-22.4))},
              {"rsqrt.approx.ftz.f32 %d, %a;", "f32", "T T", close_to(flushed_inverse_root),
               relative(std::exp2(-22.4))},
          });
}

TEST_P(Approximations, Division) {
    const auto quotient = [](double a, double b) { return a / b; };
    const auto flushed_quotient = [](double a, double b) { return flush(a) / flush(b); };
    // div.approx is stated for divisors in [2^-126, 2^126] alone; these lie within 2^-63 and 1.
    const std::string in_range = "and.b32 %r0, %b, 0xbf7fffff; or.b32 %r0, %r0, 0x20000000; ";
    const auto near_one = [](double b) {
        const auto bits = std::bit_cast<std::uint32_t>(float(b));
        return std::bit_cast<float>((bits & 0xbf7fffff) | 0x20000000);
    };
    const auto quotient_near = [=](double a, double b) { return a / near_one(b); };
    const auto flushed_quotient_near = [=](double a, double b) { return flush(a) / near_one(b); };
    check(device(), {
                        {"div.full.f32 %d, %a, %b;", "f32", "T T T", close_to(quotient), ulps(2)},
                        {"div.full.ftz.f32 %d, %a, %b;", "f32", "T T T", close_to(flushed_quotient),
                         or_flushed(ulps(2))},
                        {in_range + "div.approx.f32 %d, %a, %r0;", "f32", "T T T",
                         close_to(quotient_near), ulps(2)},
                        {in_range + "div.approx.ftz.f32 %d, %a, %r0;", "f32", "T T T",
                         close_to(flushed_quotient_near), or_flushed(ulps(2))},
                    });
}

TEST_P(Approximations, SpecialValues) {
    const auto exactly = [](double, double) { return 0.0; };
    const auto value = [](double x) { return close_to([x](double, double) { return x; }); };
    check(device(),
          {
              {"rcp.approx.ftz.f32 %d, 0f80000000;", "f32", "T T", value(-INFINITY), exactly},
              {"rcp.approx.ftz.f32 %d, 0fFF800000;", "f32", "T T", value(-0.0), exactly},
              {"rsqrt.approx.ftz.f32 %d, 0f00000000;", "f32", "T T", value(INFINITY), exactly},
              {"rsqrt.approx.ftz.f32 %d, 0f7F800000;", "f32", "T T", value(0.0), exactly},
              {"sqrt.approx.ftz.f32 %d, 0f80000000;", "f32", "T T", value(-0.0), exactly},
              {"sin.approx.ftz.f32 %d, 0f80000000;", "f32", "T T", value(-0.0), exactly},
              {"cos.approx.ftz.f32 %d, 0f00000000;", "f32", "T T", value(1.0), exactly},
              {"ex2.approx.ftz.f32 %d, 0f00000000;", "f32", "T T", value(1.0), exactly},
              {"ex2.approx.ftz.f32 %d, 0fFF800000;", "f32", "T T", value(0.0), exactly},
              {"lg2.approx.ftz.f32 %d, 0f3F800000;", "f32", "T T", value(0.0), exactly},
              {"lg2.approx.ftz.f32 %d, 0f00000001;", "f32", "T T", value(-INFINITY), exactly},
          });
}

}  // namespace
}  // namespace warpscope::tests
