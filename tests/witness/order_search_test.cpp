#include "emulator/witness/order_search.h"

#include <fmt/format.h>

#include "all_orders.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"

namespace warpscope::tests {
namespace {

using emulator::OrderSearch;
using emulator::ReferenceOrder;
using emulator::Schedule;
using emulator::Witness;

OrderSearch::Result search(const emulator::Kernel& kernel, std::uint32_t threads,
                           unsigned preemptions = 2) {
    SmallBlock block(kernel, threads);
    return OrderSearch{.preemptions = preemptions, .time = std::chrono::seconds(20)}.run(
        block.machine, block.launch, 0);
}

/// The result of a launch that replays the turns.
std::vector<std::uint32_t> replayed(const emulator::Kernel& kernel, std::uint32_t threads,
                                    const Witness& witness, bool by_stepper) {
    SmallBlock block(kernel, threads, {.schedule = Schedule::manual, .turns = witness.turns});
    if (!by_stepper) {
        block.machine.run(block.launch);
        return block.values();
    }
    emulator::Stepper stepper(block.machine, block.launch, 0);
    stepper.run();
    EXPECT_EQ(stepper.end(), emulator::Stepper::End::finished);
    return block.values();
}

struct Counts {
    unsigned with_witness = 0, without = 0, left_out = 0;
};

/// Compares the search with all orders of each kernel of a file.
Counts compare_all(const std::string& file, std::uint32_t threads, unsigned preemptions) {
    Counts counts;
    for (const auto& kernel : witness_module(file).kernels()) {
        if (kernel->parameters.size() != 1) continue;
        SCOPED_TRACE(kernel->name);
        AllOrders all(*kernel, threads);
        std::vector<std::set<std::vector<std::uint32_t>>> results;
        for (unsigned bound = 0; bound <= preemptions; ++bound)
            if (const auto found = all.results(bound)) results.push_back(*found);
        if (results.size() <= preemptions) {
            ++counts.left_out;
            continue;
        }
        const auto found = search(*kernel, threads, preemptions);
        const std::optional<Witness>& witness = found.witnesses[0];
        const auto reference =
            result_in(*kernel, threads, found.reference == ReferenceOrder::in_step);
        std::optional<unsigned> least;
        for (unsigned bound = 0; bound <= preemptions && !least; ++bound)
            if (results[bound] != std::set{reference}) least = bound;
        EXPECT_EQ(witness.has_value(), least.has_value());
        ++(least ? counts.with_witness : counts.without);
        if (!witness) {
            EXPECT_EQ(found.exhausted, preemptions);
            continue;
        }
        EXPECT_EQ(witness->preemptions, *least);
        if (*least > 0) {
            EXPECT_EQ(found.exhausted, *least - 1);
        }
        if (!witness->error.empty()) continue;
        for (const bool by_stepper : {false, true}) {
            const auto values = replayed(*kernel, threads, *witness, by_stepper);
            EXPECT_TRUE(results[*least].contains(values));
            EXPECT_EQ(std::count(values.begin(), values.end(), witness->value) > 0, true);
        }
    }
    return counts;
}

TEST(OrderSearch, FindsAWitnessExactlyWhereAllOrdersOfTwoWarpsShowOne) {
    const Counts counts = compare_all("kernels", 64, 2);
    EXPECT_GE(counts.with_witness, 9u);
    EXPECT_GE(counts.without, 20u);
    EXPECT_EQ(counts.left_out, 0u);
}

TEST(OrderSearch, FindsAWitnessExactlyWhereAllOrdersOfThreeWarpsShowOne) {
    const Counts counts = compare_all("kernels", 96, 1);
    EXPECT_GE(counts.with_witness, 9u);
    EXPECT_GE(counts.without, 17u);
    EXPECT_LE(counts.left_out, 3u);
}

// Most of these wait in a loop for another warp. The two with a lock have too many orders.
TEST(OrderSearch, FindsAWitnessExactlyWhereAllOrdersOfFencesAndAtomicsShowOne) {
    const Counts counts = compare_all("order", 64, 2);
    EXPECT_GE(counts.without, 24u);
    EXPECT_LE(counts.left_out, 2u);
}

/// The first lane of each warp adds 1 to word 0, without an atomic.
constexpr const char* counting = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry count(.param .u64 out) {
    .reg .u64 %rd<2>;
    .reg .u32 %r<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %tid.x;
    and.b32 %r2, %r2, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra DONE;
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
DONE:
    ret;
}
)";

TEST(OrderSearch, ALostUpdateTakesOnePreemption) {
    const auto module = emulator::Module::parse(counting, "counting");
    const emulator::Kernel& kernel = *module->find("count");
    const auto found = search(kernel, 96);
    EXPECT_EQ(found.reference, ReferenceOrder::serial);
    EXPECT_EQ(found.exhausted, 0u) << "the orders without a preemption are all right";
    ASSERT_TRUE(found.witnesses[0]);
    const Witness& witness = *found.witnesses[0];
    EXPECT_EQ(witness.preemptions, 1u);
    EXPECT_EQ(witness.expected, 3u);
    EXPECT_LT(witness.value, 3u);
    EXPECT_EQ(replayed(kernel, 96, witness, false)[0], witness.value);
    const std::string what = emulator::reversal_words(kernel, witness.reversal);
    EXPECT_TRUE(what.ends_with(" runs to PTX line 14 before warp 0 has passed PTX line 16"))
        << what;
}

TEST(OrderSearch, AnOrderIsReplayedFromItsText) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("rounds_one_barrier_short");
    const auto found = search(kernel, 64);
    ASSERT_TRUE(found.witnesses[0]);
    const std::string text =
        emulator::ScheduleFile::of(kernel, {0, 0, 0}, found.witnesses[0]->turns).text();
    Witness read;
    read.turns = emulator::ScheduleFile::parse(text, "text").turns_in(kernel);
    EXPECT_EQ(replayed(kernel, 64, read, false), replayed(kernel, 64, *found.witnesses[0], true));
}

TEST(OrderSearch, APairOfLinesHasItsOwnWitness) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    SmallBlock block(kernel, 64);
    const auto found = OrderSearch{.pairs = {{"kernels/kernels.cu:14", "kernels/kernels.cu:15"},
                                             {"kernels/kernels.cu:14", "kernels/kernels.cu:14"}}}
                           .run(block.machine, block.launch, 0);
    ASSERT_TRUE(found.witnesses[0]);
    EXPECT_EQ(
        emulator::reversal_words(kernel, found.witnesses[0]->reversal),
        "warp 0 runs to kernels/kernels.cu:15 before warp 1 has passed kernels/kernels.cu:14");
    EXPECT_FALSE(found.witnesses[1]) << "each thread writes a word of its own";
}

// Thread t reads cell 63 - t. Only what warp 0 computes is expected, so only orders in which it
// reads too early are witnesses.
TEST(OrderSearch, WithAnExpectedResultOnlyItsWordsCount) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror_no_barrier");
    SmallBlock block(kernel, 64);
    const std::uint64_t out = std::uint64_t(block.out);
    OrderSearch search;
    search.judge = [&](std::uint64_t address) {
        const std::uint64_t thread = (address - out) / 4;
        if (thread >= 32) return emulator::WordVerdict::unknown;
        return block.values()[thread] == 63 - thread ? emulator::WordVerdict::right
                                                     : emulator::WordVerdict::wrong;
    };
    const auto found = search.run(block.machine, block.launch, 0);
    EXPECT_EQ(found.judged, 32u);
    ASSERT_TRUE(found.witnesses[0]);
    EXPECT_EQ(found.witnesses[0]->words, 32u);
    EXPECT_EQ(found.witnesses[0]->address, out);
    EXPECT_EQ(found.witnesses[0]->expected, 63u);
    const std::string sentence =
        witness_sentence(block.machine, kernel, *found.witnesses[0], found);
    EXPECT_TRUE(
        sentence.ends_with("instead of 0x0000003f, and 31 more words differ from what is "
                           "expected."))
        << sentence;

    // What the reference makes wrong is spoilt by another wrong number.
    search.judge = [&](std::uint64_t address) {
        return address == out ? emulator::WordVerdict::wrong : emulator::WordVerdict::right;
    };
    const auto wrong = search.run(block.machine, block.launch, 0);
    EXPECT_EQ(wrong.judged, 63u);
    EXPECT_EQ(wrong.wrong, 1u);
    ASSERT_TRUE(wrong.witnesses[0]);
    EXPECT_TRUE(wrong.witnesses[0]->is_wrong_anyway);
    EXPECT_EQ(wrong.witnesses[0]->words, 1u);
    const std::string anyway = witness_sentence(block.machine, kernel, *wrong.witnesses[0], wrong);
    EXPECT_TRUE(
        anyway.ends_with("of the order in which all warps advance together, access by "
                         "access. That order does not give the expected result either."))
        << anyway;

    // A result that no order makes right is none: any word may differ again.
    search.judge = [](std::uint64_t) { return emulator::WordVerdict::wrong; };
    const auto any = search.run(block.machine, block.launch, 0);
    EXPECT_EQ(any.judged, 0u);
    EXPECT_TRUE(any.witnesses[0]);
}

// Warp 0 accesses memory once more than warp 1 before it stores what that reads, so that in step
// warp 1 comes too early. With an expected result, the order that gives it is the reference.
TEST(OrderSearch, TheReferenceIsTheOrderThatMakesMoreWordsRight) {
    const auto module = emulator::Module::parse(R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry late(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    .reg .pred %p<2>;
    .shared .align 4 .b8 cell[8];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.gt.u32 %p1, %r1, 31;
    @%p1 bra READS;
    st.shared.u32 [cell+4], 3;
    ld.shared.u32 %r2, [cell+4];
    st.shared.u32 [cell], %r2;
    bra DONE;
READS:
    ld.shared.u32 %r3, [cell];
    st.global.u32 [%rd3], %r3;
DONE:
    ret;
}
)",
                                                "late");
    SmallBlock block(*module->find("late"), 64);
    const std::uint64_t out = std::uint64_t(block.out);
    OrderSearch search;
    search.judge = [&](std::uint64_t address) {
        return block.values()[(address - out) / 4] == 3 ? emulator::WordVerdict::right
                                                        : emulator::WordVerdict::wrong;
    };
    const auto found = search.run(block.machine, block.launch, 0);
    EXPECT_EQ(found.reference, emulator::ReferenceOrder::serial);
    EXPECT_EQ(found.judged, 32u);
    EXPECT_EQ(found.wrong, 0u);
    ASSERT_TRUE(found.witnesses[0]);
    EXPECT_EQ(found.witnesses[0]->preemptions, 0u);
    EXPECT_EQ(found.witnesses[0]->expected, 3u);
    EXPECT_FALSE(found.witnesses[0]->is_wrong_anyway);
}

// A warp that waits for the phase of an mbarrier waits as at a barrier.
TEST(OrderSearch, SearchesKernelsWithMbarriersAndAsynchronousCopies) {
    struct Case {
        const char* kernel;
        std::optional<unsigned> preemptions;  ///< of the witness; nullopt: there is none
    };
    const Case cases[] = {{"waited_and_barrier", {}},    {"handed_over_by_all_lanes", {}},
                          {"copies_counted", {}},        {"pipeline_of_the_library", {}},
                          {"pipeline_of_stages", {}},    {"rows_handed_over", {}},
                          {"waited_without_barrier", 0}, {"waited_and_syncwarp", 0},
                          {"wrong_parity", 0},           {"copies_not_counted", 0},
                          {"pipeline_without_wait", 0},  {"pipeline_of_stages_by_syncwarp", 0},
                          {"phase_waited_for_twice", 1}};
    for (const Case& c : cases) {
        SCOPED_TRACE(c.kernel);
        const emulator::Kernel& kernel = *witness_module("async").find(c.kernel);
        SmallBlock block(kernel, 64, {.seed = 3}, 128);
        const auto found =
            OrderSearch{.time = std::chrono::seconds(20)}.run(block.machine, block.launch, 0);
        const std::optional<Witness>& witness = found.witnesses[0];
        ASSERT_EQ(witness.has_value(), c.preemptions.has_value());
        if (!witness) {
            EXPECT_EQ(found.exhausted, 2u);
            continue;
        }
        EXPECT_EQ(witness->preemptions, *c.preemptions);
        const std::string text =
            schedule_of(kernel, block.launch.launch.grid, {0, 0, 0}, *witness).text();
        const auto file = emulator::ScheduleFile::parse(text, "text");
        const bool has_copies = std::ranges::any_of(kernel.lines, [](const auto& line) {
            return line.text.find("cp.async") != std::string::npos;
        });
        EXPECT_EQ(file.landing == emulator::Landing::at_once, has_copies) << text;
        emulator::LaunchSettings settings;
        file.apply(kernel, block.launch.launch, settings);
        SmallBlock again(kernel, 64, settings, 128), stepped(kernel, 64, settings, 128);
        again.machine.run(again.launch);
        const std::size_t word = (witness->address - std::uint64_t(block.out)) / 4;
        EXPECT_EQ(again.values()[word], witness->value) << text;
        EXPECT_NE(witness->value, witness->expected);
        emulator::Stepper stepper(stepped.machine, stepped.launch, 0);
        stepper.run();
        EXPECT_EQ(stepped.values(), again.values());
    }
}

// Each copy lands at once, at the end of the turn that starts it, or as late as it may. Where a
// wait is missing, one copy that lands later is enough.
TEST(OrderSearch, AMissingWaitTakesOneCopyThatLandsLate) {
    for (const char* name : {"not_waited", "not_committed", "own_word_not_waited", "source_changed",
                             "waited_for_the_older_group"}) {
        SCOPED_TRACE(name);
        const emulator::Kernel& kernel = *witness_module("async").find(name);
        SmallBlock block(kernel, 64, {}, 128);
        const auto found =
            OrderSearch{.time = std::chrono::seconds(20)}.run(block.machine, block.launch, 0);
        ASSERT_TRUE(found.witnesses[0]);
        const Witness& witness = *found.witnesses[0];
        EXPECT_EQ(found.exhausted, 0u) << "all copies land at once: every order is right";
        EXPECT_EQ(witness.preemptions, 0u);
        ASSERT_EQ(witness.held.size(), 1u);
        EXPECT_TRUE(witness.held[0].late);
        const auto file = schedule_of(kernel, block.launch.launch.grid, {0, 0, 0}, witness);
        const std::string words =
            fmt::format("copy {} of warp {} ", witness.held[0].number, witness.held[0].warp);
        EXPECT_NE(file.text().find("landing at-once\n" + words + "late\n"), std::string::npos)
            << file.text();
        EXPECT_EQ(turn_words(file)[0], words + "lands as late as it may");
        const std::string sentence = witness_sentence(block.machine, kernel, witness, found);
        EXPECT_TRUE(sentence.starts_with(
            fmt::format("With 0 preemptions, the copy that warp {} starts at kernels/async.cu:14 "
                        "lands as late as it may: then byte ",
                        witness.held[0].warp)))
            << sentence;
        emulator::LaunchSettings settings;
        emulator::ScheduleFile::parse(file.text(), "text")
            .apply(kernel, block.launch.launch, settings);
        SmallBlock again(kernel, 64, settings, 128);
        again.machine.run(again.launch);
        EXPECT_EQ(again.values()[(witness.address - std::uint64_t(block.out)) / 4], witness.value);
    }
    for (const char* name : {"waited_and_barrier", "own_word_waited"}) {
        SCOPED_TRACE(name);
        SmallBlock block(*witness_module("async").find(name), 64, {}, 128);
        const OrderSearch search{.time = std::chrono::seconds(20)};
        const auto found = search.run(block.machine, block.launch, 0);
        EXPECT_FALSE(found.witnesses[0]);
        EXPECT_EQ(found.exhausted, 2u);
        EXPECT_NE(coverage_sentence(*block.launch.kernel, search, found)
                      .english()
                      .find("with at most 2 preemptions and copies that do not land at once give"),
                  std::string::npos);
    }
}

TEST(OrderSearch, SaysWhatWasCoveredAndNotMore) {
    const emulator::Kernel& kernel = *witness_module("kernels").find("mirror");
    const OrderSearch search{.preemptions = 1};
    OrderSearch::Result result{.witnesses = {std::nullopt},
                               .exhausted = 1,
                               .orders = 2187,
                               .tried_old_values = true,
                               .tried_all_old_values = true};
    const std::string fences =
        " Older values that loads may get change nothing. No order shows what a load does that a "
        "GPU executes later than it stands, and what an atomic operation does whose scope is too "
        "small.";
    EXPECT_EQ(coverage_sentence(kernel, search, result),
              "All 2 187 orders with at most 1 preemption give one result." + fences);
    result.exhausted = 0;
    EXPECT_EQ(coverage_sentence(kernel, search, result),
              "All 2 187 orders with at most 0 preemptions give one result. Orders with 1 "
              "preemption were not all run." +
                  fences);
    result.wrong = 2;
    EXPECT_EQ(coverage_sentence(kernel, search, result),
              "All 2 187 orders with at most 0 preemptions give one result. In each of them 2 "
              "expected words are wrong. Orders with 1 preemption were not all run." +
                  fences);
    result.judged = 5;
    EXPECT_TRUE(coverage_sentence(kernel, search, result)
                    .english()
                    .starts_with("All 2 187 orders with at most 0 preemptions leave the words that "
                                 "are expected as they are. "));
    result.judged = result.wrong = 0;
    result.exhausted.reset();
    result.turns = 9;
    EXPECT_EQ(coverage_sentence(kernel, search, result),
              "The orders without a preemption are too many: in 9 turns no result differed.");
}

}  // namespace
}  // namespace warpscope::tests
