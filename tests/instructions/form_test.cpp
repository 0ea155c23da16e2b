#include "instructions/form.h"

#include <gtest/gtest-spi.h>

#include <cmath>

#include "support/devices.h"

// Tests of check() and check_warps(): they must fail where a result differs from its reference.
namespace warpscope::tests {
namespace {

class InstructionChecks : public OnDevices {};
WARPSCOPE_ON_DEVICES(InstructionChecks);

TEST_P(InstructionChecks, WrongExactResultFails) {
    const std::vector<Form> wrong{
        {"shr.s32 %d, %a, %b;", "s32", "T T u32",
         ints([](Int a, Int b, Int) { return a >> std::min(b, Int(30)); })}};
    EXPECT_NONFATAL_FAILURE(check(device(), wrong), "shr.s32 %d, %a, %b");
}

TEST_P(InstructionChecks, ZeroOfTheOtherSignFails) {
    const std::vector<Form> wrong{
        {"add.f32 %d, %a, 0f00000000;", "f32", "T T", reals([](double a, auto...) { return a; })}};
    EXPECT_NONFATAL_FAILURE(check(device(), wrong), "expected 0x80000000 (-0), got 0x0 (0)");
}

TEST_P(InstructionChecks, ResultBeyondItsToleranceFails) {
    const std::vector<Form> wrong{
        {"ex2.approx.f32 %d, %a;", "f32", "T T",
         close_to([](double a, double) { return std::exp2(a) * (1 + 1e-5); }),
         [](double expected, double) { return std::abs(expected) * 1e-6; }}};
    EXPECT_NONFATAL_FAILURE(check(device(), wrong), "ex2.approx.f32");
}

TEST_P(InstructionChecks, UnknownInstructionFails) {
    const std::vector<Form> wrong{
        {"frobnicate.u32 %d, %a;", "u32", "T T", ints([](Int a, Int, Int) { return a; })}};
    EXPECT_NONFATAL_FAILURE(check(device(), wrong), "frobnicate");
}

TEST_P(InstructionChecks, WrongResultOfAWarpInstructionFails) {
    const std::vector<WarpForm> wrong{
        {"shfl.sync.bfly.b32 %d, %a, 1, 31, -1;", "b32 b32",
         [](unsigned lane, std::span<const Row> warp) { return warp[lane ^ 2][0]; }}};
    EXPECT_NONFATAL_FAILURE(check_warps(device(), wrong), "shfl.sync.bfly");
}

}  // namespace
}  // namespace warpscope::tests
