#include "launches/lanes/lane_values.h"

#include <optional>
#include <string>

#include "emulator/stepper/breakpoints.h"
#include "emulator/stepper/stepped_kernel.h"

namespace warpscope::launches {
namespace {

using emulator::Stop;

// Each of 64 threads stores t + 100.5 to word t, waits, and loads word 63 - t.
const std::string mirror = emulator::kernel_text(R"(
.loc 1 11 1
shl.b32 %r2, %r1, 2; mov.u32 %r7, cell; add.s32 %r3, %r7, %r2;
cvt.rn.f32.u32 %f1, %r1; add.f32 %f1, %f1, 0f42C90000; st.shared.f32 [%r3], %f1;
.loc 1 12 1
bar.sync 0;
.loc 1 13 1
setp.lt.u32 %p1, %r1, 8; sub.s32 %r5, 252, %r2; ld.shared.f32 %f2, [%r5];
.loc 1 14 1
st.global.f32 [%rd1], %f2;)",
                                                 emulator::words_with_lines);

class LaneValuesTest : public testing::Test {
  protected:
    /// The warp and lane that first reach line 14 with this condition; nullopt: none does.
    std::optional<std::pair<std::uint32_t, unsigned>> first_with(const char* condition) {
        stepper.seek(0);
        const LaneExpression expression(condition);
        const emulator::Breakpoint point{
            .file = "kernels/s.cu",
            .line = 14,
            .condition = condition,
            .asks = [&](auto warp, auto lane) { return values.holds(expression, warp, lane); }};
        const Stop stop = run_to(stepper, {{point}, {}});
        if (stop.at != Stop::At::stop) return {};
        return std::pair(stop.warp, stop.lane);
    }
    std::string complaint_about(const char* condition) {
        try {
            values.check_names(LaneExpression(condition), values.frames(0).front());
        } catch (const LaunchError& error) {
            return error.what();
        }
        return {};
    }
    emulator::SteppedKernel k{mirror, emulator::one_block(64)};
    emulator::Stepper stepper{k.machine, k.frozen, 0};
    LaneValues values{stepper, k.machine.memory(), read_types(k.kernel(), {}, {})};
};

using Lane = std::pair<std::uint32_t, unsigned>;

TEST_F(LaneValuesTest, AConditionAsksForRegisters) {
    EXPECT_EQ(first_with("%r2 == 128"), Lane(1, 0));
    EXPECT_EQ(first_with("%r2 == 0x7c"), Lane(0, 31));
    EXPECT_EQ(first_with("%r5 < 100"), Lane(1, 7));  // 252 - 4 * 39 is 96
    EXPECT_EQ(first_with("%r2 - 252 == -4"), Lane(1, 30));
    EXPECT_EQ(first_with("%f1 > 110"), Lane(0, 10));
    EXPECT_EQ(first_with("%f2 == 105.5"), Lane(1, 26));
    EXPECT_EQ(first_with("%p1 == false"), Lane(0, 8));
    EXPECT_EQ(first_with("%r2 > 252"), std::nullopt);
}

TEST_F(LaneValuesTest, AConditionAsksForThreadsAndSharedMemory) {
    EXPECT_EQ(first_with("threadIdx.x == 40 && blockIdx.x == 0"), Lane(1, 8));
    EXPECT_EQ(first_with("cell[threadIdx.x] == 112.5"), Lane(0, 12));
    EXPECT_EQ(first_with("cell[63 - threadIdx.x] < cell[threadIdx.x]"), Lane(1, 0));
    EXPECT_EQ(first_with("warp == 1 && lane % 7 == 6"), Lane(1, 6));
    EXPECT_THROW(first_with("cell[64] == 0"), LaunchError);
}

TEST_F(LaneValuesTest, ANameThatTheKernelLacksIsNamed) {
    EXPECT_EQ(complaint_about("%r2 == 1 && cell[threadIdx.x] > 0"), "");
    EXPECT_EQ(complaint_about("%r99 == 1"), "the kernel k has no register %r99");
    EXPECT_EQ(complaint_about("cell[tile] == 1").substr(0, 19), "there is no tile: n");
}

}  // namespace
}  // namespace warpscope::launches
