#include "random_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "emulated.h"
#include "support/long_tests.h"

/// The race check on random programs, compared with the memory model.
namespace warpscope::tests::memory_model {
namespace {

bool have_one_word(const Operation& a, const Operation& b) {
    return !a.is_fence() && !b.is_fence() && a.location == b.location;
}

/// An atom.cas that does not store is a read (8.4). The race check takes it for a write, since it
/// may store in another run.
bool is_judged_otherwise(const Program& program) {
    const auto& all = program.operations;
    const auto may_race = [](const Operation& o) {
        return !o.is_strong() || o.order == Order::volatile_ || o.scope == Scope::cta;
    };
    return std::ranges::any_of(all, [&](const Operation& swap) {
        return swap.kind == Kind::compare && std::ranges::any_of(all, [&](const Operation& o) {
                   return have_one_word(swap, o) && (may_race(o) || may_race(swap));
               });
    });
}

/// True for volatile operations that MemoryOrders takes for weak, since most kernels say volatile
/// only to keep the compiler from removing an access: a load that nobody repeats until it reads
/// some value, and a store that neither such a load, another strong load nor an atomic may read.
bool counts_as_weak(const Operation& o, const Program& program) {
    if (o.order != Order::volatile_) return false;
    if (o.kind == Kind::load) return !o.awaited;
    return std::ranges::none_of(program.operations, [&](const Operation& reader) {
        return have_one_word(o, reader) && reader.reads() && reader.is_strong() &&
               !counts_as_weak(reader, program);
    });
}

/// The program as far as the race check is meant to follow it, which does not know of the order of
/// fence.sc operations.
Program weaker(const Program& program) {
    Program weaker = program;
    for (std::size_t a = 0; a < program.operations.size(); ++a) {
        Order& order = weaker.operations[a].order;
        if (counts_as_weak(program.operations[a], program)) order = Order::weak;
        if (order == Order::sc) order = Order::acq_rel;
    }
    return weaker;
}

class Comparison {
  public:
    explicit Comparison(const Program& program)
        : program_(program), emulated_(program), possible_(races_of(program)) {
        possible_.merge(races_of(weaker(program)));
    }

    /// Runs the program in some orders.
    void run(std::mt19937& random, bool finds_all) {
        using emulator::Schedule;
        std::vector<unsigned> turns;
        for (const Operation& o : program_.operations) turns.push_back(o.thread);
        for (unsigned k = 0; k < 6; ++k) {
            if (const auto run = emulated_.run_in_turns(turns)) compare(*run, finds_all);
            std::ranges::shuffle(turns, random);
        }
        // Blocks that wait for each other run together.
        if (std::ranges::any_of(program_.operations, &Operation::waits)) return;
        compare(emulated_.run({.schedule = Schedule::run_to_barrier}), finds_all);
        compare(emulated_.run(
                    {.schedule = Schedule::reverse, .block_order = emulator::GridOrder::reverse}),
                finds_all);
    }
    unsigned racing = 0, clean = 0;  ///< runs

  private:
    void compare(const Emulated& run, bool finds_all) {
        const Replayed observed = replay(program_, run.operations);
        SCOPED_TRACE("operations " + testing::PrintToString(run.operations) + ", found " +
                     testing::PrintToString(run.races));
        EXPECT_TRUE(observed.is_allowed) << "the emulator does what the model forbids";
        EXPECT_EQ(observed.registers, run.registers);
        for (const Race& race : run.races)
            EXPECT_TRUE(possible_.contains(race) || are_volatile_stores(race))
                << testing::PrintToString(race) << " race in no execution";
        for (const Race& race : observed.races)
            EXPECT_TRUE(
                !finds_all ||
                std::ranges::any_of(
                    run.races, [&](const Race& found) { return word_of(found) == word_of(race); }))
                << testing::PrintToString(race) << " race, and are not found";
        ++(observed.races.empty() ? clean : racing);
    }
    /// They race wherever nothing orders them: see MemoryOrders.
    bool are_volatile_stores(const Race& race) const {
        const auto is_one = [&](unsigned a) {
            const Operation& o = program_.operations[a];
            return o.order == Order::volatile_ && o.may_write();
        };
        return is_one(race.first) && is_one(race.second);
    }
    unsigned word_of(const Race& race) const { return program_.operations[race.first].location; }

    const Program& program_;
    const EmulatedProgram emulated_;
    std::set<Race> possible_;  ///< that may be reported
};

/// The blocks of the threads.
struct Layout {
    std::string name;
    std::vector<unsigned> blocks;
    /// A relaxed store publishes what comes before the newest fence of its block: see BlockClocks.
    /// So some races are not found where several threads of a block have other blocks beside them.
    bool finds_all = true;
    std::string space = ".global";
};

class RaceCheckAndMemoryModel : public testing::TestWithParam<Layout> {};

// The check may report only what races in some allowed execution; and where the execution that was
// emulated has races of a word, it reports one of them.
TEST_P(RaceCheckAndMemoryModel, AgreeOnRandomPrograms) {
    const Layout& layout = GetParam();
    RandomPrograms programs(20261130);
    std::mt19937 random(1);
    unsigned racing = 0, clean = 0;
    const unsigned cases = random_cases(150) * (long_tests() ? 10 : 1);
    for (unsigned k = 0; k < cases; ++k) {
        const std::string text = programs.next();
        const Program program = program_of(text, layout.blocks, layout.space);
        if (is_judged_otherwise(program)) continue;
        SCOPED_TRACE(text);
        Comparison comparison(program);
        comparison.run(random, layout.finds_all);
        racing += comparison.racing;
        clean += comparison.clean;
    }
    EXPECT_GT(racing, cases / 2) << "otherwise the property was hardly tested";
    EXPECT_GT(clean, cases / 2);
}

INSTANTIATE_TEST_SUITE_P(Layouts, RaceCheckAndMemoryModel,
                         testing::Values(Layout{"blocks_of_their_own", {0, 1, 2}},
                                         Layout{"one_block", {0, 0, 0}},
                                         Layout{"shared_memory", {0, 0, 0}, true, ".shared"},
                                         Layout{"two_blocks", {0, 0, 1}, false}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warpscope::tests::memory_model
