#include "emulator/races/grid/grid_strips.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpscope::emulator {
namespace {

constexpr std::uint64_t row = 3;

std::vector<std::uint32_t> events_of(GridStrips& memory) {
    std::vector<std::uint32_t> events;
    memory.for_strips(row, [&](const GridStrip& strip) { events.push_back(strip.event); });
    return events;
}

GridStrip strip_of(std::uint32_t event) {
    GridStrip strip;
    strip.event = event & GridStrip::event_mask;
    strip.cells = 1;
    return strip;
}

TEST(GridStrips, AnyOfThemCanBeRemoved) {
    GridStrips memory(0, 4096, 4);
    for (std::uint32_t event = 1; event <= 5; ++event) memory.add(row, strip_of(event));
    EXPECT_EQ(events_of(memory), (std::vector<std::uint32_t>{5, 4, 3, 2, 1}));
    memory.remove_strips(row, [](const GridStrip& s) { return s.event % 2 == 1; });
    EXPECT_EQ(events_of(memory), (std::vector<std::uint32_t>{4, 2}));
    for (std::uint32_t event = 6; event <= 9; ++event) memory.add(row, strip_of(event));
    EXPECT_EQ(events_of(memory), (std::vector<std::uint32_t>{9, 8, 7, 6, 4, 2}));
    memory.remove_strips(row, [](const GridStrip&) { return true; });
    EXPECT_TRUE(events_of(memory).empty());
    memory.add(row, strip_of(10));
    EXPECT_EQ(events_of(memory), std::vector<std::uint32_t>{10});
    EXPECT_EQ(memory.rows().size(), 1U) << "the row is named once";
}

TEST(GridStrips, ARowIsSuspectedOnce) {
    GridStrips memory(0, 4096, 4);
    EXPECT_TRUE(memory.suspect(row));
    EXPECT_FALSE(memory.suspect(row));
    EXPECT_TRUE(memory.suspect(row + 1));
}

}  // namespace
}  // namespace warpscope::emulator
