#include <string>

#include "emulator/checks/memory_check.h"
#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

// Lanes that do something with an undefined value, of a launch of 32 threads. %r20 and above are
// never written; %p9 holds in lanes 0 to 9.
std::uint64_t undefined_lanes(const std::string& body, const std::string& variables = "") {
    Runner r(kernel_text(variables + "setp.lt.u32 %p9, %r1, 10;" + body));
    MemoryCheck check;
    r.observer = &check;
    r.run(one_block(32), 0, 256);
    std::uint64_t lanes = 0;
    for (const Finding& f : check.findings()) {
        EXPECT_EQ(f.kind, FindingKind::undefined);
        EXPECT_EQ(f.severity, Severity::error);
        lanes += f.count;
    }
    return lanes;
}

TEST(UndefinedValues, AStoreToGlobalMemoryIsFoundAndACopyIsNot) {
    EXPECT_EQ(undefined_lanes("add.u32 %r3, %r20, 1; mov.u32 %r4, %r3;"), 0u);
    EXPECT_EQ(undefined_lanes("add.u32 %r3, %r20, 1; mov.u32 %r4, %r3; st.global.u32 [%rd1], %r4;"),
              32u);
}

TEST(UndefinedValues, OnlyLanesThatHaveNotWrittenTheRegisterCount) {
    EXPECT_EQ(undefined_lanes("@%p9 mov.u32 %r20, 1; st.global.u32 [%rd1], %r20;"), 22u);
}

TEST(UndefinedValues, AConditionChoosesWhatCounts) {
    EXPECT_EQ(undefined_lanes("selp.b32 %r3, %r20, %r1, %p9; st.global.u32 [%rd1], %r3;"), 10u);
    EXPECT_EQ(undefined_lanes("selp.b32 %r3, %r1, %r20, %p9; st.global.u32 [%rd1], %r3;"), 22u);
}

// x < %r20 is undefined; lanes 0 to 9 know that the disjunction holds, the others that the
// conjunction does not.
TEST(UndefinedValues, AnOperandMayDecideALogicalOperation) {
    const std::string branch = "@%p2 bra END; st.global.u32 [%rd1], 1; END:";
    EXPECT_EQ(undefined_lanes("setp.lt.u32 %p1, %r1, %r20; or.pred %p2, %p1, %p9;" + branch), 22u);
    EXPECT_EQ(undefined_lanes("setp.lt.u32 %p1, %r1, %r20; and.pred %p2, %p9, %p1;" + branch), 10u);
    EXPECT_EQ(undefined_lanes("setp.lt.or.u32 %p2, %r1, %r20, %p9;" + branch), 22u);
}

TEST(UndefinedValues, AnAddressIsFound) {
    EXPECT_EQ(undefined_lanes("mul.wide.u32 %rd2, %r20, 4; add.s64 %rd2, %rd2, %rd0;"
                              "ld.global.u32 %r3, [%rd2];"),
              32u);
}

// Of a vector, all elements must be undefined: compilers leave padding so.
TEST(UndefinedValues, AVectorWithADefinedElementIsStored) {
    const std::string address = "mul.wide.u32 %rd2, %r1, 8; add.s64 %rd2, %rd2, %rd0;";
    EXPECT_EQ(undefined_lanes(address + "st.global.v2.u32 [%rd2], {%r1, %r20};"), 0u);
    EXPECT_EQ(undefined_lanes(address + "st.global.v2.u32 [%rd2], {%r21, %r20};"), 32u);
}

// Thread t stores byte 0 of its word; lanes 0 to 9 the other three bytes too.
TEST(UndefinedValues, LocalMemoryIsFollowedByByte) {
    const std::string array = ".local .align 4 .b8 own[8];";
    const std::string stores =
        "st.local.u8 [own+4], %r1; @%p9 st.local.u8 [own+5], %r1; @%p9 st.local.u16 [own+6], %r1;";
    EXPECT_EQ(
        undefined_lanes(stores + "ld.local.u32 %r3, [own+4]; st.global.u32 [%rd1], %r3;", array),
        22u);
    EXPECT_EQ(
        undefined_lanes(stores + "ld.local.u8 %r3, [own+4]; st.global.u32 [%rd1], %r3;", array),
        0u);
}

// Through a generic address, and back.
TEST(UndefinedValues, GenericAddressesReachLocalMemoryToo) {
    const std::string array = ".local .align 4 .b8 own[8];";
    const std::string address = "mov.u64 %rd2, own; cvta.local.u64 %rd2, %rd2;";
    EXPECT_EQ(undefined_lanes(address + "@%p9 st.u32 [%rd2], %r1; ld.local.u32 %r3, [own];"
                                        "st.global.u32 [%rd1], %r3;",
                              array),
              22u);
    EXPECT_EQ(undefined_lanes(address + "ld.u32 %r3, [%rd2+4]; st.u32 [%rd1], %r3;", array), 32u);
}

// Block 0 runs first, and sets the register and the byte of local memory that block 1 only reads.
TEST(UndefinedValues, BlocksThatRunTogetherHaveValuesOfTheirOwn) {
    const std::string body =
        "mov.u32 %r9, %ctaid.x; setp.eq.u32 %p9, %r9, 0; @%p9 mov.u32 %r20, 1;"
        "@%p9 st.local.u32 [own], 1; ld.local.u32 %r3, [own];"
        "st.global.u32 [%rd1], %r20;\nst.global.u32 [%rd1], %r3;";  // lines of their own
    Runner r(kernel_text(".local .align 4 .b8 own[4]; " + body));
    MemoryCheck check;
    r.observer = &check;
    LaunchShape two_blocks = one_block(32);
    two_blocks.grid.x = 2;
    two_blocks.cooperative = true;
    r.run(two_blocks, 0, 512);
    ASSERT_EQ(check.findings().size(), 2U);
    for (const Finding& f : check.findings()) {
        EXPECT_EQ(f.count, 32U);
        EXPECT_EQ(f.first.block.x, 1U);
    }
}

// A value that was found once is not found again.
TEST(UndefinedValues, AValueIsFoundOnce) {
    EXPECT_EQ(undefined_lanes("st.global.u32 [%rd1], %r20; st.global.u32 [%rd1+4], %r20;"), 32u);
}

}  // namespace
}  // namespace warpscope::emulator
