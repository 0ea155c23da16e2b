#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/checks/padding.h"
#include "emulator/counters/kernel_heat.h"
#include "emulator/happens_before/flags.h"
#include "emulator/observe/finding_log.h"
#include "emulator/races/access_events.h"

namespace warpscope::emulator {

struct AsyncCopy;  // emulator/async/async_copies.h

/// A hazard: two conflicting accesses of one word of memory that nothing orders. The later one is
/// the access that is being checked.
struct Conflict {
    Hazard hazard = Hazard::none;
    AccessEvent earlier{};
    unsigned earlier_lane = 0, lane = 0;
    std::uint32_t byte = 0;  ///< offset into shared memory
    std::optional<std::uint64_t>
        global_address{};     ///< of a race in global memory, in place of `byte`
    bool same_value = false;  ///< both accesses store one value
    bool is_update = false;   ///< both change the word that they have read (is_update())
    const AsyncCopy* in_flight = nullptr;  ///< the earlier access: of a copy that has not ended
    bool lacks_proxy_fence = false;        ///< a bulk copy may not see the earlier store
    bool one_instruction = false;          ///< the accesses are two lanes of one store instruction

    bool is_of_copy() const { return in_flight || lacks_proxy_fence; }
};

/// What the race detector tells people: its findings, and the words of memory that race.
class RaceReport {
  public:
    /// Makes the report count hazards by word from now on.
    void count_hazards() { counts_hazards_ = true; }
    /// `by_words`: the kernel's threads may order their accesses by words of memory.
    void begin_launch(const Kernel& kernel, const LaunchShape& launch, std::uint32_t shared_bytes,
                      bool by_words);
    void begin_block(std::uint32_t block);
    const Kernel& kernel() const { return launch_.kernel(); }
    const LaunchShape& launch() const { return launch_.shape(); }
    std::uint32_t threads() const { return launch_.threads(); }  ///< threads of one block
    LoadedElements& loaded() { return loaded_; }
    Flags& flags() { return flags_; }
    /// A warp of the running block, among those of the blocks that run together.
    std::uint32_t party_of(std::uint32_t warp) const { return block_ * 64 + warp; }

    /// Returns true if the block has no hazard so far, whatever the values that it has stored.
    bool is_clean() const { return is_clean_; }
    /// Notes that the stored values decide whether there is a hazard.
    void note_values() { is_clean_ = false; }
    /// Marks `bytes` bytes from that of the conflict on, which have this hazard `count` times.
    void mark(const Conflict& conflict, std::uint32_t bytes, std::uint64_t count);
    /// Adds a hazard that `count` lanes of the access `later` have.
    void add(const Conflict& conflict, const Access& later, std::uint64_t count);
    /// Adds a finding: these lanes read a byte that no thread of the block has written.
    void add_unwritten(std::uint32_t byte, const Access& read, std::uint32_t lanes);

    /// Adds a finding: the block ends while a copy reads its shared memory.
    void add_unfinished(const AsyncCopy& copy);

    std::vector<Finding> findings() const { return log_.findings(); }
    std::size_t size() const { return log_.size(); }  ///< of findings()
    /// The hazards of the running launch; empty unless count_hazards() was called.
    const HazardCounts& shared_hazards() const { return shared_hazards_; }
    const HazardCounts& global_hazards() const { return global_hazards_; }
    /// For each 4-byte word of the block's shared memory, whether it has taken part in a race.
    const std::vector<bool>& racing_words() const { return racing_words_; }

    /// Prepares the report for another host thread of the current launch: see Observer::fork().
    void become_fork() { log_ = log_.fork(); }
    void join(const RaceReport& fork);
    void forget_after(std::uint32_t block) { log_.forget_after(block); }

  private:
    /// One of the two accesses is the load, the other one the store of ++word.
    bool is_update(const Conflict& conflict, std::uint32_t later_pc);
    bool is_guess(const Conflict& conflict, const Access& later) const;
    Finding finding(const Conflict& conflict, const Access& later, Severity severity) const;
    files::Sentence sentence(const Conflict& conflict, const Access& later, Finding& f) const;
    /// Sets Finding::barrier where it names one.
    files::Sentence advice(const Conflict& conflict, const Access& later, Finding& f) const;

    FindingLog log_;
    ObservedLaunch launch_;
    LoadedElements loaded_;
    Flags flags_;
    std::vector<bool> guesses_;  ///< loads_that_guess()
    std::uint32_t block_ = 0;
    std::vector<bool> racing_words_;
    bool any_racing_ = false;
    bool is_clean_ = true;
    bool by_words_ = false;
    bool counts_hazards_ = false;
    HazardCounts shared_hazards_, global_hazards_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> updates_;  ///< by pc of load and store
};

}  // namespace warpscope::emulator
