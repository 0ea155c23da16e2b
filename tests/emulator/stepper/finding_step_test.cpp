#include "emulator/stepper/finding_step.h"

#include "stepped_kernel.h"

namespace warpscope::emulator {
namespace {

// Line 6 of the kernel's file calls two functions of a header: one writes word tid, the other reads
// word tid + 32, which only warp 1 writes.
TEST(FindingStep, TellsAccessesOfAHeaderApartThatOneLineCalls) {
    SteppedKernel k(
        kernel_text("mov.u64 %rd2, cell;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd2, %rd3;\n"
                    ".loc 1 5 1\nmov.u32 %r2, 7;\n"
                    ".loc 2 4 5, function_name $L__info0, inlined_at 1 6 5\n"
                    "st.shared.u32 [%rd2], %r2;\n"
                    ".loc 2 8 5, function_name $L__info1, inlined_at 1 6 15\n"
                    "ld.shared.u32 %r3, [%rd2+128];\n"
                    ".loc 1 7 1\nst.global.u32 [%rd1], %r3;",
                    ".file 1 \"mine.cu\"\n.file 2 \"tile.h\"\n.shared .align 4 .b8 cell[512];"),
        one_block(64));
    Stepper s(k.machine, k.frozen, 0);
    s.run();
    const auto findings = s.findings();
    const auto unwritten = std::find_if(findings.begin(), findings.end(), [](const Finding& f) {
        return f.kind == FindingKind::uninitialized;
    });
    ASSERT_NE(unwritten, findings.end());
    EXPECT_EQ(unwritten->first.where(), "tile.h:8 (called at mine.cu:6)");
    const auto before = step_of(s, *unwritten);
    ASSERT_TRUE(before);
    EXPECT_EQ(s.history()[*before].pc, k.pc("ld.shared"));
    EXPECT_EQ(s.history()[*before].warp, unwritten->first.thread.x / 32);
}

}  // namespace
}  // namespace warpscope::emulator
