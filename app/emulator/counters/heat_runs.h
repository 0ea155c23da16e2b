#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "emulator/counters/kernel_heat.h"
#include "emulator/program/access_form.h"

namespace warpscope::emulator {

/// Returns the figure to which an access adds.
inline HeatFigure figure_of(MemoryAccess kind) {
    if (kind == MemoryAccess::load) return HeatFigure::reads;
    return kind == MemoryAccess::store ? HeatFigure::writes : HeatFigure::atomics;
}

/// Neighbouring words of memory with equal counts.
struct WordRun {
    std::int64_t first = 0;
    std::uint64_t words = 0, lanes = 0, conflicts = 0;
};

/// Sorts the parts by word, and adds up the parts of each word.
inline void add_up(std::vector<WordRun>& parts) {
    std::sort(parts.begin(), parts.end(),
              [](const WordRun& a, const WordRun& b) { return a.first < b.first; });
    std::size_t n = 0;
    for (const WordRun& part : parts) {
        if (n > 0 && parts[n - 1].first == part.first) {
            parts[n - 1].lanes += part.lanes;
            parts[n - 1].conflicts += part.conflicts;
        } else {
            parts[n++] = part;
        }
    }
    parts.resize(n);
}

/// Joins neighbouring words with equal counts.
inline std::vector<WordRun> join_neighbours(const std::vector<WordRun>& parts) {
    std::vector<WordRun> runs;
    for (const WordRun& part : parts) {
        if (!runs.empty() && runs.back().first + std::int64_t(runs.back().words) == part.first &&
            runs.back().lanes == part.lanes && runs.back().conflicts == part.conflicts)
            ++runs.back().words;
        else
            runs.push_back(part);
    }
    return runs;
}

}  // namespace warpscope::emulator
