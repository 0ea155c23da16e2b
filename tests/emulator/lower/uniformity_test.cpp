#include "emulator/lower/uniformity.h"

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

class Analysed {
  public:
    explicit Analysed(const std::string& body) {
        kernel_ = parse_ptx(kernel_text(body), "t").kernels.at(0);
        lower_control(kernel_);
        flow_ = build_control_flow(kernel_);
        result_ = analyse_uniformity(kernel_, flow_);
    }
    bool uniform(const std::string& name) const {
        for (std::size_t r = 0; r < kernel_.registers.size(); ++r)
            if (kernel_.registers[r].name == name) return result_.uniform[r];
        ADD_FAILURE() << name;
        return false;
    }
    std::uint32_t join_of_entry() const { return result_.join[0]; }
    std::uint32_t block(const std::string& label) const {
        return flow_.block_of[kernel_.labels.at(label)];
    }

  private:
    KernelSyntax kernel_;
    ControlFlow flow_;
    Uniformity result_;
};

TEST(Uniformity, ValueIsUniformIfItsSourcesAre) {
    const Analysed a(
        "mov.u32 %r2, %ctaid.x; add.s32 %r3, %r2, %r0; add.s32 %r4, %r3, %r1;"
        "ld.global.u32 %r5, [%rd0]; ld.global.u32 %r6, [%rd1];"
        "shfl.sync.idx.b32 %r7, %r2, 0, 31, -1;");
    EXPECT_TRUE(a.uniform("%r3"));
    EXPECT_FALSE(a.uniform("%r4"));
    EXPECT_TRUE(a.uniform("%r5"));
    EXPECT_FALSE(a.uniform("%r6"));
    EXPECT_FALSE(a.uniform("%r7"));
}

TEST(Uniformity, RegisterWrittenInADivergentIfAndLiveAtItsJoinIsAVector) {
    const Analysed a(
        "mov.u32 %r2, 1; mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra END;"
        "mov.u32 %r2, 2; mov.u32 %r4, 3; add.s32 %r4, %r4, %r0; st.global.u32 [%rd1], %r4;"
        "END: add.s32 %r5, %r2, %r3;");
    EXPECT_FALSE(a.uniform("%r2"));
    EXPECT_TRUE(a.uniform("%r3"));
    EXPECT_TRUE(a.uniform("%r4")) << "dead at the join, and only one side has code";
    EXPECT_FALSE(a.uniform("%r5"));
    EXPECT_EQ(a.join_of_entry(), a.block("END"));
}

TEST(Uniformity, RegisterWrittenOnBothSidesIsAVectorUnlessItHasOnePureDefinition) {
    const Analysed a(
        "setp.lt.u32 %p1, %r1, 3; @%p1 bra ELSE; mov.u32 %r2, 2; add.s32 %r3, %r0, 1;"
        "st.global.u32 [%rd1], %r2; ld.global.u32 %r4, [%rd0]; bra END;"
        "ELSE: mov.u32 %r2, 3; st.global.u32 [%rd1], %r2; END: ");
    EXPECT_FALSE(a.uniform("%r2")) << "both sides write it";
    EXPECT_TRUE(a.uniform("%r3")) << "one pure definition";
    EXPECT_FALSE(a.uniform("%r4")) << "memory may change between the splits' turns";
}

TEST(Uniformity, CounterOfADivergentLoopIsAVectorIfReadBehindIt) {
    const Analysed a(
        "mov.u32 %r2, 0; TOP: add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;"
        "@%p1 bra TOP; st.global.u32 [%rd1], %r2;");
    EXPECT_FALSE(a.uniform("%r2"));
    const Analysed dead(
        "mov.u32 %r2, 0; TOP: add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;"
        "@%p1 bra TOP; st.global.u32 [%rd1], %r0;");
    EXPECT_TRUE(dead.uniform("%r2")) << "no statement behind the loop reads it";
}

TEST(Uniformity, EarlyExitLeavesTheRestUniform) {
    const Analysed a(
        "setp.ge.u32 %p1, %r1, %r0; @%p1 bra END; mov.u32 %r2, 0;"
        "TOP: ld.global.u32 %r3, [%rd0]; add.s32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r0;"
        "@%p2 bra TOP; st.global.u32 [%rd1], %r2; END: ");
    EXPECT_TRUE(a.uniform("%r2"));
    EXPECT_TRUE(a.uniform("%r3"));
    EXPECT_TRUE(a.uniform("%p2"));
}

TEST(Uniformity, BranchWithABarrierInItsRegionHasNoJoin) {
    const Analysed a(
        "mov.u32 %r2, 8; TOP: setp.ge.u32 %p1, %r1, %r2; @%p1 bra SKIP; bar.sync 0;"
        "SKIP: shr.u32 %r2, %r2, 1; setp.ne.s32 %p2, %r2, 0; @%p2 bra TOP;");
    EXPECT_FALSE(a.uniform("%r2")) << "lanes of one warp may be in different rounds";
}

}  // namespace
}  // namespace warpscope::emulator
