#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emulator/machine/machine.h"

namespace warpscope::emulator {

enum class FindingKind : uint8_t {
    race,           // two threads, one word of shared memory, no barrier between
    uninitialized,  // a read of what nobody wrote
    barrier,        // a barrier that not every thread reaches
    memory          // an access outside what is allocated
};
enum class Severity : uint8_t { warning, error };
// Of a race: what came second, after what came first.
enum class Hazard : uint8_t { none, read_after_write, write_after_read, write_after_write };

// One side of a finding: a thread at a line.
struct Party {
    std::string file;  // empty where the PTX carries no line information
    int line = 0;      // of the file; without one, of the PTX text
    Dim3 thread, block;
    std::string where() const;  // "kernels/ripple.cu:76", "PTX line 34"
};

// What a check found at one place (or pair of places), with one example.
struct Finding {
    FindingKind kind = FindingKind::race;
    Severity severity = Severity::error;
    Hazard hazard = Hazard::none;
    std::string kernel;
    Party first;                   // of a race: who came first
    std::optional<Party> second;   // of a race: who came second
    std::optional<uint64_t> byte;  // of the block's shared memory
    uint64_t count = 0;            // lane accesses (a barrier: threads) that it was seen in
    std::string sentence;          // which thread, which line, against whom, what is missing
};

std::string_view to_string(FindingKind kind);   // "race"
std::string_view to_string(Severity severity);  // "warning"
std::string_view to_string(Hazard hazard);      // "RAW", "WAR", "WAW"; "" for none
std::string name_of(const Dim3& thread);        // "(3,0,0)"
bool has_errors(const std::vector<Finding>& findings);
// The findings of several checks as one list: errors first, then by kind, else as they come.
std::vector<Finding> merged(const std::vector<std::vector<Finding>>& lists);

// Collects what one check finds in any number of launches; findings of the same kind at the same
// lines are one, with a count. The example that describes it is the first of the lowest block of
// the first launch that had any, in whatever order blocks run and logs are joined.
class FindingLog {
  public:
    void begin_launch();
    void begin_block(uint32_t block) { at_.block = block; }
    // An empty log for other blocks of the launch under way, and taking over what it collected.
    FindingLog fork() const;
    void join(const FindingLog& fork);
    // Forgets what blocks behind this one of the launch under way added.
    void forget_after(uint32_t block);

    // Which findings are one: addresses in the program, cheap to compare.
    struct Key {
        const Kernel* kernel = nullptr;
        uint32_t first_pc = 0, second_pc = 0;
        FindingKind kind = FindingKind::race;
        Severity severity = Severity::error;
        Hazard hazard = Hazard::none;
        bool operator==(const Key&) const = default;
    };

    // Counts; `describe` gives the Finding where its example is wanted.
    template <typename Describe>
    void add(const Key& key, uint64_t count, Describe&& describe) {
        if (!(last_ && key == last_key_)) {
            auto found = by_key_.find(key);
            if (found == by_key_.end()) found = by_key_.emplace(key, index_of(describe())).first;
            last_key_ = key;
            last_ = found->second + 1;
        }
        Entry& entry = entries_[last_ - 1];
        if (at_ < entry.at) set_example(entry, describe());
        entry.finding.count += count;
        if (entry.blocks.empty() || entry.blocks.back().block != at_.block)
            entry.blocks.push_back({at_.block, 0});
        entry.blocks.back().count += count;
    }

    // Errors first, then by kind, then in the order of their examples.
    std::vector<Finding> findings() const;

  private:
    struct KeyHash {
        size_t operator()(const Key& key) const;
    };
    struct Position {
        uint64_t launch = 0;
        uint32_t block = 0;
        auto operator<=>(const Position&) const = default;
    };
    struct Entry {
        Finding finding;
        Position at;          // of the example
        uint64_t serial = 0;  // of the examples of a block
        struct Share {
            uint32_t block;
            uint64_t count;
        };
        std::vector<Share> blocks;  // of the launch under way
    };
    size_t index_of(Finding finding);
    void set_example(Entry& entry, Finding finding);

    Position at_;
    uint64_t serial_ = 0;
    std::vector<Entry> entries_;
    std::unordered_map<Key, size_t, KeyHash> by_key_;
    using Lines = std::tuple<std::string, std::string, std::string, FindingKind, Severity, Hazard>;
    std::map<Lines, size_t> by_lines_;
    Key last_key_;
    size_t last_ = 0;  // index + 1 of last_key_'s entry; 0: none yet
};

// Names places and threads of the launch that is under way.
class Places {
  public:
    void begin(const Kernel& kernel, const Launch& launch);
    Party party(uint32_t pc, uint32_t thread, uint32_t block) const;  // linear indices
    std::string where(uint32_t pc) const { return kernel_->where(pc); }
    const Kernel& kernel() const { return *kernel_; }
    uint32_t threads() const { return uint32_t(block_.count()); }

  private:
    const Kernel* kernel_ = nullptr;
    Dim3 grid_, block_;
};

}  // namespace warpscope::emulator
