#include "emulator/checks/memory_check.h"

#include <string>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

// Lanes that read what nobody has written, of a launch of 32 threads. Each has 16 bytes at %rd4 of
// a variable that counts as allocated, and not as written.
std::uint64_t unwritten_lanes(const std::string& body) {
    Runner r(
        kernel_text("mov.u64 %rd3, data; mul.wide.u32 %rd4, %r1, 16;"
                    "add.s64 %rd4, %rd3, %rd4; setp.eq.u32 %p1, %r0, 1; @%p1 bra CHECKED;"
                    "st.global.u64 [%rd0], %rd3; bra END; CHECKED:" +
                        body + "END:",
                    ".global .align 16 .b8 data[512];"));
    const std::vector<std::uint32_t> words = r.run(one_block(1), 0, 2);
    MemoryCheck check;
    check.on_allocate(words[0] | std::uint64_t(words[1]) << 32, 512);
    r.observer = &check;
    r.run(one_block(32), 1);
    std::uint64_t lanes = 0;
    for (const Finding& f : check.findings()) {
        EXPECT_EQ(f.kind, FindingKind::uninitialized);
        lanes += f.count;
    }
    return lanes;
}

const std::string store_three = "st.global.v2.u32 [%rd4], {%r1, %r1}; st.global.u32 [%rd4+8], %r1;";
const std::string load_four = "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd4];";

TEST(MemoryCheck, AnElementThatIsLoadedAndNotUsedIsPadding) {
    EXPECT_EQ(unwritten_lanes(store_three + load_four + "add.u32 %r7, %r3, %r5;"), 0U);
    EXPECT_EQ(unwritten_lanes(store_three + load_four + "add.u32 %r7, %r3, %r6;"), 32U);
}

TEST(MemoryCheck, ACopyOfPaddingIsNoReadAndACopyOfNothingIs) {
    const std::string copy = load_four + "st.global.v4.u32 [%rd4], {%r3, %r4, %r5, %r6};";
    EXPECT_EQ(unwritten_lanes(store_three + copy), 0U);
    EXPECT_EQ(unwritten_lanes(copy), 32U);
}

TEST(MemoryCheck, AnElementOfWhichAByteWasWrittenIsWritten) {
    EXPECT_EQ(unwritten_lanes("st.global.u8 [%rd4+3], %r1; ld.global.u32 %r3, [%rd4];"), 0U);
    EXPECT_EQ(unwritten_lanes("st.global.u8 [%rd4+4], %r1; ld.global.u32 %r3, [%rd4];"), 32U);
}

TEST(MemoryCheck, AnAtomicReadsItsWholeWord) {
    EXPECT_EQ(unwritten_lanes("st.global.u8 [%rd4], %r1; atom.global.add.u32 %r3, [%rd4], 1;"),
              32U);
}

}  // namespace
}  // namespace warpscope::emulator
