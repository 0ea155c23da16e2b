#include <fmt/format.h>

#include <random>

#include "block_model_observers.h"

namespace warpscope::tests::block_model {
namespace {

constexpr std::uint32_t blocks = 14, threads_per_block = 96, rounds = 6, patterns = 3;
constexpr std::uint32_t header_words = blocks * 3, array_bytes = threads_per_block * 8;
constexpr std::uint32_t table_words = patterns * threads_per_block * rounds;
constexpr std::uint32_t data_bytes = 1 << 16;

/// What a thread does in a round. The arrays A and B lie in global memory, from a word on that each
/// block chooses.
struct Operation {
    enum Array : std::uint32_t { shared, a, b, none, atomic };
    std::uint32_t array, store, wide, byte;
    /// In the lowest bits how; `none` and `store`: the thread exits; `atomic`: on shared memory, or
    /// with `store` on A.
    std::uint32_t word() const {
        const std::uint32_t how = array == none     ? 12 + store
                                  : array == atomic ? 14 + store
                                                    : (wide * 3 + array) * 2 + store;
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
        body +=
            "setp.eq.u32 %p0, %r8, 14; @%p0 atom.shared.exch.b32 %r12, [%r11], %r10;"
            "setp.eq.u32 %p0, %r8, 15; @%p0 atom.global.exch.b32 %r12, [%rd7], %r10;"
            "setp.eq.u32 %p0, %r8, 13; @%p0 ret;\n";
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
        const std::uint32_t array = pick(12) == 0  ? Operation::none
                                    : pick(4) == 0 ? Operation::atomic
                                                   : pick(3);
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
    const auto machine_code = compiled(module);
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
        const auto run = [&](unsigned threads, Observer& observer,
                             std::shared_ptr<const Kernel> form = nullptr) {
            const Kernel& kernel = *module->kernels().front();
            machine.run(
                Machine::freeze(kernel, {{blocks, 1, 1}, {threads_per_block, 1, 1}, 0}, arguments,
                                {.seed = std::uint64_t(round), .threads = threads}),
                &observer, {.code = std::move(form), .make_events = alike_events(kernel, false)});
        };
        run(1, observers.all);
        run(3, on_threads.all);
        SCOPED_TRACE(round);
        expect_equal(observers);
        if (machine_code) {
            Observers in_machine_code(machine, false);
            std::fill_n(words + header_words + table_words, (data_bytes + array_bytes) / 4, 0);
            run(1, in_machine_code.all, machine_code);
            expect_equal(observers, in_machine_code);
        }
        // What racing blocks store depends on the moment, and findings compare what is stored.
        if (observers.grid_races.findings().empty()) {
            EXPECT_EQ(text_of(observers.races.findings()), text_of(on_threads.races.findings()));
        }
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

/// Launches six blocks of 64 threads, of which block 3 differs from the others: interpreted and
/// compiled, with and without a model, under several schedules. The findings, which must be equal;
/// those of the schedule that runs warp after warp are returned.
std::vector<Finding> findings_of(const std::string& body, std::string* error = nullptr) {
    Runner r(
        kernel_text("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p0, %r2, 3; mul.wide.u32 %rd2, %r2, 1024;"
                    "add.s64 %rd3, %rd0, %rd2; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd3, %rd3, %rd4;"
                    "mov.u32 %r20, cell; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r20;" +
                        body,
                    shared_words));
    const auto machine_code = compiled(r.module);
    const auto launch = [&](const LaunchSettings& settings, Observers& observers,
                            std::shared_ptr<const Kernel> form = nullptr) {
        r.observer = &observers.all;
        r.settings = settings;
        r.method = {.code = std::move(form),
                    .make_events = alike_events(*r.module->kernels().front(), false)};
        return error_of([&] { r.run({{6, 1, 1}, {64, 1, 1}, 0}, 0, 2048); });
    };
    std::vector<Finding> found;
    for (const LaunchSettings& schedule : schedules()) {
        LaunchSettings settings = schedule;
        settings.threads = 1;
        Observers observers(r.machine), spared(r.machine, false), in_machine_code(r.machine, false);
        const std::string failure = launch(settings, observers);
        EXPECT_EQ(failure, launch(settings, spared));
        if (failure.empty()) expect_equal(observers);
        expect_equal(observers, spared);
        if (machine_code) {
            EXPECT_EQ(failure, launch(settings, in_machine_code, machine_code));
            expect_equal(observers, in_machine_code);
        }
        if (error) *error = failure;
        if (found.empty())
            found = merged({observers.races.findings(), observers.grid_races.findings()});
    }
    return found;
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
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 1u);
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
    // Of each block, 31 values in each warp, and the other warp's value.
    EXPECT_EQ(count(findings, FindingKind::race, Severity::note), 5 * (32 + 2 * 31u));
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 32 + 2 * 31u);
}

// In one block the upper warp adds to the words that the lower one stores.
TEST(BlockModel, AnAtomicInPlaceOfAStoreIsAnotherAccess) {
    const auto findings = findings_of(
        "setp.ge.u32 %p1, %r1, 32; and.pred %p1, %p0, %p1; @%p1 sub.u32 %r3, %r3, 128;"
        "@!%p1 st.shared.u32 [%r3], %r1; @%p1 atom.shared.add.u32 %r5, [%r3], 1;");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 32u);
    EXPECT_EQ(findings.size(), 1u);
}

// One block adds to the words that another one stores, or all of them add to the words of the
// first.
TEST(BlockModel, AtomicsOfABlockRaceWithBlocksThatFollowTheModel) {
    const auto stored =
        findings_of("@%p0 red.global.add.u32 [%rd3-1024], 1; @!%p0 st.global.u32 [%rd3], %r1;");
    EXPECT_EQ(count(stored, FindingKind::race, Severity::error), 64u);
    const auto added = findings_of(
        "mul.wide.u32 %rd5, %r1, 8; add.s64 %rd5, %rd0, %rd5; red.global.add.u32 [%rd5], 1;"
        "st.global.u32 [%rd3+512], %r1;");
    EXPECT_TRUE(added.empty());
}

// Each block reads words of its own; one of them stores to the words of block 2, or of block 5.
TEST(BlockModel, AStoreRacesWithBlocksThatHaveOnlyReadTheMemory) {
    for (const char* distance : {"-1024", "2048"}) {
        const auto findings =
            findings_of(fmt::format("ld.global.u32 %r5, [%rd3]; st.shared.u32 [%r3], %r5;"
                                    "@%p0 st.global.u32 [%rd3+{}], %r5;",
                                    distance));
        EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 64u) << distance;
        EXPECT_EQ(findings.size(), 1u);
    }
}

// Each thread stores to a word of its own; in one block, the upper half of the upper warp to the
// words of the first 16 threads.
TEST(BlockModel, TheHalvesOfAWarpMoveTogether) {
    const auto findings = findings_of(
        "mul.wide.u32 %rd5, %r1, 4; sub.s64 %rd5, %rd3, %rd5; setp.ge.u32 %p1, %r1, 48;"
        "and.pred %p1, %p0, %p1; @%p1 sub.s64 %rd5, %rd5, 192; st.global.u32 [%rd5], %r1;");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 16u);
}

// The kind of the hazard depends on which of the two warps runs first. Before it, both have done
// what the model does.
TEST(BlockModel, TheOrderOfWarpsIsKeptForABlockThatLeaves) {
    const auto findings = findings_of(
        "st.shared.u32 [%r3], %r1; setp.ge.u32 %p1, %r1, 32; and.pred %p1, %p0, %p1;"
        "@%p1 sub.u32 %r3, %r3, 128; ld.shared.u32 %r5, [%r3];");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].hazard, Hazard::read_after_write);
    EXPECT_EQ(findings[0].count, 32u);
}

// In one block all lanes read the first word before they store. Of the loads by the lower warp, 31
// lanes do not store to that word; of those by the upper warp, which come later, none does.
TEST(BlockModel, LoadsOfOneAddressComeBeforeTheStoresBehindThem) {
    const auto findings = findings_of(
        "@!%p0 bra STORE; ld.shared.u32 %r5, [%r20]; STORE: st.shared.u32 [%r3], %r1; bar.sync 0;"
        "ld.shared.u32 %r6, [%r3];");
    EXPECT_EQ(count(findings, FindingKind::race, Severity::warning), 1u);
    EXPECT_EQ(count(findings, FindingKind::race, Severity::error), 32u);
    EXPECT_EQ(count(findings, FindingKind::uninitialized, Severity::error), 32u);
}

// All blocks store to the words of the first one, from word 31 on. Of each warp, the first word
// lies alone in a group of 32 words: its value is known. Those of the others are known only where
// the address cannot depend on the block.
TEST(BlockModel, TheValuesOfStoresCount) {
    const std::string address = "mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd0, %rd5;";
    const auto equal = findings_of(address + "st.global.u32 [%rd5+124], %r1;");
    EXPECT_EQ(count(equal, FindingKind::race, Severity::note), 64u);
    EXPECT_EQ(count(equal, FindingKind::race, Severity::error), 0u);
    const auto of_block = findings_of(
        "mov.u32 %r5, %ctaid.x; and.b32 %r5, %r5, 0; add.u32 %r5, %r5, %r1;"
        "mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd0, %rd5; st.global.u32 [%rd5+124], %r1;");
    EXPECT_EQ(count(of_block, FindingKind::race, Severity::note), 2u);
    EXPECT_EQ(count(of_block, FindingKind::race, Severity::error), 62u);
    const auto different = findings_of(
        address + "mov.u32 %r5, %r1; @%p0 add.u32 %r5, %r5, 1; st.global.u32 [%rd5+124], %r5;");
    EXPECT_EQ(count(different, FindingKind::race, Severity::error), 64u);
}

// The address of an instruction with a negative offset is valid in five blocks. In the other one it
// is 4 GiB less 64 bytes: sums of 32 bits begin anew.
TEST(BlockModel, AddressesThatWrapAroundFailInTheBlockThatHasThem) {
    std::string error;
    const auto findings = findings_of(
        "add.u32 %r4, %r3, 64; @%p0 mov.u32 %r4, %r3; st.shared.u32 [%r4-64], %r1;"
        "st.global.u32 [%rd3-8], %r1;",
        &error);
    EXPECT_NE(error, "");
    EXPECT_TRUE(findings.empty());
}

}  // namespace
}  // namespace warpscope::tests::block_model
