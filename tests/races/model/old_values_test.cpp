#include <gtest/gtest.h>

#include <algorithm>

#include "emulated.h"
#include "random_programs.h"
#include "support/long_tests.h"

/// Loads that get older values (emulator::OldValues), compared with the memory model.
namespace warpscope::tests::memory_model {
namespace {

std::string outcome_of(const std::vector<std::uint32_t>& registers) {
    std::string text;
    for (std::size_t r = 0; r < registers.size(); ++r)
        text += "r" + std::to_string(r) + "=" + std::to_string(registers[r]) + " ";
    return text;
}

/// The outcome of an order in which `load` gets an older value than that of `store`; "": there is
/// none.
std::string old_outcome(const std::string& text, unsigned store, unsigned load,
                        std::vector<unsigned> blocks = {}, const std::string& space = ".global") {
    const Program program = program_of(text, std::move(blocks), space);
    const auto registers = EmulatedProgram(program).run_with_old_values({store, load});
    return registers ? outcome_of(*registers) : "";
}

TEST(OldValues, AreThoseOfAMessageWithoutFences) {
    const char* const message =
        "st x 1; st.relaxed.gpu f 1 | until 1 r0 = ld.relaxed.gpu f; r1 = ld x";
    EXPECT_EQ(old_outcome(message, 0, 3), "r0=1 r1=0 ");
    EXPECT_EQ(old_outcome(message, 0, 3, {0, 0}), "r0=1 r1=0 ");
    EXPECT_EQ(old_outcome(message, 0, 3, {0, 0}, ".shared"), "r0=1 r1=0 ");
}

TEST(OldValues, NeedNoMoreThanOneMissingFence) {
    EXPECT_EQ(old_outcome("st x 1; fence.acq_rel.gpu; st.relaxed.gpu f 1 | until 1 r0 = "
                          "ld.relaxed.gpu f; r1 = ld x",
                          0, 4),
              "r0=1 r1=0 ");
    EXPECT_EQ(old_outcome("st x 1; st.relaxed.gpu f 1 | until 1 r0 = ld.relaxed.gpu f; "
                          "fence.acq_rel.gpu; r1 = ld x",
                          0, 4),
              "r0=1 r1=0 ");
}

TEST(OldValues, AreNoneWhereFencesOrderTheStoreBeforeTheLoad) {
    EXPECT_EQ(old_outcome("st x 1; fence.acq_rel.gpu; st.relaxed.gpu f 1 | until 1 r0 = "
                          "ld.relaxed.gpu f; fence.acq_rel.gpu; r1 = ld x",
                          0, 5),
              "");
}

// The first load of x may get an older value, the second one may not: it has an acquire before it.
TEST(OldValues, AreThoseOfTheLoadThatNothingOrders) {
    const char* const text =
        "st x 1; st.release.gpu f 1 | until 1 r0 = ld.relaxed.gpu f; r1 = ld x; r2 = "
        "ld.acquire.gpu f; r3 = ld x";
    EXPECT_EQ(old_outcome(text, 0, 3), "r0=1 r1=0 r2=1 r3=1 ");
    EXPECT_EQ(old_outcome(text, 0, 5), "");
}

struct Place {
    std::string name;
    std::vector<unsigned> blocks;
    std::string space = ".global";
};

class OldValuesAndMemoryModel : public testing::TestWithParam<Place> {};

TEST_P(OldValuesAndMemoryModel, AgreeOnRandomPrograms) {
    const Place& place = GetParam();
    RandomPrograms programs(20261201);
    unsigned found = 0;
    const unsigned cases = random_cases(120) * (long_tests() ? 10 : 1);
    for (unsigned k = 0; k < cases; ++k) {
        const std::string text = programs.next();
        SCOPED_TRACE(text);
        const Program program = program_of(text, place.blocks, place.space);
        // Threads that wait in vain have orders without an end.
        if (std::ranges::any_of(program.operations, &Operation::waits)) continue;
        const EmulatedProgram emulated(program);
        for (const Race& race : races_of(program)) {
            const auto registers = emulated.run_with_old_values(race);
            if (!registers) continue;
            ++found;
            EXPECT_TRUE(is_allowed(program, outcome_of(*registers)))
                << outcome_of(*registers) << "is forbidden: race " << testing::PrintToString(race);
        }
    }
    EXPECT_GT(found, cases / 20) << "otherwise the property was hardly tested";
}

INSTANTIATE_TEST_SUITE_P(Places, OldValuesAndMemoryModel,
                         testing::Values(Place{"blocks_of_their_own", {0, 1, 2}},
                                         Place{"one_block", {0, 0, 0}},
                                         Place{"shared_memory", {0, 0, 0}, ".shared"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warpscope::tests::memory_model
