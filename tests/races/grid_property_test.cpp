#include <map>
#include <random>
#include <set>

#include "emulator/counters/heat_map.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/global_window.h"
#include "emulator/races/grid/grid_races.h"
#include "grid_forks.h"
#include "race_kernels.h"

namespace warpscope::tests {
namespace {

using emulator::Hazard;

constexpr std::uint32_t blocks = 6, threads = 96, ops_per_thread = 3, data_bytes = 4096;
constexpr std::uint32_t table_words = blocks * threads * ops_per_thread;

/// Each thread reads its words of a table, and does what they say: a load (even) or a store (odd),
/// of 4 bytes (bit 1) or of one, at byte `word >> 2` of the data behind the table.
std::string kernel_of_a_table() {
    std::string body =
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;"
        "mul.wide.u32 %rd2, %r4, 12; add.s64 %rd2, %rd0, %rd2;"
        "mul.wide.u32 %rd3, %r0, 4; add.s64 %rd3, %rd0, %rd3;";
    for (std::uint32_t op = 0; op < ops_per_thread; ++op)
        body += "ld.global.u32 %r5, [%rd2+" + std::to_string(4 * op) +
                "]; and.b32 %r6, %r5, 3; shr.u32 %r7, %r5, 2; cvt.u64.u32 %rd4, %r7;"
                "add.s64 %rd5, %rd3, %rd4;"
                "setp.eq.u32 %p0, %r6, 0; @%p0 ld.global.u8 %r8, [%rd5];"
                "setp.eq.u32 %p1, %r6, 1; @%p1 st.global.u8 [%rd5], %r4;"
                "setp.eq.u32 %p2, %r6, 2; @%p2 ld.global.u32 %r9, [%rd5];"
                "setp.eq.u32 %p3, %r6, 3; @%p3 st.global.u32 [%rd5], %r4;";
    return emulator::kernel_text(body);
}

struct Racing {
    std::uint64_t read_and_write = 0, write_and_write = 0;
    std::map<std::uint64_t, std::uint64_t> by_word{};  ///< both, by the word of the byte
    bool operator==(const Racing&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Racing& r) {
    return out << r.read_and_write << " bytes read and written, " << r.write_and_write
               << " written twice";
}

/// The bytes that two blocks access, one by one.
Racing racing_bytes(const std::vector<std::uint32_t>& table) {
    std::map<std::uint32_t, std::set<std::uint32_t>> readers, writers;  // blocks, by byte
    for (std::uint32_t k = 0; k < table_words; ++k)
        for (std::uint32_t byte = 0; byte < (table[k] & 2 ? 4u : 1u); ++byte)
            (table[k] & 1 ? writers : readers)[(table[k] >> 2) + byte].insert(k / ops_per_thread /
                                                                              threads);
    Racing racing;
    for (const auto& [byte, by] : writers) {
        racing.write_and_write += by.size() > 1;
        bool other = false;
        for (const std::uint32_t block : readers[byte]) other |= by.size() > 1 || !by.count(block);
        racing.read_and_write += other;
        if (other || by.size() > 1) racing.by_word[byte / 4] += other + (by.size() > 1);
    }
    return racing;
}

TEST(GridRacesProperty, EveryByteThatBlocksRaceOnIsCountedOnce) {
    const auto module = emulator::Module::parse(kernel_of_a_table(), "test");
    std::mt19937 random(1);
    std::uint64_t clean = 0;
    for (int round = 0; round < 60; ++round) {
        // Few bytes and many stores, or many bytes and few stores; runs of neighbours in some
        // rounds.
        const std::uint32_t bytes = 64u << random() % 7;
        const std::uint32_t stores = 1 + random() % 40;
        std::vector<std::uint32_t> table(table_words);
        for (std::uint32_t k = 0; k < table_words; ++k) {
            const bool wide = random() % 2, store = random() % 40 < stores;
            std::uint32_t at =
                round % 2 ? (k / ops_per_thread * 4 + random() % 2 * 64) % bytes : random() % bytes;
            if (wide) at = at / 4 * 4;
            table[k] = at << 2 | unsigned(wide) << 1 | unsigned(store);
        }
        for (const unsigned forks : {1u, 3u}) {
            emulator::Machine machine;
            emulator::GridRaces races;
            GridForks dealt(races, forks);
            emulator::HeatMap heat(machine.memory());
            races.count_hazards_in(heat);
            emulator::ObserverList all;
            all.add(dealt);
            all.add(heat);
            void* out = machine.memory().allocate(table_words * 4 + data_bytes);
            std::copy(table.begin(), table.end(), static_cast<std::uint32_t*>(out));
            const void* arguments[] = {&out, &table_words};
            machine.run(*module->kernels().front(), {{blocks, 1, 1}, {threads, 1, 1}, 0}, arguments,
                        {.threads = 1}, &all);
            const auto found = races.findings();
            Racing counted{
                count(found, Hazard::read_after_write) + count(found, Hazard::write_after_read),
                count(found, Hazard::write_after_write)};
            const emulator::HeatArray& array = heat.kernels().at(0).arrays.at(0);
            for (std::uint64_t word = 0; word < data_bytes / 4; ++word)
                if (const auto n = array.count(emulator::HeatFigure::races, table_words + word))
                    counted.by_word[word] = n;
            const Racing expected = racing_bytes(table);
            EXPECT_EQ(counted, expected) << "round " << round << ", " << forks << " forks";
            clean += found.empty();
        }
    }
    EXPECT_LT(clean, 60u) << "the rounds do not test much";
}

emulator::Access access_at(const std::array<std::uint64_t, 32>& addresses) {
    emulator::Access access;
    access.mask = ~0u;
    access.lane_addresses = addresses.data();
    access.bytes = 4;
    access.consecutive = true;
    return access;
}

TEST(GlobalWindow, GivesEachPageOnePlaceUntilItIsCleared) {
    emulator::GlobalWindow window;
    std::array<std::uint64_t, 32> addresses{};
    const auto begin_at = [&](std::uint64_t begin) {
        for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = begin + lane * 4;
    };
    // More pages than the table has entries at first, far from each other.
    for (std::uint64_t page = 0; page < 300; ++page) {
        begin_at((page * 7919 + 5) << 20);
        EXPECT_TRUE(window.place(access_at(addresses)).consecutive);
    }
    const std::uint64_t bytes = window.bytes();
    for (std::uint64_t page = 0; page < 300; ++page) {
        begin_at((page * 7919 + 5) << 20);
        const emulator::Access placed = window.place(access_at(addresses));
        for (const unsigned lane : {0u, 31u})
            EXPECT_EQ(window.address_of(placed.lane_addresses[lane]), addresses[lane]);
    }
    EXPECT_EQ(window.bytes(), bytes) << "every page had its place";
    window.clear();
    EXPECT_EQ(window.bytes(), 0u);
    begin_at(5 << 20);
    EXPECT_EQ(window.place(access_at(addresses)).lane_addresses[0], 0u);
}

TEST(GlobalWindow, NeighboursOnPagesWithOtherPlacesDoNotFollowEachOther) {
    emulator::GlobalWindow window;
    std::array<std::uint64_t, 32> addresses{};
    const auto begin_at = [&](std::uint64_t begin) {
        for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = begin + lane * 4;
        return window.place(access_at(addresses)).consecutive;
    };
    EXPECT_TRUE(begin_at(0x20000));
    EXPECT_TRUE(begin_at(0x80000));
    EXPECT_TRUE(begin_at(0x20200)) << "the page behind the first one has the third place";
    EXPECT_FALSE(begin_at(0x20200 - 64));
    EXPECT_TRUE(begin_at(0x20400 - 64)) << "the fourth place follows the third one";
}

}  // namespace
}  // namespace warpscope::tests
