#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "executions.h"

/// Litmus tests of the PTX ISA, of "A Formal Analysis of the NVIDIA PTX Memory Consistency Model"
/// (ASPLOS 2019), and their relatives: which outcomes the model allows.
namespace warpscope::tests::memory_model {
namespace {

constexpr bool allowed = true, forbidden = false;

struct Litmus {
    const char* name;
    const char* program;
    const char* outcome;
    bool is_allowed;
    std::vector<unsigned> blocks{};
};

const std::vector<Litmus> litmus_tests{
    // Message passing.
    {"MP, fences",
     "st x 1; fence.acq_rel.sys; st.relaxed.sys f 1 |"
     "r0 = ld.relaxed.sys f; fence.acq_rel.sys; r1 = ld x",
     "r0=1 r1=0", forbidden},
    {"MP, fences of volatile operations",
     "st x 1; fence.acq_rel.gpu; st.volatile f 1 |"
     "r0 = ld.volatile f; fence.acq_rel.gpu; r1 = ld x",
     "r0=1 r1=0", forbidden},
    {"MP, no fence", "st x 1; st.relaxed.gpu f 1 | r0 = ld.relaxed.gpu f; r1 = ld x", "r0=1 r1=0",
     allowed},
    {"MP, fence of the writer",
     "st x 1; fence.sc.gpu; st.relaxed.gpu f 1 | r0 = ld.relaxed.gpu f; r1 = ld x", "r0=1 r1=0",
     allowed},
    {"MP, fence of the reader",
     "st x 1; st.relaxed.gpu f 1 | r0 = ld.relaxed.gpu f; fence.sc.gpu; r1 = ld x", "r0=1 r1=0",
     allowed},
    {"MP, weak flag", "st x 1; fence.sc.gpu; st f 1 | r0 = ld f; fence.acq_rel.gpu; r1 = ld x",
     "r0=1 r1=0", allowed},
    {"MP, release and acquire", "st x 1; st.release.gpu f 1 | r0 = ld.acquire.gpu f; r1 = ld x",
     "r0=1 r1=0", forbidden},
    {"MP, release and fence",
     "st x 1; st.release.gpu f 1 | r0 = ld.relaxed.gpu f; fence.acquire.gpu; r1 = ld x",
     "r0=1 r1=0", forbidden},
    {"MP, release before a relaxed store",
     "st x 1; st.release.gpu f 1; st.relaxed.gpu f 2 | r0 = ld.acquire.gpu f; r1 = ld x",
     "r0=2 r1=0", forbidden},
    {"MP, release before a weak store",
     "st x 1; st.release.gpu f 1; st f 2 | r0 = ld.acquire.gpu f; r1 = ld x", "r0=2 r1=0", allowed},
    {"MP, release behind the flag",
     "st x 1; st.relaxed.gpu f 1; fence.release.gpu | r0 = ld.acquire.gpu f; r1 = ld x",
     "r0=1 r1=0", allowed},
    {"MP, acquire of another word",
     "st x 1; st.release.gpu f 1 | r0 = ld.relaxed.gpu f; r2 = ld.acquire.gpu g; r1 = ld x",
     "r0=1 r1=0", allowed},
    {"MP, scope of blocks", "st x 1; st.release.cta f 1 | r0 = ld.acquire.gpu f; r1 = ld x",
     "r0=1 r1=0", allowed},
    {"MP, scope of blocks in one block",
     "st x 1; st.release.cta f 1 | r0 = ld.acquire.gpu f; r1 = ld x",
     "r0=1 r1=0",
     forbidden,
     {0, 0}},
    {"MP, fence of block scope",
     "st x 1; fence.acq_rel.cta; st.relaxed.gpu f 1 |"
     "r0 = ld.relaxed.gpu f; fence.acq_rel.gpu; r1 = ld x",
     "r0=1 r1=0", allowed},
    {"MP, reduction (8.11.1)",
     "st x 1; st.release.gpu f 1 | red.relaxed.sys.add f 1; fence.acquire.gpu; r1 = ld.weak x",
     "r1=0 f=2", allowed},
    {"MP, atomic in place of the reduction",
     "st x 1; st.release.gpu f 1 | r0 = atom.relaxed.sys.add f 1; fence.acquire.gpu; r1 = ld x",
     "r1=0 f=2", forbidden},
    // Store buffering.
    {"SB, fence.sc", "st x 1; fence.sc.sys; r0 = ld y | st y 1; fence.sc.sys; r1 = ld x",
     "r0=0 r1=0", forbidden},
    {"SB, fence.acq_rel",
     "st x 1; fence.acq_rel.sys; r0 = ld y | st y 1; fence.acq_rel.sys; r1 = ld x", "r0=0 r1=0",
     allowed},
    {"SB, one fence.sc", "st x 1; fence.sc.sys; r0 = ld y | st y 1; fence.acq_rel.sys; r1 = ld x",
     "r0=0 r1=0", allowed},
    {"SB, fence.sc of block scope",
     "st x 1; fence.sc.cta; r0 = ld y | st y 1; fence.sc.gpu; r1 = ld x", "r0=0 r1=0", allowed},
    {"SB, fence.sc of block scope in one block",
     "st x 1; fence.sc.cta; r0 = ld y | st y 1; fence.sc.gpu; r1 = ld x",
     "r0=0 r1=0",
     forbidden,
     {0, 0}},
    // Load buffering.
    {"LB, no dependencies", "r0 = ld x; st y 1 | r1 = ld y; st x 1", "x=1 y=1 r0=1 r1=1", allowed},
    {"LB, values", "r0 = ld x; st y r0 | r1 = ld y; st x r1", "x=1", forbidden},
    {"LB, branches", "r0 = ld x; if r0 == 1 st y 1 | r1 = ld y; if r1 == 1 st x 1", "r0=1",
     forbidden},
    {"LB, one branch", "r0 = ld x; if r0 == 1 st y 1 | r1 = ld y; st x 1", "r0=1 r1=1", allowed},
    {"LB, acquires",
     "r0 = ld.acquire.gpu x; st.release.gpu y 1 | r1 = ld.acquire.gpu y; st.release.gpu x 1",
     "r0=1 r1=1", forbidden},
    // Coherence of one word.
    {"CoRR", "st.relaxed.sys x 1 | r0 = ld.relaxed.sys x; r1 = ld.relaxed.sys x", "r0=1 r1=0",
     forbidden},
    {"CoRR, weak", "st.relaxed.sys x 1 | r0 = ld x; r1 = ld x", "r0=1 r1=0", allowed},
    {"CoRR, block scope", "st.relaxed.cta x 1 | r0 = ld.relaxed.gpu x; r1 = ld.relaxed.gpu x",
     "r0=1 r1=0", allowed},
    {"CoRR, two writers",
     "st.relaxed.gpu x 1 | st.relaxed.gpu x 2 | r0 = ld.relaxed.gpu x; r1 = ld.relaxed.gpu x;"
     "r2 = ld.relaxed.gpu x",
     "r0=1 r1=2 r2=1", forbidden},
    {"CoWR", "st x 1; r0 = ld x | r1 = ld x", "r0=0", forbidden},
    {"CoRW", "r0 = ld x; st x 1", "r0=1", forbidden},
    {"CoWW", "st x 1; st x 2", "x=1", forbidden},
    {"writes in a race", "st x 1 | st x 2", "x=1", allowed},
    // More threads.
    {"IRIW, acquires",
     "st.relaxed.gpu x 1 | st.relaxed.gpu y 1 | r0 = ld.acquire.gpu x; r1 = ld.relaxed.gpu y |"
     "r2 = ld.acquire.gpu y; r3 = ld.relaxed.gpu x",
     "r0=1 r1=0 r2=1 r3=0", allowed},
    {"IRIW, fence.sc",
     "st.relaxed.gpu x 1 | st.relaxed.gpu y 1 |"
     "r0 = ld.relaxed.gpu x; fence.sc.gpu; r1 = ld.relaxed.gpu y |"
     "r2 = ld.relaxed.gpu y; fence.sc.gpu; r3 = ld.relaxed.gpu x",
     "r0=1 r1=0 r2=1 r3=0", forbidden},
    {"ISA2",
     "st x 1; st.release.gpu y 1 | r0 = ld.acquire.gpu y; st.release.gpu z 1 |"
     "r1 = ld.acquire.gpu z; r2 = ld x",
     "r0=1 r1=1 r2=0", forbidden},
    {"ISA2, block scope of the first two, which share a block",
     "st x 1; st.release.cta y 1 | r0 = ld.acquire.cta y; st.release.gpu z 1 |"
     "r1 = ld.acquire.gpu z; r2 = ld x",
     "r0=1 r1=1 r2=0",
     forbidden,
     {0, 0, 1}},
    {"ISA2, block scope of the last two",
     "st x 1; st.release.gpu y 1 | r0 = ld.acquire.gpu y; st.release.cta z 1 |"
     "r1 = ld.acquire.cta z; r2 = ld x",
     "r0=1 r1=1 r2=0",
     allowed,
     {0, 0, 1}},
    {"WRC",
     "st.relaxed.gpu x 1 | r0 = ld.relaxed.gpu x; st.release.gpu y 1 |"
     "r1 = ld.acquire.gpu y; r2 = ld x",
     "r0=1 r1=1 r2=0", forbidden},
    {"WRC, weak read",
     "st.relaxed.gpu x 1 | r0 = ld x; st.release.gpu y 1 | r1 = ld.acquire.gpu y; r2 = ld x",
     "r0=1 r1=1 r2=0", allowed},
    {"2+2W, fence.sc",
     "st.relaxed.gpu x 1; fence.sc.gpu; st.relaxed.gpu y 2 |"
     "st.relaxed.gpu y 1; fence.sc.gpu; st.relaxed.gpu x 2",
     "x=1 y=1", forbidden},
    {"2+2W, fence.acq_rel",
     "st.relaxed.gpu x 1; fence.acq_rel.gpu; st.relaxed.gpu y 2 |"
     "st.relaxed.gpu y 1; fence.acq_rel.gpu; st.relaxed.gpu x 2",
     "x=1 y=1", allowed},
    {"R, fence.sc",
     "st.relaxed.gpu x 1; fence.sc.gpu; st.relaxed.gpu y 1 |"
     "st.relaxed.gpu y 2; fence.sc.gpu; r0 = ld.relaxed.gpu x",
     "r0=0 y=2", forbidden},
    {"S", "st.relaxed.gpu x 2; st.release.gpu y 1 | r0 = ld.acquire.gpu y; st.relaxed.gpu x 1",
     "r0=1 x=2", forbidden},
    // Atomics.
    {"atomics", "atom.sys.add x 1 | atom.sys.add x 1", "x=1", forbidden},
    {"atomics, block scope", "atom.cta.add x 1 | atom.gpu.add x 1", "x=1", allowed},
    {"atomics, block scope in one block",
     "atom.cta.add x 1 | atom.gpu.add x 1",
     "x=1",
     forbidden,
     {0, 0}},
    {"two that take a lock", "r0 = atom.gpu.cas x 0 1 | r1 = atom.gpu.cas x 0 1", "r0=0 r1=0",
     forbidden},
    {"a chain of atomics from the release to the acquire",
     "st x 1; st.release.gpu f 1 | r0 = atom.relaxed.gpu.add f 1 | r1 = ld.acquire.gpu f; r2 = ld "
     "x",
     "r1=2 r2=0", forbidden},
    {"a chain of a reduction",
     "st x 1; st.release.gpu f 1 | red.relaxed.gpu.add f 1 | r1 = ld.acquire.gpu f; r2 = ld x",
     "r1=2 r2=0", forbidden},
    {"no chain: a store between them",
     "st x 1; st.release.gpu f 1 | r0 = ld.relaxed.gpu f; st.relaxed.gpu f 2 |"
     "r1 = ld.acquire.gpu f; r2 = ld x",
     "r0=1 r1=2 r2=0", allowed},
    {"no chain: an atomic of block scope",
     "st x 1; st.release.gpu f 1 | r0 = atom.relaxed.cta.add f 1 | r1 = ld.acquire.gpu f; r2 = ld "
     "x",
     "r1=2 r2=0", allowed},
};

TEST(PtxMemoryModel, AllowsWhatTheLitmusTestsAllow) {
    for (const Litmus& test : litmus_tests)
        EXPECT_EQ(is_allowed(program_of(test.program, test.blocks), test.outcome), test.is_allowed)
            << test.name;
}

struct Racing {
    const char* program;
    std::set<Race> races;  ///< numbers of operations; fences count too
    std::vector<unsigned> blocks{};
};

TEST(PtxMemoryModel, HasDataRacesOfConflictsThatNothingOrders) {
    const std::vector<Racing> cases{
        {"st x 1 | r0 = ld x", {{0, 1}}},
        {"r0 = ld x | r1 = ld x", {}},
        {"st.relaxed.gpu x 1 | r0 = ld.relaxed.gpu x", {}},
        {"st.relaxed.gpu x 1 | r0 = ld.relaxed.cta x", {{0, 1}}},
        {"st.relaxed.gpu x 1 | r0 = ld.relaxed.cta x", {}, {0, 0}},
        {"st.relaxed.gpu x 1 | r0 = ld x", {{0, 1}}},
        // Only one that has seen the flag comes behind the store.
        {"st x 1; st.release.gpu f 1 | r0 = ld.acquire.gpu f; if r0 == 1 st x 2", {}},
        {"st x 1; st.release.gpu f 1 | r0 = ld.acquire.gpu f; if r0 == 0 st x 2", {{0, 3}}},
        {"st x 1; st.release.gpu f 1 | r0 = ld.acquire.gpu f; st x 2", {{0, 3}}},
        {"st x 1; st.release.gpu f 1 | until 1 r0 = ld.acquire.gpu f; st x 2", {}},
        {"st x 1; st.release.gpu f 1 | until 1 r0 = ld.relaxed.gpu f; st x 2", {{0, 3}}},
        // The one that comes second may reset the counter, as it has observed the first one.
        {"r0 = atom.gpu.add c 1; if r0 == 1 st c 0 | r1 = atom.gpu.add c 1; if r1 == 1 st c 0", {}},
        // What the first one did before is not ordered by that.
        {"st x 1; r0 = atom.gpu.add c 1 | r1 = atom.gpu.add c 1; if r1 == 1 st x 2", {{0, 3}}},
        // One of two that count is the last.
        {"st x 1; fence.acq_rel.gpu; r0 = atom.gpu.add c 1; fence.acq_rel.gpu; if r0 == 1 st x 3 |"
         "fence.acq_rel.gpu; r1 = atom.gpu.add c 1; fence.acq_rel.gpu; if r1 == 1 st x 2",
         {}},
        // A lock that each thread tries to take once.
        {"r0 = atom.acquire.gpu.cas l 0 1; if r0 == 0 st x 1; if r0 == 0 st.release.gpu l 0 |"
         "r1 = atom.acquire.gpu.cas l 0 1; if r1 == 0 st x 2; if r1 == 0 st.release.gpu l 0",
         {}},
        {"r0 = atom.acquire.gpu.cas l 0 1; if r0 == 0 st x 1; if r0 == 0 st.relaxed.gpu l 0 |"
         "r1 = atom.acquire.gpu.cas l 0 1; if r1 == 0 st x 2; if r1 == 0 st.relaxed.gpu l 0",
         {{1, 4}}},
    };
    for (const Racing& racing : cases)
        EXPECT_EQ(races_of(program_of(racing.program, racing.blocks)), racing.races)
            << racing.program;
}

TEST(PtxMemoryModel, ReplaysOneExecution) {
    const Program program = program_of(
        "st x 1; st.release.gpu f 1 | r0 = ld.acquire.gpu f; if r0 == 0 st x 2; r1 = ld x");
    const Replayed late = replay(program, {0, 1, 2, 4});
    EXPECT_TRUE(late.is_allowed);
    EXPECT_EQ(late.registers, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(late.races, (std::set<Race>{}));
    const Replayed early = replay(program, {0, 2, 3, 1, 4});
    EXPECT_TRUE(early.is_allowed);
    EXPECT_EQ(early.registers, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(early.races, (std::set<Race>{{0, 3}, {0, 4}}));
}

}  // namespace
}  // namespace warpscope::tests::memory_model
