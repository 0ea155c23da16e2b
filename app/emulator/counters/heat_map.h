#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "emulator/counters/kernel_heat.h"
#include "emulator/observe/block_summaries.h"
#include "emulator/program/access_form.h"
#include "emulator/warp/memory.h"

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

/// Counts the accesses of launches by word of memory: of the variables in shared memory, and of
/// the allocations and variables in global memory. Bytes of shared memory in no variable are left
/// out. An allocation at the address and of the size of an earlier one counts as that one.
class HeatMap : public Observer, BlockSummaries {
  public:
    /// `memory` is that of the machine, and outlives this object.
    explicit HeatMap(const Memory& memory) : memory_(memory) {}

    /// The heat of each kernel, by first launch. A launch that fails is not counted.
    const std::vector<KernelHeat>& kernels() const { return kernels_; }
    std::vector<KernelHeat> take() { return std::move(kernels_); }

    /// Adds what a race check has found in the running launch, in Space::shared or Space::global.
    /// Must be called before on_launch_end(), for words that the launch has accessed.
    void add_races(Space space, const HazardCounts& hazards);

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(std::uint32_t) override { forget(); }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override;
    void on_arguments(std::span<const std::byte> arguments) override {
        arguments_.assign(arguments.begin(), arguments.end());
    }
    void on_launch_end() override;
    bool wants_instructions(const Kernel&) const override { return false; }
    bool wants_barriers() const override { return false; }
    BlockSummaries* summaries() override { return this; }
    void on_shared_access(const Access& access) override { count(access, true); }
    void on_global_access(const Access& access) override { count(access, false); }

  private:
    void on_model_begin() override;
    void on_model(const ModelBlock& model) override;
    void on_proved_block(const ModelBlock&) override { ++model_.foreseen; }
    void on_followed(const ModelBlock& model, std::uint32_t block,
                     const Statistics& statistics) override;
    void on_broadcasts(std::span<const BroadcastLoad> loads) override;

    using Counts = std::array<WordCounts, heat_figures>;
    /// Shared memory, an allocation or a variable: bytes [begin, end).
    struct Region {
        std::uint64_t begin = 0, end = 0;
        std::string name;  ///< name of a variable
        Counts counts{};

        bool holds(std::uint64_t low, std::uint64_t high) const {
            return low >= begin && high <= end && low < high;
        }
        std::uint64_t word_of(std::uint64_t address) const {
            return address / WordCounts::word_bytes - begin / WordCounts::word_bytes;
        }
        void add(HeatFigure figure, std::uint64_t address, std::uint32_t bytes,
                 std::uint64_t number);
    };
    /// What the newest access of an instruction adds. It holds for every access whose lanes have
    /// these distances from each other.
    struct Pattern {
        std::uint32_t mask = 0;
        std::uint64_t start = 0;  ///< offset of the first lane in its word, and the space
        /// Distances from the first lane's address.
        std::array<std::uint64_t, lanes_per_warp> offsets{};
        /// Bytes of all lanes, as distances from the first lane's address.
        std::int64_t low = 0, high = 0;
        std::vector<WordRun> runs;  ///< counted from the word of the first lane
        // Accesses to shared memory that add_started() has still to add.
        HeatFigure figure{};
        /// How many, indexed by the word of the first lane.
        std::vector<std::uint32_t> starts;
        std::vector<std::uint64_t> start_words;  ///< the words that `starts` has
    };

    /// A block that others follow.
    struct Model {
        struct SharedWord {
            HeatFigure figure{};
            std::uint64_t word = 0, number = 0;
            std::uint64_t unforeseen = 0;  ///< the part of `number` that is not foreseen
        };
        std::vector<SharedWord> shared;
        // Blocks whose shared memory add_followers() has still to add: all, or what is foreseen.
        std::uint64_t followers = 0, foreseen = 0;
        /// For each pc, what its instruction adds to global memory, counted from address 0.
        std::vector<std::vector<WordRun>> global;
    };

    void forget();
    void find_shared_words(const ModelBlock& model);
    void add_followers();
    /// What an instruction adds, at this distance from the model's addresses.
    void add_moved(const ModelBlock& model, const ModelBlock::Move& move);
    void count(const Access& access, bool shared);
    void count_lanes(const Access& access);
    /// Adds the accesses that the patterns have in `starts`.
    void add_started();
    void add_started(Pattern& pattern);
    Pattern& pattern_of(const Access& access, std::uint64_t first, bool shared);
    /// Returns the region that holds these bytes, or nullptr.
    Region* region_of(std::uint32_t pc, std::uint64_t low, std::uint64_t high, bool shared);
    Region* global_region(std::uint64_t address);
    void add_array(KernelHeat& heat, HeatArray array) const;
    void add_shared(KernelHeat& heat);
    void add_global(KernelHeat& heat);
    /// Sets HeatArray::parameter and its offset.
    void find_parameter(HeatArray& array) const;

    const Memory& memory_;
    std::vector<KernelHeat> kernels_;
    // The state of the running launch.
    const Kernel* kernel_ = nullptr;
    LaunchShape launch_;
    bool has_races_ = false;
    std::vector<std::byte> arguments_;
    Region shared_;
    /// Regions of global memory, indexed by Region::begin.
    std::map<std::uint64_t, Region> regions_;
    /// Indexed by pc: the region of the newest global access.
    std::vector<Region*> newest_;
    std::vector<Pattern> patterns_;  ///< indexed by pc
    std::vector<WordRun> parts_;     ///< runs of the pattern that is computed
    Counts before_model_{};          ///< counts of shared memory when the model began
    Model model_;
};

}  // namespace warpscope::emulator
