#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emulator/observe/findings.h"
#include "emulator/program/launch.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

struct Kernel;

/// Collects the findings of one check over any number of launches. Findings of one kind at the same
/// source lines become one finding with a count. Its example comes from the lowest block of the
/// first launch that has the finding; the order in which blocks run or logs are joined does not
/// change it.
class FindingLog {
  public:
    void begin_launch();
    void begin_block(std::uint32_t block) { now_.block = block; }
    /// Returns an empty log for another host thread of the current launch.
    FindingLog fork() const;
    /// Adds the findings of a log that fork() made.
    void join(const FindingLog& fork);
    /// Removes what blocks above this one have added in the current launch.
    void forget_after(std::uint32_t block);

    /// Identifies a finding by instructions of the program: cheap to compare.
    struct Key {
        const Kernel* kernel = nullptr;
        std::uint32_t first_pc = 0, second_pc = 0;
        FindingKind kind = FindingKind::race;
        Severity severity = Severity::error;
        Hazard hazard = Hazard::none;
        bool operator==(const Key&) const = default;
    };

    /// Adds `count` to the finding. `describe` returns the Finding; it is called only where an
    /// example is needed.
    template <typename Describe>
    void add(const Key& key, std::uint64_t count, Describe&& describe) {
        if (!(newest_ && key == newest_key_)) {
            auto found = by_key_.find(key);
            if (found == by_key_.end()) found = by_key_.emplace(key, index_of(describe())).first;
            newest_key_ = key;
            newest_ = found->second + 1;
        }
        Entry& entry = entries_[newest_ - 1];
        if (now_ < entry.at) set_example(entry, describe());
        entry.finding.count += count;
        if (entry.blocks.empty() || entry.blocks.back().block != now_.block)
            entry.blocks.push_back({now_.block, 0});
        entry.blocks.back().count += count;
    }

    /// Returns the findings in the order of merged(), then in the order of their examples.
    std::vector<Finding> findings() const;
    std::size_t size() const { return entries_.size(); }  ///< of findings()

  private:
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct LaunchBlock {
        std::uint64_t launch = 0;
        std::uint32_t block = 0;
        auto operator<=>(const LaunchBlock&) const = default;
    };
    struct Entry {
        Finding finding;
        LaunchBlock at;                   ///< where the example is
        std::uint64_t example_order = 0;  ///< orders the examples of one block
        struct BlockCount {
            std::uint32_t block;
            std::uint64_t count;
        };
        std::vector<BlockCount> blocks;  ///< counts of the current launch
    };
    std::size_t index_of(Finding finding);
    void set_example(Entry& entry, Finding finding);

    LaunchBlock now_;
    std::uint64_t examples_ = 0;
    std::vector<Entry> entries_;
    std::unordered_map<Key, std::size_t, KeyHash> by_key_;
    using Lines = std::tuple<std::string, std::string, std::string, FindingKind, Severity, Hazard>;
    std::map<Lines, std::size_t> by_lines_;
    Key newest_key_;
    std::size_t newest_ = 0;  ///< 1 + index of the entry of newest_key_; 0: none yet
};

/// The launch that a check observes: turns indices of the emulator into threads and source lines.
class ObservedLaunch {
  public:
    void begin(const Kernel& kernel, const LaunchShape& launch);
    const Kernel& kernel() const { return *kernel_; }
    const LaunchShape& shape() const { return shape_; }
    /// Threads of one block.
    std::uint32_t threads() const { return std::uint32_t(shape_.block.count()); }
    /// The place of a thread. `thread` is a linear index in its block, `block` one in the grid.
    ThreadAtLine at(std::uint32_t pc, std::uint32_t thread, std::uint32_t block) const;

  private:
    const Kernel* kernel_ = nullptr;
    LaunchShape shape_;
};

}  // namespace warpscope::emulator
