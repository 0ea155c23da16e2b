#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::emulator {

/// Counts of one kind of accesses.
struct MemoryCounts {
    std::uint64_t requests = 0;  ///< warp instructions
    std::uint64_t bytes = 0;     ///< bytes that the lanes requested
    std::uint64_t sectors = 0;   ///< sectors of global memory that are transferred
    /// The fewest sectors that the distinct bytes of each request fit into.
    std::uint64_t least_sectors = 0;
    std::uint64_t wavefronts = 0;        ///< passes over shared memory
    std::uint64_t least_wavefronts = 0;  ///< passes without bank conflicts
    unsigned degree = 0;                 ///< the highest BankUse::degree of shared memory

    /// Returns the passes that bank conflicts add.
    std::uint64_t conflicts() const { return wavefronts - least_wavefronts; }
    MemoryCounts& operator+=(const MemoryCounts& other);
    bool operator==(const MemoryCounts&) const = default;
};

/// What a kernel, or one source line of it, has executed. Instructions are those of the PTX.
struct ExecutedWork {
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    std::uint64_t separations = 0;  ///< executed branches that only some of a warp's lanes took
    MemoryCounts global_loads, global_stores, global_atomics;
    MemoryCounts shared_loads, shared_stores, shared_atomics;

    /// Returns the lanes that did not take part in the warp instructions: inactive ones, and those
    /// that a warp of an uneven block does not have. Predicated lanes take part.
    std::uint64_t idle_lanes() const { return 32 * warp_instructions - thread_instructions; }
    MemoryCounts global() const;  ///< loads, stores and atomics
    MemoryCounts shared() const;
    ExecutedWork& operator+=(const ExecutedWork& other);
    bool operator==(const ExecutedWork&) const = default;
};

struct LineCounters : ExecutedWork {
    std::string file;  ///< the name in the PTX; empty if the PTX has no .loc
    int line = 0;      ///< line of the file, or of the PTX if there is no file
    bool operator==(const LineCounters&) const = default;
};

/// Counts of all launches of one kernel.
struct KernelCounters : ExecutedWork {
    std::string kernel;
    std::uint64_t launches = 0, blocks = 0;
    std::uint64_t barriers = 0;  ///< completed barriers, over all blocks
    /// The lines that executed something, by file and line. They add up to the kernel's work.
    std::vector<LineCounters> lines;

    /// Returns the counters of a line, new ones if there are none.
    LineCounters& at(std::string_view file, int line);
    KernelCounters& operator+=(const KernelCounters& other);  ///< adds counts of this kernel
};

inline MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
    requests += other.requests;
    bytes += other.bytes;
    sectors += other.sectors;
    least_sectors += other.least_sectors;
    wavefronts += other.wavefronts;
    least_wavefronts += other.least_wavefronts;
    degree = std::max(degree, other.degree);
    return *this;
}

/// Returns what has been counted since `before`.
inline MemoryCounts operator-(MemoryCounts now, const MemoryCounts& before) {
    now.requests -= before.requests;
    now.bytes -= before.bytes;
    now.sectors -= before.sectors;
    now.least_sectors -= before.least_sectors;
    now.wavefronts -= before.wavefronts;
    now.least_wavefronts -= before.least_wavefronts;
    return now;
}

/// Returns `times` times the counts; `degree` stays that of one.
inline MemoryCounts operator*(MemoryCounts counts, std::uint64_t times) {
    counts.requests *= times;
    counts.bytes *= times;
    counts.sectors *= times;
    counts.least_sectors *= times;
    counts.wavefronts *= times;
    counts.least_wavefronts *= times;
    return counts;
}

inline MemoryCounts ExecutedWork::global() const {
    MemoryCounts all = global_loads;
    return (all += global_stores) += global_atomics;
}

inline MemoryCounts ExecutedWork::shared() const {
    MemoryCounts all = shared_loads;
    return (all += shared_stores) += shared_atomics;
}

inline ExecutedWork& ExecutedWork::operator+=(const ExecutedWork& other) {
    warp_instructions += other.warp_instructions;
    thread_instructions += other.thread_instructions;
    separations += other.separations;
    global_loads += other.global_loads;
    global_stores += other.global_stores;
    global_atomics += other.global_atomics;
    shared_loads += other.shared_loads;
    shared_stores += other.shared_stores;
    shared_atomics += other.shared_atomics;
    return *this;
}

inline LineCounters& KernelCounters::at(std::string_view file, int line) {
    const auto place = std::lower_bound(lines.begin(), lines.end(), std::pair(file, line),
                                        [](const LineCounters& l, const auto& at) {
                                            return std::pair(std::string_view(l.file), l.line) < at;
                                        });
    if (place != lines.end() && place->line == line && place->file == file) return *place;
    LineCounters fresh;
    fresh.file = file;
    fresh.line = line;
    return *lines.insert(place, std::move(fresh));
}

inline KernelCounters& KernelCounters::operator+=(const KernelCounters& other) {
    ExecutedWork::operator+=(other);
    launches += other.launches;
    blocks += other.blocks;
    barriers += other.barriers;
    for (const LineCounters& added : other.lines) at(added.file, added.line) += added;
    return *this;
}

}  // namespace warpscope::emulator
