#include <gtest/gtest.h>

#include "emulator/machine/machine.h"
#include "emulator/program/error.h"
#include "emulator/races/race_detector.h"

namespace warpscope::emulator {
namespace {

// Address 0 is global memory too: the two lanes race there before the access ends the launch.
TEST(RaceDetector, AStoreOfSeveralLanesThroughANullPointerEndsTheLaunch) {
    const auto module = Module::parse(R"(.version 6.4
.target sm_75
.address_size 64
.visible .entry k()
{
    .reg .b64 %d; .reg .b32 %r;
    mov.u64 %d, 0;
    mov.u32 %r, %tid.x;
    st.global.u32 [%d], %r;
    ret;
})",
                                      "test");
    Machine machine;
    RaceDetector detector;
    EXPECT_THROW(machine.run(*module->find("k"), {{1, 1, 1}, {2, 1, 1}, 0}, {}, {}, &detector),
                 AccessError);
    for (const Finding& finding : detector.findings())
        EXPECT_FALSE(finding.byte) << finding.sentence.english();
}

}  // namespace
}  // namespace warpscope::emulator
