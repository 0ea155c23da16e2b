#include <fmt/format.h>

#include <numeric>

#include "emulator/program/error.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"
#include "orders_of_blocks.h"

namespace warpscope::tests {
namespace {

using emulator::OrderSearch;
using emulator::ReferenceOrder;
using emulator::ScheduleFile;
using emulator::Witness;
using Blocks = std::vector<std::uint32_t>;

constexpr std::size_t most_words = OrdersOfBlocks::most_words;

/// A launch whose buffer and variables are 0.
struct ZeroedLaunch : SmallBlock {
    ZeroedLaunch(const emulator::Kernel& kernel, std::uint32_t threads, std::uint32_t blocks)
        : SmallBlock(kernel, threads, {}, most_words, blocks) {
        std::memset(out, 0, most_words * 4);
        for (const auto& variable : kernel.module->variables())
            std::memset(variable.data, 0, variable.bytes);
    }
};

Blocks all_of(std::uint32_t blocks) {
    Blocks all(blocks);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

OrderSearch::Result search_together(const emulator::Kernel& kernel, std::uint32_t threads,
                                    std::uint32_t blocks, const Blocks& which,
                                    unsigned preemptions = 2) {
    ZeroedLaunch launch(kernel, threads, blocks);
    const OrderSearch search{.preemptions = preemptions, .time = std::chrono::seconds(20)};
    const auto found = search.run_together(launch.machine, launch.launch, which);
    EXPECT_EQ(launch.values(), std::vector<std::uint32_t>(most_words)) << "memory is as before";
    return found;
}

std::string text_of(const emulator::Kernel& kernel, const Witness& witness) {
    return ScheduleFile::of_units(kernel, *witness.together, witness.turns).text();
}

/// Replays the text of an order: in a whole launch, or in the stepper of one block.
std::vector<std::uint32_t> replayed_together(const emulator::Kernel& kernel, std::uint32_t threads,
                                             std::uint32_t blocks, const Witness& witness,
                                             std::optional<std::uint32_t> stepped) {
    ZeroedLaunch launch(kernel, threads, blocks);
    // The launch as its maker describes it: the size of the clusters is that of the kernel.
    const emulator::LaunchShape described{.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    ScheduleFile::parse(text_of(kernel, witness), "text")
        .apply(kernel, described, launch.launch.settings);
    EXPECT_EQ(launch.launch.settings.together, witness.together->blocks);
    EXPECT_EQ(launch.launch.settings.turns.empty() ? 0 : launch.launch.settings.turns[0].size(),
              witness.turns.empty() ? 0 : witness.turns[0].size());
    if (!stepped) {
        launch.machine.run(launch.launch);
        return launch.values();
    }
    emulator::Stepper stepper(launch.machine, launch.launch, *stepped);
    stepper.run();
    EXPECT_EQ(stepper.end(), emulator::Stepper::End::finished);
    return launch.values();
}

struct OfBlocks {
    unsigned with_witness = 0, without = 0, left_out = 0;
};

/// Compares the search in the blocks `which` of a kernel with all of their orders.
void compare(const emulator::Kernel& kernel, std::uint32_t threads, std::uint32_t blocks,
             const Blocks& which, unsigned preemptions, OfBlocks& counts) {
    SCOPED_TRACE(kernel.name);
    OrdersOfBlocks all(kernel, threads, blocks, which);
    std::vector<std::set<std::vector<std::uint32_t>>> results;
    for (unsigned bound = 0; bound <= preemptions; ++bound)
        if (const auto found = all.results(bound)) results.push_back(*found);
    if (results.size() <= preemptions) {
        ++counts.left_out;
        return;
    }
    const auto found = search_together(kernel, threads, blocks, which, preemptions);
    const std::optional<Witness>& witness = found.witnesses[0];
    const auto reference = all.reference(found.reference == ReferenceOrder::in_step);
    std::optional<unsigned> least;
    for (unsigned bound = 0; bound <= preemptions && !least; ++bound)
        if (results[bound] != std::set{reference}) least = bound;
    EXPECT_EQ(witness.has_value(), least.has_value());
    ++(least ? counts.with_witness : counts.without);
    if (!witness || !least) {
        EXPECT_EQ(found.exhausted, preemptions);
        return;
    }
    EXPECT_EQ(witness->preemptions, *least);
    if (!witness->error.empty()) return;
    const auto values = replayed_together(kernel, threads, blocks, *witness, {});
    EXPECT_TRUE(results[*least].contains(values)) << text_of(kernel, *witness);
    EXPECT_NE(values, reference);
    for (const std::uint32_t block : which)
        EXPECT_EQ(replayed_together(kernel, threads, blocks, *witness, block), values) << block;
}

OfBlocks compare_grids(std::uint32_t threads, std::uint32_t blocks, const Blocks& which,
                       unsigned preemptions) {
    OfBlocks counts;
    for (const auto& kernel : witness_module("grid").kernels()) {
        if (kernel->parameters.size() != 1) continue;
        // Of these, blocks run behind the listed ones too.
        if (which.size() < blocks && kernel->order_dependent) continue;
        compare(*kernel, threads, blocks, which, preemptions, counts);
    }
    return counts;
}

TEST(BlocksTogether, HaveAWitnessExactlyWhereAllOrdersOfTwoBlocksOfAWarpShowOne) {
    const OfBlocks counts = compare_grids(32, 2, {0, 1}, 2);
    EXPECT_GE(counts.with_witness, 6u);
    EXPECT_GE(counts.without, 6u);
    EXPECT_EQ(counts.left_out, 0u);
}

TEST(BlocksTogether, HaveAWitnessExactlyWhereAllOrdersOfTwoBlocksOfTwoWarpsShowOne) {
    const OfBlocks counts = compare_grids(64, 2, {0, 1}, 1);
    EXPECT_GE(counts.with_witness, 6u);
    EXPECT_GE(counts.without, 4u);
    EXPECT_LE(counts.left_out, 5u);  // these have too many orders
}

TEST(BlocksTogether, TwoBlocksOfALargerLaunchHaveAWitnessExactlyWhereAllTheirOrdersShowOne) {
    const OfBlocks counts = compare_grids(32, 6, {2, 3}, 2);
    EXPECT_GE(counts.with_witness, 4u);
    EXPECT_GE(counts.without, 4u);
    EXPECT_EQ(counts.left_out, 0u);
}

TEST(BlocksTogether, AMissingAtomicTakesOnePreemption) {
    const emulator::Kernel& kernel = *witness_module("grid").find("increments");
    const auto found = search_together(kernel, 32, 3, all_of(3));
    EXPECT_EQ(found.exhausted, 0u);
    ASSERT_TRUE(found.witnesses[0]);
    const Witness& witness = *found.witnesses[0];
    EXPECT_EQ(witness.preemptions, 1u);
    EXPECT_EQ(witness.expected, 3u);
    EXPECT_LT(witness.value, 3u);
    const std::string what = emulator::reversal_words(kernel, witness.reversal, witness.together);
    EXPECT_NE(what.find("warp 0 of block (1,0,0) runs to kernels/grid.cu:14"), what.npos) << what;
    EXPECT_NE(what.find("before warp 0 of block (0,0,0) has passed kernels/grid.cu:14"), what.npos)
        << what;
    const std::string text = text_of(kernel, witness);
    EXPECT_NE(text.find("\ntogether\nblock 0 0 0\nwarp 0 until kernels/grid.cu:14"), text.npos)
        << text;
}

// 100 blocks add 1 to one word. 98 of them have done so when the other two begin.
TEST(BlocksTogether, TheOtherBlocksOfALargeLaunchRunBefore) {
    const emulator::Kernel& kernel = *witness_module("grid").find("increments");
    const auto found = search_together(kernel, 32, 100, {7, 60});
    ASSERT_TRUE(found.witnesses[0]);
    const Witness& witness = *found.witnesses[0];
    EXPECT_EQ(witness.preemptions, 1u);
    EXPECT_EQ(witness.expected, 100u);
    EXPECT_EQ(witness.value, 99u);
    EXPECT_EQ(replayed_together(kernel, 32, 100, witness, {})[0], 99u);
    EXPECT_EQ(replayed_together(kernel, 32, 100, witness, 60)[0], 99u);
    const std::string text = text_of(kernel, witness);
    EXPECT_NE(text.find("\ntogether 7 0 0 and 60 0 0\nblock 7 0 0\nwarp 0 until "), text.npos)
        << text;
    // The window may step a block that has no listed turns.
    ZeroedLaunch launch(kernel, 32, 100);
    ScheduleFile::parse(text, "text").apply(kernel, launch.launch.launch, launch.launch.settings);
    emulator::Stepper stepper(launch.machine, launch.launch, 8);
    stepper.run();
    EXPECT_EQ(stepper.end(), emulator::Stepper::End::finished);
    EXPECT_EQ(launch.values()[0], 1u) << "it runs alone";

    const auto clean = search_together(*witness_module("grid").find("own_words"), 32, 8, {3, 5});
    EXPECT_FALSE(clean.witnesses[0]);
    const std::string covered = coverage_sentence(kernel, {}, clean);
    EXPECT_TRUE(
        covered.starts_with("All orders of the warps of blocks (3,0,0), (5,0,0) with at "
                            "most 2 preemptions give one result"))
        << covered;
}

// Word 0 counts the blocks that are done; the last one reads what all have written.
TEST(BlocksTogether, WhereBlocksDependOnTheirOrderThoseAboveRunBehind) {
    const emulator::Kernel& kernel = *witness_module("grid").find("last_block");
    ASSERT_TRUE(kernel.order_dependent);
    ZeroedLaunch launch(kernel, 32, 6);
    ScheduleFile::parse("kernel last_block\ntogether 2 0 0 and 3 0 0\nblock 3 0 0\nwarp 0\n", "x")
        .apply(kernel, launch.launch.launch, launch.launch.settings);
    launch.machine.run(launch.launch);
    const auto values = launch.values();
    for (std::uint32_t block = 0; block < 6; ++block) EXPECT_EQ(values[512 + block], block);
}

/// PTX of a kernel of clusters of two blocks: %r6 is the address of the thread's word of the tile,
/// %r10 that of the word in the other block, %rd3 that of its word of the result.
std::shared_ptr<const emulator::Module> of_clusters(const std::string& body) {
    return emulator::Module::parse(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry tiles(.param .u64 out)
.explicitcluster
.reqnctapercluster 2, 1, 1
{
.reg .b32 %r<16>;
.reg .b64 %rd<6>;
.reg .pred %p<4>;
.shared .align 8 .b8 tile[1024];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
mul.wide.u32 %rd2, %r4, 4;
add.s64 %rd3, %rd1, %rd2;
add.u32 %r5, %r4, 1;
mov.u32 %r6, tile;
mad.lo.u32 %r6, %r1, 4, %r6;
mov.u32 %r7, %cluster_ctarank;
xor.b32 %r8, %r7, 1;
mapa.shared::cluster.u32 %r10, %r6, %r8;
)" + body + "ret;\n}\n",
                                   "tiles");
}

struct OfClusters {
    const char* what;
    std::string body;
    std::optional<unsigned> preemptions;  ///< of the witness; nullopt: there is none
    std::uint32_t blocks = 4;
};

std::vector<OfClusters> cluster_kernels() {
    const std::string sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const std::string read = "st.shared.u32 [%r6], %r5;\n",
                      result = "st.global.u32 [%rd3], %r11;\n";
    const std::string load = "ld.shared::cluster.u32 %r11, [%r10];\n";
    const std::string push = "st.shared::cluster.u32 [%r10], %r5;\n",
                      own = "ld.shared.u32 %r11, [%r6];\n";
    const std::string first_lane = "and.b32 %r12, %r1, 31;\nsetp.ne.u32 %p1, %r12, 0;\n";
    const std::string counter =
        first_lane + "mov.u32 %r13, tile;\nmapa.shared::cluster.u32 %r13, %r13, 0;\n";
    const std::string add =
        "@%p1 bra ADDED;\nld.shared::cluster.u32 %r14, [%r13];\nadd.u32 %r14, %r14, 1;\n"
        "st.shared::cluster.u32 [%r13], %r14;\nADDED:\n";
    const std::string count = "ld.shared::cluster.u32 %r11, [%r13];\n" + sync + result;
    return {
        {"read behind the barrier", read + sync + load + sync + result, {}},
        {"read without the barrier", read + load + sync + result, 0},
        // A cluster that runs alone fails: its second block ends before the first one has read.
        {"the other block may have ended", read + sync + load + result, 0, 2},
        {"stored behind the barrier", sync + push + sync + own + result, {}},
        {"stored without the barrier", sync + push + own + sync + result, 0},
        {"added without an atomic", counter + sync + add + sync + count, 1},
        {"added with an atomic",
         counter + sync + "@!%p1 atom.shared::cluster.add.u32 %r14, [%r13], 1;\n" + sync + count,
         {}}};
}

TEST(BlocksTogether, HaveAWitnessExactlyWhereAllOrdersOfAClusterShowOne) {
    for (const auto& [what, body, preemptions, blocks] : cluster_kernels())
        for (const auto& [threads, bound] : {std::pair{32u, 2u}, {64u, 1u}}) {
            SCOPED_TRACE(fmt::format("{}, {} threads", what, threads));
            const Blocks which = threads == 32 ? Blocks{0, 1} : Blocks{blocks - 2, blocks - 1};
            const auto module = of_clusters(body);
            const emulator::Kernel& kernel = *module->find("tiles");
            OfBlocks counts;
            compare(kernel, threads, blocks, which, bound, counts);
            EXPECT_LE(counts.left_out, threads / 64) << "too many orders";
            const auto found = search_together(kernel, threads, blocks, which, bound);
            ASSERT_EQ(found.witnesses[0].has_value(), preemptions.has_value());
            if (preemptions) {
                EXPECT_EQ(found.witnesses[0]->preemptions, *preemptions);
            }
        }
}

// Block 3 ends before block 2 has read from it. Block 2 has stored to global memory before.
TEST(BlocksTogether, WhereAnotherBlockFailsNothingIsSearchedAndMemoryIsAsBefore) {
    const auto module = of_clusters(
        "st.global.u32 [%rd3], 7;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "setp.eq.u32 %p1, %r7, 1;\n@%p1 ret;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "ld.shared::cluster.u32 %r11, [%r10];\n");
    ZeroedLaunch launch(*module->find("tiles"), 32, 4);
    EXPECT_THROW(OrderSearch().run_together(launch.machine, launch.launch, {0, 1}),
                 emulator::Error);
    EXPECT_EQ(launch.values(), std::vector<std::uint32_t>(most_words));
}

TEST(BlocksTogether, ALaunchThatIsTooLargeIsSaidToBe) {
    const emulator::Kernel& kernel = *witness_module("grid").find("increments");
    EXPECT_THROW(search_together(kernel, 1024, 2, {0, 1}), emulator::Error);
    const auto module = of_clusters("");
    for (const Blocks& which : {Blocks{0}, Blocks{0, 2}, Blocks{0, 1, 2, 3}})
        EXPECT_THROW(search_together(*module->find("tiles"), 32, 4, which), emulator::Error);
    ZeroedLaunch launch(kernel, 32, 2);
    for (const char* wrong : {"kernel increments\ntogether\nblock 2 0 0\nwarp 0\n",
                              "kernel increments\ntogether\nblock 1 0 0\nwarp 1\n",
                              "kernel increments\ntogether 0 0 0 and 2 0 0\n",
                              "kernel increments\ntogether 0 0 0\nblock 1 0 0\nwarp 0\n"})
        EXPECT_THROW(ScheduleFile::parse(wrong, "x")
                         .apply(kernel, launch.launch.launch, launch.launch.settings),
                     emulator::Error)
            << wrong;
    for (const char* wrong :
         {"kernel increments\ntogether\nepoch 1\nwarp 0\n", "kernel increments\ntogether 0 0\n",
          "kernel increments\ntogether 0 0 0, 1 0 0\n"})
        EXPECT_THROW(ScheduleFile::parse(wrong, "x"), emulator::Error) << wrong;
}

}  // namespace
}  // namespace warpscope::tests
