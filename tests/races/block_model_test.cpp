#include <fmt/format.h>

#include <random>

#include "emulator/checks/access_counters.h"
#include "emulator/checks/heat_map.h"
#include "emulator/order/warp_independence.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/grid_races.h"
#include "emulator/told_observers.h"
#include "race_kernels.h"

namespace warpscope::tests::block_model {
namespace {

using namespace emulator;

/// All observers that follow models, and of each a second one that does not.
struct Observers {
    explicit Observers(Machine& machine, bool tells = true)
        : heat(machine.memory()), told_heat(machine.memory()) {
        races.count_hazards_in(heat);
        grid_races.count_hazards_in(heat);
        told_races.count_hazards_in(told_heat);
        told_grid_races.count_hazards_in(told_heat);
        for (Observer* o : {static_cast<Observer*>(&races), static_cast<Observer*>(&grid_races),
                            static_cast<Observer*>(&counters), static_cast<Observer*>(&heat)})
            all.add(*o);
        for (Observer* o :
             {static_cast<Observer*>(&told_races), static_cast<Observer*>(&told_grid_races),
              static_cast<Observer*>(&told_counters), static_cast<Observer*>(&told_heat)})
            told.add(*o);
        if (tells) all.add(told);
    }

    RaceDetector races, told_races;
    GridRaces grid_races, told_grid_races;
    AccessCounters counters, told_counters;
    HeatMap heat, told_heat;
    ToldObservers told;
    ObserverList all;
};

std::string text_of(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& f : findings)
        text += fmt::format("{} {} [{}]\n", to_string(f.severity), f.sentence, f.count);
    return text;
}

void expect_equal(const std::vector<KernelHeat>& heat, const std::vector<KernelHeat>& other) {
    ASSERT_EQ(heat.size(), other.size());
    for (std::size_t k = 0; k < heat.size(); ++k) {
        const auto &arrays = heat[k].arrays, &others = other[k].arrays;
        ASSERT_EQ(arrays.size(), others.size());
        for (std::size_t a = 0; a < arrays.size(); ++a)
            for (std::size_t f = 0; f < heat_figures; ++f)
                for (std::uint64_t word = 0; word < arrays[a].words(); ++word)
                    ASSERT_EQ(arrays[a].count(HeatFigure(f), word),
                              others[a].count(HeatFigure(f), word))
                        << "figure " << f << " of word " << word << " of array " << a;
    }
}

void expect_equal(const KernelCounters& counters, const KernelCounters& others) {
    EXPECT_EQ(static_cast<const ExecutedWork&>(counters), static_cast<const ExecutedWork&>(others));
    EXPECT_EQ(counters.lines, others.lines);
    EXPECT_EQ(counters.blocks, others.blocks);
    EXPECT_EQ(counters.barriers, others.barriers);
}

void expect_equal(const Observers& o) {
    EXPECT_EQ(text_of(o.races.findings()), text_of(o.told_races.findings()));
    EXPECT_EQ(text_of(o.grid_races.findings()), text_of(o.told_grid_races.findings()));
    expect_equal(o.counters.kernels().at(0), o.told_counters.kernels().at(0));
    expect_equal(o.heat.kernels(), o.told_heat.kernels());
}

constexpr std::uint32_t blocks = 14, threads_per_block = 96, rounds = 6, patterns = 3;
constexpr std::uint32_t header_words = blocks * 3, array_bytes = threads_per_block * 8;
constexpr std::uint32_t table_words = patterns * threads_per_block * rounds;
constexpr std::uint32_t data_bytes = 1 << 16;

/// What a thread does in a round. The arrays A and B lie in global memory, from a word on that each
/// block chooses.
struct Operation {
    enum Array : std::uint32_t { shared, a, b, none };
    std::uint32_t array, store, wide, byte;
    /// In the lowest bits how; `none` and `store`: the thread exits.
    std::uint32_t word() const {
        const std::uint32_t how = array == none ? 12 + store : (wide * 3 + array) * 2 + store;
        return byte << 4 | how;
    }
};

/// Each thread reads its words of a table, and does what they say, with a barrier behind each
/// second one. A block has the number of its table and where its arrays begin in the header.
std::string kernel_of_tables() {
    std::string body = fmt::format(
        "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 12; add.s64 %rd2, %rd0, %rd2;"
        "ld.global.u32 %r3, [%rd2]; ld.global.u32 %r4, [%rd2+4]; ld.global.u32 %r5, [%rd2+8];"
        "mad.lo.u32 %r6, %r3, {}, %r1; mul.wide.u32 %rd3, %r6, {};"
        "add.s64 %rd3, %rd0, %rd3; and.b32 %r10, %r1, 3; mov.u32 %r14, cell;",
        threads_per_block, rounds * 4);
    for (const auto& [base, first] : {std::pair("%rd4", "%r4"), std::pair("%rd5", "%r5")})
        body += fmt::format("mul.wide.u32 {0}, {1}, 4; add.s64 {0}, %rd0, {0};", base, first);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        body += fmt::format(
            "ld.global.u32 %r7, [%rd3+{}]; and.b32 %r8, %r7, 15; shr.u32 %r9, %r7, 4;"
            "add.u32 %r11, %r9, %r14; cvt.u64.u32 %rd6, %r9; add.s64 %rd7, %rd4, %rd6;"
            "add.s64 %rd8, %rd5, %rd6;",
            header_words * 4 + round * 4);
        std::uint32_t how = 0;
        for (const bool wide : {false, true})
            for (const auto& [space, address] :
                 {std::pair("shared", "%r11"), std::pair("global", "%rd7"),
                  std::pair("global", "%rd8")}) {
                const char* type = wide ? "v2.u32" : "u32";
                const char* loaded = wide ? "{%r12, %r13}" : "%r12";
                const char* stored = wide ? "{%r10, %r1}" : "%r10";
                body += fmt::format("setp.eq.u32 %p0, %r8, {}; @%p0 ld.{}.{} {}, [{}];", how++,
                                    space, type, loaded, address);
                body += fmt::format("setp.eq.u32 %p0, %r8, {}; @%p0 st.{}.{} [{}], {};", how++,
                                    space, type, address, stored);
            }
        body += "setp.eq.u32 %p0, %r8, 13; @%p0 ret;\n";
        if (round % 2 == 1) body += "bar.sync 0;\n";
    }
    return kernel_text(body, fmt::format(".shared .align 8 .b8 cell[{}];", array_bytes));
}

class Tables {
  public:
    explicit Tables(std::mt19937& random) : random_(random) {
        for (std::uint32_t round = 0; round < rounds; ++round) add_clean_round(round);
        words.resize(table_words);
        for (std::uint32_t p = 1; p < patterns; ++p)
            for (std::uint32_t k = 0; k < threads_per_block * rounds; ++k)
                words[p * threads_per_block * rounds + k] = changed(words[k]);
        // A warp exits.
        const std::uint32_t round = pick(2) * pick(rounds), first = 32 * pick(3);
        for (std::uint32_t t = first; t < first + 32; ++t)
            words[((patterns - 1) * threads_per_block + t) * rounds + round] =
                Operation{Operation::none, 1, 0, 0}.word();
    }

    std::vector<std::uint32_t> words = std::vector<std::uint32_t>(threads_per_block * rounds);

  private:
    std::uint32_t pick(std::uint32_t below) { return std::uint32_t(random_() % below); }
    Operation any() {
        const std::uint32_t wide = pick(2), unit = wide ? 8 : 4;
        const std::uint32_t array = pick(12) == 0 ? Operation::none : pick(3);
        return {array, pick(2), wide, pick(array_bytes / unit) * unit};
    }
    // A store in place of a load, or the other way round; or something else.
    std::uint32_t changed(std::uint32_t word) {
        const bool is_access = (word & 15) < 12;
        if (pick(150) != 0) return word;
        return is_access && pick(2) ? word ^ 1 : any().word();
    }
    // Threads store to words of their own, or all of them read. The first operation initializes
    // shared memory.
    void add_clean_round(std::uint32_t round) {
        const std::uint32_t array = round == 0 ? 0 : pick(4);
        if (round % 2 == 0) store_ = round == 0 ? 1 : pick(2);
        const std::uint32_t wide = round == 0 ? 1 : pick(2), mixed = pick(2);
        const std::uint32_t lanes = pick(3) == 0 ? 1 + pick(32) : 32;
        for (std::uint32_t t = 0; t < threads_per_block; ++t) {
            Operation operation{array, store_, wide, t * 8};
            if (!store_ && mixed) operation.byte = pick(array_bytes / 8) * 8;
            if (round > 0 && t % 32 >= lanes) operation = {Operation::none, 0, 0, 0};
            if (operation.array == Operation::none) operation.store = 0;
            words[t * rounds + round] = operation.word();
        }
    }

    std::mt19937& random_;
    std::uint32_t store_ = 1;
};

// Most blocks do what the one before did; others do something else, a warp of theirs exits, or
// their arrays lie elsewhere or overlap.
TEST(BlockModelProperty, BlocksThatFollowAnotherOneHaveTheFindingsOfBlocksThatAreChecked) {
    const auto module = Module::parse(kernel_of_tables(), "test");
    std::mt19937 random(3);
    unsigned clean = 0, racing = 0, between_blocks = 0;
    for (int round = 0; round < 120; ++round) {
        const Tables tables(random);
        std::vector<std::uint32_t> header;
        std::uint32_t pattern = random() % 2;
        for (std::uint32_t block = 0; block < blocks; ++block) {
            if (random() % 5 == 0) pattern = random() % patterns;
            header.push_back(pattern);
            const std::uint32_t data = header_words + table_words;
            header.push_back(data + (random() % 6 == 0 ? random() % 16 * 2 : block * 256));
            const bool overlaps = random() % 8 == 0;
            header.push_back(overlaps ? header.back() + random() % 64 * 2
                                      : data + 4096 + (random() % 6 ? block : random() % 4096) * 2);
        }
        Machine machine(3);
        Observers observers(machine);
        void* out =
            machine.memory().allocate((header_words + table_words) * 4 + data_bytes + array_bytes);
        auto* words = static_cast<std::uint32_t*>(out);
        std::copy(header.begin(), header.end(), words);
        std::copy(tables.words.begin(), tables.words.end(), words + header_words);
        const std::uint32_t n = 0;
        const void* arguments[] = {&out, &n};
        Observers on_threads(machine);
        const auto run = [&](unsigned threads, Observer& observer) {
            machine.run(*module->kernels().front(), {{blocks, 1, 1}, {threads_per_block, 1, 1}, 0},
                        arguments, {.seed = std::uint64_t(round), .threads = threads}, &observer);
        };
        run(1, observers.all);
        run(3, on_threads.all);
        SCOPED_TRACE(round);
        expect_equal(observers);
        // What racing blocks store depends on the moment, and findings compare what is stored.
        if (observers.grid_races.findings().empty())
            EXPECT_EQ(text_of(observers.races.findings()), text_of(on_threads.races.findings()));
        EXPECT_EQ(text_of(observers.grid_races.findings()),
                  text_of(on_threads.grid_races.findings()));
        expect_equal(observers.counters.kernels().at(0), on_threads.counters.kernels().at(0));
        expect_equal(observers.heat.kernels(), on_threads.heat.kernels());
        EXPECT_EQ(observers.races.racing_words().size(), array_bytes / 4);
        ++(observers.races.findings().empty() ? clean : racing);
        between_blocks += observers.grid_races.findings().empty() ? 0 : 1;
    }
    EXPECT_GT(between_blocks, 20u);
    EXPECT_LT(between_blocks, 110u);
    EXPECT_GT(clean, 10u);
    EXPECT_GT(racing, 50u);
}

/// Launches six blocks of 64 threads, of which block 3 differs from the others. The findings with
/// and without a model, which must be equal.
std::vector<Finding> findings_of(const std::string& body) {
    Runner r(
        kernel_text("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p0, %r2, 3; mul.wide.u32 %rd2, %r2, 1024;"
                    "add.s64 %rd3, %rd0, %rd2; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd3, %rd3, %rd4;"
                    "mov.u32 %r20, cell; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r20;" +
                        body,
                    shared_words));
    Observers observers(r.machine);
    r.observer = &observers.all;
    r.options = {.schedule = Schedule::run_to_barrier, .threads = 1};
    r.run({{6, 1, 1}, {64, 1, 1}, 0}, 0, 2048);
    expect_equal(observers);
    return observers.races.findings();
}

// Each thread reads what the opposite one wrote; the upper warp of one block writes nothing.
TEST(BlockModel, AWarpThatExitsLeavesWordsUnwritten) {
    const auto findings = findings_of(
        "setp.ge.u32 %p1, %r1, 32; and.pred %p1, %p0, %p1; @%p1 ret;"
        "st.shared.u32 [%r3], %r1; bar.sync 0;"
        "xor.b32 %r4, %r3, 252; ld.shared.u32 %r5, [%r4];");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::uninitialized);
    EXPECT_EQ(findings[0].count, 32u);
}

// Threads read every second word and write the words between; in one block, the words that the next
// thread reads. The last thread has no next one.
TEST(BlockModel, ArraysOfABlockMoveTogether) {
    const auto findings = findings_of(
        "ld.global.u32 %r5, [%rd3]; add.s64 %rd4, %rd3, 4; @%p0 add.s64 %rd4, %rd4, 4;"
        "st.global.u32 [%rd4], %r5;");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::warning), 62u);
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 1u);
}

// Lanes 0 to 19 of one block store to words of their own, and lane 20 to that of lane 19.
TEST(BlockModel, OtherLanesAreOtherAccesses) {
    const auto findings = findings_of(
        "setp.gt.u32 %p1, %r1, 20; and.pred %p1, %p0, %p1; @%p1 bra END;"
        "setp.eq.u32 %p2, %r1, 20; and.pred %p2, %p0, %p2; @%p2 sub.u32 %r3, %r3, 4;"
        "st.shared.u32 [%r3], %r1; END:");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::warning), 1u);
    EXPECT_EQ(findings.size(), 1u);
}

// Both warps read the words of the first one; in one block they write them.
TEST(BlockModel, StoresInPlaceOfLoadsAreOtherAccesses) {
    const auto findings = findings_of(
        "st.shared.u32 [%r3], %r1; bar.sync 0; and.b32 %r4, %r1, 31; shl.b32 %r4, %r4, 2;"
        "add.u32 %r4, %r4, %r20; @%p0 bra STORE; ld.shared.u32 %r5, [%r4]; bra END;"
        "STORE: st.shared.u32 [%r4], %r1; END:");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 32u);
}

// In one block 16 threads read pairs of words that 31 other threads wrote, with a barrier missing.
TEST(BlockModel, WiderAccessesAreOtherAccesses) {
    const auto findings = findings_of(
        "st.shared.u32 [%r3], %r1; setp.gt.u32 %p1, %r1, 15; @%p1 bra END;"
        "shl.b32 %r4, %r1, 3; add.u32 %r4, %r4, %r20; @!%p0 ld.shared.u32 %r5, [%r3];"
        "@%p0 ld.shared.v2.u32 {%r5, %r6}, [%r4]; END:");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::warning), 31u);
}

// Whether two lanes race depends on the values that they store.
TEST(BlockModel, ABlockWhoseValuesCountIsNoModel) {
    const auto findings = findings_of(
        "mov.u32 %r5, 1; @%p0 add.u32 %r5, %r5, %r1; st.shared.u32 [%r20], %r5; bar.sync 0;");
    // Of each warp in each block: the other warp's value. In block 3, also 31 values in each warp.
    EXPECT_EQ(count(findings, FindingKind::race, Severity::warning), 5 * 32 + 2 * 31u);
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 32u);
}

/// Observes a launch of 64 threads a block, once with observers that are told of all events beside
/// those that follow models, and once without them.
class ProvedBlocks {
  public:
    /// `n`: what the threads get as %r0.
    ProvedBlocks(const std::string& body, std::uint32_t blocks, std::uint32_t n,
                 unsigned threads = 1)
        : module_(Module::parse(kernel_text(body, shared_words), "test")) {
        void* out = machine_.memory().allocate(out_bytes);
        const void* arguments[] = {&out, &n};
        FrozenLaunch launch =
            Machine::freeze(*module_->kernels().front(), {{blocks, 1, 1}, {64, 1, 1}, 0}, arguments,
                            {.threads = threads});
        EXPECT_EQ(obstacles_to_independence(launch, machine_.memory()).warps, "");
        launch.options.independent_warps = true;
        error = error_of([&] { machine_.run(launch, &followers.all); });
        launch.options.threads = 1;
        error_of([&] { machine_.run(launch, &both.all); });
        if (error.empty()) {
            expect_equal(both);
            expect_equal(followers.counters.kernels().at(0), both.counters.kernels().at(0));
            expect_equal(followers.heat.kernels(), both.heat.kernels());
        }
        EXPECT_EQ(text_of(both.grid_races.findings()), text_of(both.told_grid_races.findings()));
        EXPECT_EQ(text_of(followers.grid_races.findings()), text_of(both.grid_races.findings()));
        EXPECT_EQ(text_of(followers.races.findings()), text_of(both.told_races.findings()));
    }

  private:
    static constexpr std::size_t out_bytes = 1 << 16;
    std::shared_ptr<const Module> module_;
    Machine machine_{3};

  public:
    Observers followers{machine_, false}, both{machine_};
    std::string error;
};

/// Each thread stores the number that the opposite thread has written into shared memory, if its
/// index in the launch is below %r0: as its own word, or `stride` words from that of its neighbour.
/// It reads the number before the comparison, or behind it.
std::string mirror(unsigned stride, bool reads_behind = false) {
    const std::string read = "ld.shared.u32 %r7, [%r6];";
    return fmt::format(
        "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mov.u32 %r20, cell;"
        "shl.b32 %r4, %r1, 2; add.u32 %r5, %r4, %r20; st.shared.u32 [%r5], %r3; bar.sync 0;"
        "xor.b32 %r6, %r4, 252; add.u32 %r6, %r6, %r20; {} setp.ge.u32 %p1, %r3, %r0;"
        "@%p1 bra END; {} mul.wide.u32 %rd2, %r3, {}; add.s64 %rd3, %rd0, %rd2;"
        "st.global.u32 [%rd3], %r7; END:",
        reads_behind ? "" : read, reads_behind ? read : "", stride * 4);
}

TEST(ProvedBlocks, CountAsThoseThatAreTold) {
    const ProvedBlocks proved(mirror(1), 40, 1 << 20);
    EXPECT_TRUE(proved.followers.races.findings().empty());
    EXPECT_TRUE(proved.followers.grid_races.findings().empty());
    EXPECT_EQ(proved.followers.counters.kernels().at(0).shared_loads.requests, 80u);
}

// Threads whose index is too high store nothing.
TEST(ProvedBlocks, MayStoreElsewhereThanTheModel) {
    for (const std::uint32_t n : {64u, 100u, 200u, 1000u, 2559u})
        for (const unsigned threads : {1u, 3u}) {
            SCOPED_TRACE(n);
            for (const bool reads_behind : {false, true}) {
                ProvedBlocks(mirror(1, reads_behind), 40, n, threads);
                ProvedBlocks(mirror(3, reads_behind), 40, n, threads);
            }
        }
}

// All blocks store to the words of the first one.
TEST(ProvedBlocks, MayRaceWithEachOther) {
    const ProvedBlocks proved(
        "mov.u32 %r20, cell; shl.b32 %r4, %r1, 2; add.u32 %r5, %r4, %r20;"
        "st.shared.u32 [%r5], %r1; bar.sync 0; xor.b32 %r6, %r4, 252; add.u32 %r6, %r6, %r20;"
        "ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd1], %r7;",
        20, 0, 3);
    EXPECT_EQ(count(proved.followers.grid_races.findings(), FindingKind::race, Severity::error),
              64u);
}

// Block 30 stores behind the end of the allocation, after a part of its warps has stored before it.
TEST(ProvedBlocks, MayFail) {
    const ProvedBlocks proved(mirror(9), 40, 1 << 20);
    EXPECT_NE(proved.error, "");
    EXPECT_TRUE(proved.followers.counters.kernels().empty());
}

}  // namespace
}  // namespace warpscope::tests::block_model
