#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpscope::programs {

/// Launches of a program, counted from 1: both are in it.
struct LaunchRange {
    std::uint64_t first = 0, last = 0;
    bool operator==(const LaunchRange&) const = default;
};

/// Reads "3,17-20". nullopt for a text that is no such list.
std::optional<std::vector<LaunchRange>> read_launch_ranges(const std::string& text);

}  // namespace warpscope::programs
