#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/witness/access_watch.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/turn_runner.h"

namespace warpscope::emulator {

/// The accesses to contended words in one order of a block.
class AccessOrders {
  public:
    AccessOrders() = default;
    explicit AccessOrders(std::vector<ConflictAccess> log) : log_(std::move(log)) {}

    /// Whether a warp overwrites what another one has written since it has read the word, in one
    /// epoch: the update of the other one is lost.
    bool loses_an_update() const;
    /// Returns the first two accesses, one of them writing, that `reference` has in the other
    /// order. nullopt: there are none.
    std::optional<Reversal> first_reversal(const AccessOrders& reference) const;
    /// Only pairs of which one is at each of the two places.
    std::optional<Reversal> first_reversal(const AccessOrders& reference, const Kernel& kernel,
                                           const LinePair& places) const;

  private:
    template <class Wanted>
    std::optional<Reversal> find(const AccessOrders& reference, const Wanted& wanted) const;

    std::vector<ConflictAccess> log_;
};

/// What an order has made of the block.
struct OrderResult {
    std::uint64_t key = 0;  ///< equal for equal results
    std::string error;
    std::vector<std::uint32_t> values;  ///< of WrittenWords
    AccessOrders accesses;
};

/// The search of OrderSearch, in one block or in several ones together.
class BlockSearch {
  public:
    /// `which`: the block, or nothing for those of LaunchSettings::together.
    template <class... Which>
    BlockSearch(const OrderSearch& options, Machine& machine, const FrozenLaunch& launch,
                Which... which)
        : options_(options),
          launch_(launch),
          blocks_(launch.settings.together.empty() ? std::vector<std::uint32_t>{which...}
                                                   : launch.settings.together),
          kernel_(*launch.kernel),
          watch_(machine.memory(), *launch.kernel->module),
          budget_(launch.settings),
          runner_(machine, launch, which..., budget_, watch_) {
        if (!launch.settings.together.empty())
            result_.together = BlockGroup{launch.launch, launch.settings.together};
        result_.witnesses.resize(std::max<std::size_t>(1, options.pairs.size()));
        start_ = runner_.save();
    }
    BlockSearch(const BlockSearch&) = delete;
    BlockSearch& operator=(const BlockSearch&) = delete;

    OrderSearch::Result run();

  private:
    struct PathTurn {
        std::uint32_t epoch = 0;
        ListedTurn turn;
        bool is_usual = false;  ///< the turn that comes where none is listed
        bool is_preempted = false;
        std::optional<OldRead> old_read{};  ///< with which it begins
    };
    /// Choices below each other; each keeps a copy of the block.
    static constexpr unsigned most_depth = 1000;
    struct Deeper {
        explicit Deeper(unsigned& to) : depth(to) { ++depth; }
        ~Deeper() { --depth; }
        unsigned& depth;
    };
    void run_reference(ReferenceOrder order);
    bool run_level(unsigned bound);
    double run_rest(unsigned left, std::optional<std::uint32_t> barred);
    void end_blocks();
    double run_behind_turn(unsigned left);
    double run_turn(std::uint32_t warp, unsigned left);
    double continue_turn(std::uint32_t warp, unsigned left);
    PathTurn ended_here(const PathTurn& turn, bool is_preempted) const;
    double run_with_held_copies(std::uint32_t warp, unsigned left);
    double run_with_old_values(std::uint32_t warp, unsigned left);
    /// What a failed block has written does not count.
    std::uint64_t result_key() const { return error_.empty() ? watch_.written.key() : ~0ull; }
    OrderResult take_result();
    void compare();
    void add_witness(const OrderResult& result);
    void add_old_read(const OrderResult& result);
    bool is_of(const OldRead& read, const LinePair& pair) const;
    bool may_read_old();
    void judge_reference();
    void choose_reference();
    bool is_spoilt() const;
    /// Whether a word of the result counts, and is another one than in the reference:
    /// `of_wrong` of those that the reference makes wrong, else of the others.
    bool differs(std::size_t word, bool of_wrong) const;
    std::uint32_t expected(std::size_t word) const {
        return word < reference_.values.size() ? reference_.values[word]
                                               : watch_.written.original(word);
    }
    Witness witness_of(const OrderResult& result, const Reversal& reversal) const;
    std::vector<std::vector<ListedTurn>> path_turns() const;
    bool found_all() const {
        return std::ranges::all_of(result_.witnesses, [](const auto& w) { return w.has_value(); });
    }
    bool must_end() {
        tell_progress();
        return ends_ = ends_ || options_.stop.stop_requested() ||
                       std::chrono::steady_clock::now() > deadline_;
    }

    void tell_progress() {
        if (!options_.progress) return;
        const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - started_);
        const auto now = std::min(passed, options_.time).count();
        options_.progress->add(std::uint64_t(std::max<std::int64_t>(0, now - told_)));
        told_ = std::max<std::int64_t>(told_, now);
    }

    const OrderSearch& options_;
    const FrozenLaunch& launch_;
    const std::vector<std::uint32_t> blocks_;
    const Kernel& kernel_;
    AccessWatch watch_;
    /// Restores memory, also where a block before those that are searched fails.
    struct Undo {
        AccessWatch& watch;
        ~Undo() { watch.written.restore_all(); }
    } undo_{watch_};
    Budget budget_;
    UnitRunner runner_;
    UnitRunner::Position start_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now(), deadline_;
    std::int64_t told_ = 0;  ///< milliseconds that options_.progress knows of
    bool ends_ = false, too_deep_ = false;
    bool in_usual_order_ = false;  ///< orders differ only in the loads that get older values
    unsigned depth_ = 0;

    OrderResult reference_;
    std::vector<WordVerdict> verdicts_;  ///< of the reference, by the index of WrittenWords
    files::Sentence error_;              ///< of the order that has just ended
    std::vector<PathTurn> path_;
    std::map<std::pair<UnitRunner::Key, std::uint64_t>, double> visited_;
    OrderSearch::Result result_;
};

}  // namespace warpscope::emulator
