#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "emulator/ptx_fixture.h"
#include "support/long_tests.h"

namespace warpscope::emulator {
namespace {

// Handlers are compiled for several CPU targets. Decoding a module chooses the target.
template <typename F>
void for_each_simd_target(F f) {
    const std::int64_t supported = hwy::SupportedTargets();
    for (std::int64_t bit = 1; bit > 0 && bit < std::int64_t{1} << 62; bit <<= 1) {
        if (!(supported & bit)) continue;
        SCOPED_TRACE(hwy::TargetName(bit));
        hwy::SetSupportedTargetsForTest(bit);
        f();
        hwy::SetSupportedTargetsForTest(0);
    }
}

// out[tid] = (operation on x, y, z), where x and y take awkward values by tid and n.
std::vector<std::uint32_t> values_of(const std::string& body) {
    Runner r(kernel_text(R"(
mul.lo.s32 %r10, %r1, -1640531527; xor.b32 %r11, %r10, %r0; mul.lo.s32 %r12, %r11, 747796405;
mov.b32 %f10, %r10; mov.b32 %f11, %r11; cvt.rn.f32.s32 %f12, %r10; cvt.rn.f32.u32 %f13, %r12;
setp.gt.s32 %p9, %r12, 0;
)" + body + "\nst.global.u32 [%rd1], %r9;"));
    return r.run(one_block(256), 0x2545F491);
}

TEST(SimdTarget, AllTargetsGiveEqualBits) {
    const char* const bodies[] = {
        "add.f32 %f1,%f10,%f11; mov.b32 %r9,%f1;",
        "mul.f32 %f1,%f12,%f13; mov.b32 %r9,%f1;",
        "fma.rn.f32 %f1,%f12,%f13,%f12; mov.b32 %r9,%f1;",
        "div.rn.f32 %f1,%f12,%f13; mov.b32 %r9,%f1;",
        "min.f32 %f1,%f12,%f13; mov.b32 %r9,%f1;",
        "max.f32 %f1,%f12,0f00000000; mov.b32 %r9,%f1;",
        "sqrt.rn.f32 %f1,%f13; rcp.rn.f32 %f1,%f1; mov.b32 %r9,%f1;",
        "mul.hi.u32 %r9,%r11,%r12;",
        "mul.wide.s32 %rd2,%r11,%r12; shr.u64 %rd2,%rd2,13; cvt.u32.u64 %r9,%rd2;",
        "mul.wide.u32 %rd2,%r11,%r12; shl.b64 %rd2,%rd2,3; shr.u64 %rd2,%rd2,35; cvt.u32.u64 "
        "%r9,%rd2;",
        "shr.s32 %r9,%r11,%r1;",
        "shr.u32 %r9,%r11,%r1;",
        "shl.b32 %r9,%r11,%r1;",
        "shl.b32 %r9,%r11,7;",
        "cvt.rzi.s32.f32 %r9,%f11;",
        "cvt.rzi.u32.f32 %r9,%f10;",
        "cvt.rni.s32.f32 %r9,%f11;",
        "selp.b32 %r9,%r11,%r12,%p9;",
        "setp.ltu.f32 %p1,%f10,%f11; selp.b32 %r9,1,%r10,%p1;",
        "setp.ge.u32 %p1,%r10,%r11; selp.b32 %r9,%r0,3,%p1;",
        "cvt.s64.s32 %rd2,%r11; sub.s64 %rd2,%rd2,%rd1; add.s64 %rd2,%rd2,%rd1; setp.lt.s64 "
        "%p1,%rd2,0; selp.b32 %r9,1,2,%p1;",
        "min.s32 %r9,%r11,%r12; max.u32 %r9,%r9,%r10;",
        "lop3.b32 %r9,%r10,%r11,%r12,0x96;",
        "@%p9 add.f32 %f12,%f12,%f13; mov.b32 %r9,%f12;",
        "@%p9 bra L; add.s32 %r12,%r11,%r10; mul.f32 %f12,%f13,%f13; L: mov.b32 %r9,%f12; add.s32 "
        "%r9,%r9,%r12;"};
    for (const char* body : bodies) {
        SCOPED_TRACE(body);
        const auto expected = values_of(body);
        ASSERT_GT(std::set<std::uint32_t>(expected.begin(), expected.end()).size(), 1u);
        for_each_simd_target([&] {
            const auto found = values_of(body);
            for (std::size_t t = 0; t < found.size(); ++t) {
                float x, y;
                std::memcpy(&x, &found[t], 4);
                std::memcpy(&y, &expected[t], 4);
                if (std::isnan(x) && std::isnan(y)) continue;
                EXPECT_EQ(found[t], expected[t]) << t;
            }
        });
    }
}

// Largest error of a unary approximation over `count` arguments from `first` in steps of `step`.
template <typename F>
double largest_error(const std::string& operation, float first, float step, bool relative,
                     F exact) {
    Runner r(kernel_text(
        "mov.u32 %r2, %ctaid.x; mad.lo.s32 %r2, %r2, 256, %r1; mul.wide.u32 %rd1, %r2, 4;"
        "add.s64 %rd1, %rd0, %rd1; cvt.rn.f32.u32 %f1, %r2; ld.global.f32 %f1, [%rd1];" +
        operation + " %f2, %f1; st.global.f32 [%rd1], %f2;"));
    constexpr std::uint32_t count = 64 * 256;
    auto* data = static_cast<float*>(r.machine.memory().allocate(count * 4));
    std::vector<float> x(count);
    for (std::uint32_t i = 0; i < count; ++i) data[i] = x[i] = first + float(i) * step;
    const std::uint32_t n = 0;
    const void* arguments[] = {&data, &n};
    r.machine.run(*r.module->find("k"), {{64, 1, 1}, {256, 1, 1}, 0}, arguments);
    double worst = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const double truth = exact(double(x[i]));
        const double error = std::abs(double(data[i]) - truth);
        worst = std::max(worst, relative ? error / std::abs(truth) : error);
    }
    return worst;
}

// The errors that the PTX ISA states for the hardware's approximations.
TEST(SimdTarget, ApproximationsStayWithinTheirStatedErrors) {
    for_each_simd_target([] {
        const double pi = 3.14159265358979;
        const float turn = float(2 * pi / (64 * 256));
        EXPECT_LT(largest_error("sin.approx.f32", float(-pi), turn, false,
                                [](double x) { return std::sin(x); }),
                  std::exp2(-20.5));
        EXPECT_LT(largest_error("cos.approx.f32", float(-pi), turn, false,
                                [](double x) { return std::cos(x); }),
                  std::exp2(-20.5));
        EXPECT_LT(largest_error("sin.approx.f32", -300.0f, 0.0375f, false,
                                [](double x) { return std::sin(x); }),
                  std::exp2(-14.7));
        EXPECT_LT(largest_error("ex2.approx.f32", -20.0f, 0.0025f, true,
                                [](double x) { return std::exp2(x); }),
                  std::exp2(-22));
        EXPECT_LT(largest_error("lg2.approx.f32", 2.25f, 0.25f, true,
                                [](double x) { return std::log2(x); }),
                  std::exp2(-22));
        EXPECT_LT(largest_error("rsqrt.approx.f32", 0.25f, 0.25f, true,
                                [](double x) { return 1 / std::sqrt(x); }),
                  std::exp2(-22.4));
        EXPECT_LT(largest_error("tanh.approx.f32", -4.0f, 0.0005f, false,
                                [](double x) { return std::tanh(x); }),
                  std::exp2(-11));
    });
}

// rsqrt.approx of the floats with these bits.
std::vector<float> inverse_roots(const std::vector<std::uint32_t>& bits) {
    Runner r(kernel_text(
        "mov.u32 %r2, %ctaid.x; mad.lo.s32 %r2, %r2, 256, %r1; mul.wide.u32 %rd1, %r2, 4;"
        "add.s64 %rd1, %rd0, %rd1; ld.global.f32 %f1, [%rd1]; rsqrt.approx.f32 %f2, %f1;"
        "st.global.f32 [%rd1], %f2;"));
    auto* data = static_cast<float*>(r.machine.memory().allocate(bits.size() * sizeof(float)));
    std::memcpy(data, bits.data(), bits.size() * sizeof(float));
    const std::uint32_t n = 0;
    const void* arguments[] = {&data, &n};
    r.machine.run(*r.module->find("k"), {{std::uint32_t(bits.size() / 256), 1, 1}, {256, 1, 1}, 0},
                  arguments);
    return {data, data + bits.size()};
}

double largest_error(const std::vector<std::uint32_t>& bits, const std::vector<float>& roots) {
    double worst = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const double truth = 1 / std::sqrt(double(std::bit_cast<float>(bits[i])));
        worst = std::max(worst, std::abs(roots[i] - truth) / truth);
    }
    return worst;
}

// PTX ISA 9.7.3.18: the error is at most 2^-22.9 over the positive finite floats.
TEST(SimdTarget, InverseRootsOfMantissasHaveOneValueOnAllTargets) {
    // All floats from 0.5 to 2, with an even and an odd exponent; or every 17th.
    const std::uint32_t step = tests::long_tests() ? 1 : 17;
    std::vector<std::uint32_t> bits;
    for (std::uint32_t b = 0x3F000000; b < 0x40000000; b += step) bits.push_back(b);
    bits.resize(bits.size() / 256 * 256);
    const std::vector<float> expected = inverse_roots(bits);
    EXPECT_LT(largest_error(bits, expected), std::exp2(-22.9));
    for_each_simd_target([&] { EXPECT_TRUE(inverse_roots(bits) == expected); });
}

TEST(SimdTarget, InverseRootsOfAllExponentsAreWithinTheStatedError) {
    std::vector<std::uint32_t> bits;
    for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
        for (std::uint32_t mantissa : {1U, 2U, 0x400000U, 0x7FFFFFU})
            bits.push_back(exponent << 23 | mantissa);
    bits.insert(bits.end(), {0x00800000, 0x0D800000, 0x0D7FFFFF, 0x7F000000});  // 1024 in all
    for_each_simd_target(
        [&] { EXPECT_LT(largest_error(bits, inverse_roots(bits)), std::exp2(-22.9)); });
}

TEST(SimdTarget, InverseRootsOfSpecialValues) {
    std::vector<std::uint32_t> bits(256, 0x3F800000);
    const std::uint32_t special[] = {0x00000000, 0x80000000, 0x7F800000, 0xFF800000,
                                     0x7FC00000, 0xBF800000, 0x80000001};
    std::copy(std::begin(special), std::end(special), bits.begin());
    for_each_simd_target([&] {
        const std::vector<float> roots = inverse_roots(bits);
        EXPECT_EQ(roots[0], INFINITY);
        EXPECT_EQ(roots[1], -INFINITY);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(roots[2]), 0U);
        for (std::size_t i = 3; i < std::size(special); ++i) EXPECT_TRUE(std::isnan(roots[i])) << i;
        EXPECT_EQ(roots[255], 1.0F);
    });
}

TEST(SimdTarget, OnlyInstructionsWithFtzFlushSubnormals) {
    // 2^-140 is subnormal. A kernel with .ftz somewhere keeps it elsewhere.
    const std::string tail = " mov.b32 %r9, %f2; st.global.u32 [%rd1], %r9;";
    const auto run = [&](const std::string& body) {
        return Runner(kernel_text("mov.f32 %f1, 0f00000200;" + body + tail)).run(one_block(33))[32];
    };
    for_each_simd_target([&] {
        EXPECT_EQ(run("add.f32 %f2, %f1, %f1;"), 0x400u);
        EXPECT_EQ(run("add.ftz.f32 %f2, %f1, %f1;"), 0u);
        EXPECT_EQ(run("add.ftz.f32 %f3, %f1, %f1; add.f32 %f2, %f1, %f3;"), 0x200u);
        EXPECT_EQ(run("add.ftz.f32 %f3, %f1, %f1; cvt.f64.f32 %fd1, %f1; mul.f64 %fd1, %fd1, "
                      "0d4000000000000000;"
                      "cvt.rn.f32.f64 %f2, %fd1;"),
                  0x400u);
        EXPECT_EQ(run("neg.ftz.f32 %f2, %f1;"), 0x80000000u);
        EXPECT_EQ(run("neg.f32 %f2, %f1; add.ftz.f32 %f3, %f1, %f1;"), 0x80000200u);
    });
}

TEST(SimdTarget, DirectedRoundingGivesTheNeighbourInItsDirection) {
    // 1 + 2^-30 lies between two floats, and so does its negative.
    const auto sum = [](const std::string& operation, const std::string& one,
                        const std::string& tiny) {
        return Runner(kernel_text(
                          "mov.f32 %f1, " + one + "; " + operation + " %f2, %f1, " + tiny +
                          "; mov.b32 %r9, %f2; add.f32 %f3, %f1, " + tiny +
                          "; mov.b32 %r8, %f3; sub.s32 %r9, %r9, %r8; st.global.u32 [%rd1], %r9;"))
            .run(one_block(32))[31];
    };
    const std::string one = "0f3F800000", minus_one = "0fBF800000", tiny = "0f30800000",
                      minus_tiny = "0fB0800000";
    for_each_simd_target([&] {
        EXPECT_EQ(sum("add.rp.f32", one, tiny), 1u);
        EXPECT_EQ(sum("add.rm.f32", one, tiny), 0u);
        EXPECT_EQ(sum("add.rz.f32", one, tiny), 0u);
        EXPECT_EQ(sum("add.rm.f32", minus_one, minus_tiny), 1u);
        EXPECT_EQ(sum("add.rp.f32", minus_one, minus_tiny), 0u);
        EXPECT_EQ(sum("add.rz.f32", minus_one, minus_tiny), 0u);
    });
}

}  // namespace
}  // namespace warpscope::emulator
