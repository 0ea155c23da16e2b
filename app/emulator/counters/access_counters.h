#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "emulator/counters/kernel_counters.h"
#include "emulator/observe/block_summaries.h"
#include "emulator/program/lanes.h"

namespace warpscope::emulator {

inline constexpr unsigned sector_bytes = 32;  ///< the unit in which global memory is transferred

/// The accesses of one texture or surface instruction of a warp, which are one request: what
/// several lanes read, or several elements of a filter, is transferred once.
class TextureRequest {
  public:
    /// Returns what an access adds to the request; Access::Image::first begins a new one.
    MemoryCounts add(const Access& a) {
        if (a.image == Access::Image::first) *this = {};
        const auto least = [&] { return (bytes_ + sector_bytes - 1) / sector_bytes; };
        const std::uint64_t sectors_before = sectors_.size(), least_before = least();
        for_each_lane(a.mask, [&](unsigned lane) {
            const std::uint64_t address = a.address(lane);
            if (!elements_.insert(address).second) return;
            bytes_ += a.bytes;
            const std::uint64_t last = (address + a.bytes - 1) / sector_bytes;
            for (std::uint64_t s = address / sector_bytes; s <= last; ++s) sectors_.insert(s);
        });
        return {.requests = a.image == Access::Image::first,
                .bytes = std::uint64_t(lane_count(a.mask)) * a.bytes,
                .sectors = sectors_.size() - sectors_before,
                .least_sectors = least() - least_before};
    }

  private:
    std::set<std::uint64_t> elements_, sectors_;  ///< addresses; numbers of sectors
    std::uint64_t bytes_ = 0;                     ///< of the elements
};

/// Number of banks of shared memory; each is 4 bytes wide.
inline constexpr unsigned banks = 32;

/// How one warp-wide access to shared memory uses the banks. The hardware serves 128 bytes in one
/// pass: all lanes of a warp if a lane accesses 4 bytes or less, half of the lanes for 8 bytes, a
/// quarter for 16 bytes (CUDA C++ Programming Guide, "Shared Memory"). Two of these parts are
/// served in one pass if every lane i accesses the address of lane i^1, or every lane that of lane
/// i^2. Lanes that access one word share it. An H200 counts in this way (ncu,
/// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld); the test has measured values.
struct BankUse {
    unsigned wavefronts = 0;  ///< passes that the access takes
    unsigned least = 0;       ///< passes that it would take without bank conflicts
    unsigned degree = 0;      ///< most distinct words in one bank in one pass; 1: no conflict
    /// For each lane, the number of its part: lanes with one number are served together.
    std::array<std::uint8_t, 32> group{};
};
/// `addresses` are offsets into shared memory, one for each lane; `bytes` is the width of one
/// lane's access.
BankUse bank_use(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                 std::uint32_t bytes);

/// Sectors that a warp-wide access to global memory touches.
unsigned sectors(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                 std::uint32_t bytes);

/// The fewest sectors that hold as many bytes as the lanes access, where an address counts once.
unsigned least_sectors(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                       std::uint32_t bytes);

/// Counts instructions, barriers and memory accesses of launches, by source line. The counts depend
/// on the schedule only if the instructions that the kernel executes do.
class AccessCounters : public Observer, BlockSummaries {
  public:
    /// The counters of each kernel, by first launch. A launch that fails is not counted.
    const std::vector<KernelCounters>& kernels() const { return kernels_; }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(std::uint32_t) override { counted_ = {}; }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override;
    void on_launch_end() override;
    void on_executions(std::span<const ExecutionCount> counts) override;
    bool wants_instructions(const Kernel&) const override { return false; }
    bool wants_barriers() const override { return false; }
    BlockSummaries* summaries() override { return this; }
    void on_block_end(std::uint32_t block, const Statistics& statistics) override;
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;
    void on_async(std::uint32_t block, const AsyncEvent& event) override;

  private:
    void on_model_begin() override;
    void on_model(const ModelBlock& model) override;
    void on_proved_block(const ModelBlock&) override { ++model_.foreseen; }
    void on_followed(const ModelBlock& model, std::uint32_t block,
                     const Statistics& statistics) override;
    void on_broadcasts(std::span<const BroadcastLoad> loads) override {
        for (const BroadcastLoad& load : loads) ++counted_.at[load.pc].broadcasts;
    }

    /// What one instruction has done. Only a generic access has both kinds of accesses.
    struct Counts {
        ExecutionCount executed;
        MemoryCounts global, shared;
        /// Loads of one shared address by all lanes: the most frequent accesses of inner loops,
        /// counted with one increment. They are not in `shared`.
        std::uint64_t broadcasts = 0;
        Counts& operator+=(const Counts& other);
    };
    /// The running launch so far, or the part of it that a fork has seen.
    struct Launch {
        std::uint64_t blocks = 0;
        Statistics total;
        std::vector<Counts> at;  ///< indexed by pc
    };
    /// The cost of an instruction's newest access by all lanes. The next access has this cost too
    /// if its lanes have these offsets from lane 0 and lane 0 has this offset in its sector.
    struct CachedCost {
        std::array<std::uint64_t, 32> offsets{};  ///< distances from lane 0's address
        std::uint64_t base = ~0ull;               ///< lane 0's offset in its sector, and the space
        MemoryCounts cost{};
    };
    /// A block that others follow, and what they add.
    struct Model {
        /// What an instruction has done in shared memory.
        struct Part {
            std::uint32_t pc = 0;
            MemoryCounts shared;
            std::uint64_t broadcasts = 0;
            bool is_foreseen = false;
        };
        std::vector<Part> parts;
        // Blocks that add_followers() has still to add: with all parts, or with the foreseen ones.
        std::uint64_t followers = 0, foreseen = 0;
        /// The cost of the accesses of an instruction to global memory, by its pc and by their
        /// distance from the model's in a sector. Holds the distances that a block has had.
        std::map<std::pair<std::uint32_t, std::uint64_t>, MemoryCounts> global;
    };
    /// True when `cached` holds the cost of this access by all lanes. Otherwise sets its pattern to
    /// that of the access; the caller sets the cost.
    static bool has_cost(CachedCost& cached, const Access& access, bool shared);
    MemoryCounts cost_of(const Access& access, bool shared);
    /// Counts all accesses of an instruction to global memory in a block that follows the model.
    static MemoryCounts moved_cost(const ModelBlock& model, const ModelBlock::Move& move);
    void add_followers();
    void add_to_lines(KernelCounters& kernel, std::uint32_t pc, const Counts& counts) const;

    std::vector<KernelCounters> kernels_;
    const Kernel* kernel_ = nullptr;  ///< kernel of the running launch
    Launch counted_;
    std::vector<CachedCost> costs_;  ///< indexed by pc
    std::vector<Counts> before_;     ///< the counts when the model began
    Model model_;
    TextureRequest image_;
};

}  // namespace warpscope::emulator
