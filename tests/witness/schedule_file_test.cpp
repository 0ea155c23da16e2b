#include "emulator/witness/schedule_file.h"

#include "all_orders.h"
#include "emulator/program/error.h"
#include "emulator/witness/witness_words.h"

namespace warpscope::tests {
namespace {

using emulator::ListedTurn;
using emulator::Schedule;
using emulator::ScheduleFile;

std::string error_of(const std::string& text) {
    try {
        const auto file = ScheduleFile::parse(text, "a.schedule");
        emulator::LaunchSettings settings;
        file.apply(*witness_module("kernels").find("mirror_no_barrier"), {{1, 1, 1}, {64, 1, 1}, 0},
                   settings);
    } catch (const emulator::Error& error) {
        return error.what();
    }
    return {};
}

TEST(ScheduleFile, HoldsWhatItsTextSays) {
    const ScheduleFile file = ScheduleFile::parse(
        "# an order\r\nkernel k\nblock 1 2 3\nwarp 4\nepoch 5\n"
        "  warp 6 until tile.h:14 (called at a.cu:9), access 2, pass 7  # here\n"
        "warp 6 with old values until a.cu:9\nwarp 6 with old values\n",
        "x");
    EXPECT_EQ(file.kernel, "k");
    EXPECT_EQ(file.block, (emulator::Dim3{1, 2, 3}));
    ASSERT_EQ(file.turns.size(), 4u);
    EXPECT_EQ(file.turns[0].epoch, 0u);
    EXPECT_EQ(file.turns[0].warp, 4u);
    EXPECT_EQ(file.turns[0].until, "");
    EXPECT_EQ(file.turns[1].epoch, 5u);
    EXPECT_EQ(file.turns[1].warp, 6u);
    EXPECT_EQ(file.turns[1].until, "tile.h:14 (called at a.cu:9)");
    EXPECT_EQ(file.turns[1].access, 2u);
    EXPECT_EQ(file.turns[1].pass, 7u);
    EXPECT_FALSE(file.turns[1].reads_old);
    EXPECT_TRUE(file.turns[2].reads_old);
    EXPECT_EQ(file.turns[2].until, "a.cu:9");
    EXPECT_TRUE(file.turns[3].reads_old);
    EXPECT_EQ(file.turns[3].until, "");
    const ScheduleFile again = ScheduleFile::parse(file.text(), "y");
    EXPECT_EQ(again.text(), file.text());
    EXPECT_EQ(again.turns[1].until, file.turns[1].until);
}

TEST(ScheduleFile, ErrorsNameTheLine) {
    EXPECT_EQ(error_of("warp 1\n"), "a.schedule:1: the line 'kernel NAME' is missing");
    EXPECT_EQ(
        error_of("kernel a\nwrap 1\n"),
        "a.schedule:2: 'wrap' is none of kernel, together, block, landing, copy, epoch and warp");
    EXPECT_EQ(error_of("kernel a\nwarp x\n"), "a.schedule:2: 'x' should be the number of a warp");
    EXPECT_EQ(error_of("kernel a\nwarp 1 upto a.cu:1\n"),
              "a.schedule:2: a warp is followed by 'with old values', by 'until PLACE' or by "
              "nothing");
    EXPECT_EQ(error_of("kernel a\nwarp 1 until a.cu:1, pass 0\n"),
              "a.schedule:2: numbers of accesses and passes begin with 1");
    EXPECT_EQ(error_of("kernel mirror_no_barrier\nwarp 1 until mine.cu:3\n"),
              "a.schedule:2: kernel mirror_no_barrier has 0 accesses at mine.cu:3, not 1");
    EXPECT_EQ(error_of("kernel mirror_no_barrier\nblock 1 0 0\n"),
              "a.schedule: there is no block 1 0 0: the grid of kernel mirror_no_barrier has 1x1x1 "
              "blocks");
    EXPECT_EQ(error_of("kernel another\nwarp 1 until mine.cu:3\n"), "");
    EXPECT_EQ(
        error_of("kernel k\nepoch 1\nwarp 0\ntogether\n"),
        "a.schedule:3: blocks that run together have no common epochs: leave the line 'epoch' "
        "out");
    const std::string known = "kernel mirror_no_barrier\n";
    EXPECT_EQ(error_of(known + "together\nwarp 2\n"), "a.schedule:3: a block has no warp 2");
    EXPECT_EQ(error_of(known + "together\nblock 0 1 0\nwarp 0\nblock 0 0 0\n"),
              "a.schedule:4: there is no block 0 1 0");
    EXPECT_EQ(error_of(known + "copy 1 of warp 0 late\n"),
              "a.schedule:2: a copy lands later only where the others land at once: add the line "
              "'landing at-once'");
    EXPECT_EQ(error_of(known + "landing at-once\ncopy 1 of warp 2 late\n"),
              "a.schedule:3: a block has no warp 2");
}

/// Thread t writes word t and reads word 63 - t: line 14 writes, line 15 reads.
std::vector<std::uint32_t> mirrored(const std::string& turns) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    const auto file = ScheduleFile::parse("kernel mirror_no_barrier\n" + turns, "x");
    emulator::LaunchSettings settings;
    file.apply(kernel, {{1, 1, 1}, {64, 1, 1}, 0}, settings);
    SmallBlock ran(kernel, 64, settings), stepped(kernel, 64, settings);
    ran.machine.run(ran.launch);
    emulator::Stepper stepper(stepped.machine, stepped.launch, 0);
    stepper.run();
    EXPECT_EQ(stepped.values(), ran.values());
    return ran.values();
}

TEST(ScheduleFile, TheOrderOfItsTurnsDecidesWhoReadsTooEarly) {
    std::vector<std::uint32_t> right(64), first_early(64), second_early(64);
    for (unsigned t = 0; t < 64; ++t) {
        right[t] = 63 - t;
        first_early[t] = t < 32 ? 0 : 63 - t;
        second_early[t] = t < 32 ? 63 - t : 0;
    }
    EXPECT_EQ(mirrored(""), first_early);
    EXPECT_EQ(mirrored("warp 1\n"), second_early);
    // Both warps have written before either reads.
    EXPECT_EQ(mirrored("warp 0 until kernels/kernels.cu:15\nwarp 1\n"), right);
    EXPECT_EQ(mirrored("warp 1 until kernels/kernels.cu:15\n"), right);
    EXPECT_EQ(mirrored("warp 1 until kernels/kernels.cu:14\n"), first_early);
    // The read is executed once: the turn never comes to a second one.
    EXPECT_EQ(mirrored("warp 1 until kernels/kernels.cu:15, pass 2\n"), second_early);
}

TEST(ScheduleFile, EachLineOfAnOrderHasItsFirstStep) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    const auto file = ScheduleFile::parse(
        "kernel mirror_no_barrier\nwarp 1 until kernels/kernels.cu:15\nwarp 0\nwarp 0\n", "text");
    const std::vector<std::string> words{"warp 1 runs until it is before kernels/kernels.cu:15",
                                         "warp 0 runs until it waits or ends",
                                         "warp 0 runs until it waits or ends",
                                         "then the next warps in their order, each until it waits "
                                         "or ends"};
    EXPECT_EQ(files::english(turn_words(file)), words);
    emulator::LaunchSettings settings;
    file.apply(kernel, {{1, 1, 1}, {64, 1, 1}, 0}, settings);
    SmallBlock block(kernel, 64, settings);
    emulator::Stepper stepper(block.machine, block.launch, 0);
    stepper.run();
    const auto history = stepper.history();
    const auto steps = turn_steps(file, history);
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps[0], 0u);
    ASSERT_TRUE(steps[1]);
    for (std::size_t k = 0; k < history.size(); ++k) {
        // Warp 1 reads at the end, in a turn that is not listed.
        const bool is_second = k >= *steps[1] && history[k].turn == 2;
        EXPECT_EQ(history[k].warp, is_second ? 0 : 1) << k;
        EXPECT_EQ(history[k].turn, k < *steps[1] ? 1 : is_second ? 2 : 0) << k;
    }
    EXPECT_FALSE(steps[2]) << "warp 0 has ended";
    EXPECT_FALSE(steps[3]);
}

}  // namespace
}  // namespace warpscope::tests
