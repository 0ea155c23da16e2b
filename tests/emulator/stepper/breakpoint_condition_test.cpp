#include "emulator/stepper/breakpoints.h"

#include <bit>
#include <limits>

#include "stepped_kernel.h"

namespace warpscope::emulator {
namespace {

const std::string all_types = kernel_text(
    "setp.lt.u32 %p1, %r1, 8; add.f32 %f1, %f1, 0f3F800000; add.f64 %fd1, %fd1, %fd1; "
    "add.s16 %h1, %h1, %h1; selp.b32 %r2, 1, 2, %p1; st.global.u32 [%rd1], %r2; "
    "st.global.f32 [%rd1], %f1; st.global.f64 [%rd0], %fd1; st.global.u16 [%rd0], %h1;");

class Conditions : public testing::Test {
  protected:
    bool holds(const char* text, std::uint64_t bits) {
        return BreakpointCondition(k.kernel(), text).holds(bits);
    }
    std::string complaint(const char* text) {
        try {
            BreakpointCondition(k.kernel(), text);
        } catch (const Error& error) {
            return error.what();
        }
        return "none";
    }
    SteppedKernel k{all_types, one_block(32)};
};

TEST_F(Conditions, IntegersAreSignedBesideADecimalConstant) {
    EXPECT_TRUE(holds("%r2 == 16", 16));
    EXPECT_FALSE(holds("%r2 == 16", 17));
    EXPECT_TRUE(holds("%r2 != 16", 17));
    EXPECT_TRUE(holds("%r2 < 0", 0xFFFF'FFFF));
    EXPECT_TRUE(holds("%r2<=-1", 0xFFFF'FFFF));
    EXPECT_FALSE(holds("%r2 > 5", 0x8000'0000));
    EXPECT_TRUE(holds("  %r2   >=   -2147483648 ", 0x8000'0000));
    EXPECT_TRUE(holds("%rd1 < 0", ~0ULL));
    EXPECT_TRUE(holds("%h1 == -1", 0xFFFF));
}

TEST_F(Conditions, IntegersAreUnsignedBesideAHexadecimalConstant) {
    EXPECT_TRUE(holds("%r2 > 0x5", 0x8000'0000));
    EXPECT_TRUE(holds("%r2 == 0xFFFFFFFF", 0xFFFF'FFFF));
    EXPECT_TRUE(holds("%rd1 >= 0x7f0000000000", 0xFF00'0000'0000'0000));
    EXPECT_FALSE(holds("%rd1 < 0x1", 1));
}

TEST_F(Conditions, FloatingPointRegistersAreComparedAsNumbers) {
    const auto f32 = [](float f) { return std::bit_cast<std::uint32_t>(f); };
    EXPECT_TRUE(holds("%f1 == 0.1", f32(0.1F)));
    EXPECT_TRUE(holds("%f1 < 0", f32(-0.5F)));
    EXPECT_FALSE(holds("%f1 < -1e3", f32(-0.5F)));
    EXPECT_TRUE(holds("%f1 == 0", f32(-0.F)));
    EXPECT_TRUE(holds("%f1 == 0x3f800000", f32(1.F)));
    EXPECT_FALSE(holds("%f1 == nan", f32(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_TRUE(holds("%f1 != 1", f32(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_TRUE(holds("%fd1 > 1.5", std::bit_cast<std::uint64_t>(1.75)));
}

TEST_F(Conditions, PredicatesAreTrueOrFalse) {
    EXPECT_TRUE(holds("%p1 == true", 1));
    EXPECT_TRUE(holds("%p1 == 0", 0));
    EXPECT_FALSE(holds("%p1 != 1", 1));
}

TEST_F(Conditions, BadOnesSayWhy) {
    const std::string form = " is no condition; write one like %r4 >= 16.";
    EXPECT_EQ(complaint("%r2"), "'%r2'" + form);
    EXPECT_EQ(complaint("%r2 = 4"), "'%r2 = 4'" + form);
    EXPECT_EQ(complaint("%r2 =="), "'%r2 =='" + form);
    EXPECT_EQ(complaint("== 4"), "'== 4'" + form);
    EXPECT_EQ(complaint("%r77 == 4"), "The kernel k has no register %r77.");
    EXPECT_EQ(complaint("%r2 == x"), "%r2 is a 32-bit integer, which can't be x.");
    EXPECT_EQ(complaint("%r2 == 1.5"), "%r2 is a 32-bit integer, which can't be 1.5.");
    EXPECT_EQ(complaint("%r2 == 2147483648"),
              "%r2 is a 32-bit integer, which can't be 2147483648.");
    EXPECT_EQ(complaint("%r2 == 0x100000000"),
              "%r2 is a 32-bit integer, which can't be 0x100000000.");
    EXPECT_EQ(complaint("%rd1 == 99999999999999999999"),
              "%rd1 is a 64-bit integer, which can't be 99999999999999999999.");
    EXPECT_EQ(complaint("%f1 == 1.5f"), "%f1 is a 32-bit float, which can't be 1.5f.");
    EXPECT_EQ(complaint("%p1 == 2"), "%p1 is a predicate, which can't be 2.");
}

}  // namespace
}  // namespace warpscope::emulator
