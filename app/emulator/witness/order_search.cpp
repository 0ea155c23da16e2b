#include "emulator/witness/order_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

#include "emulator/machine/together/cluster_launch.h"
#include "emulator/program/error.h"
#include "emulator/stepper/blocks_together.h"
#include "emulator/stepper/earlier_blocks.h"
#include "emulator/warp/float_mode.h"
#include "emulator/witness/loop_watch.h"
#include "emulator/witness/reversals.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/unit_runner.h"

namespace warpscope::emulator {

namespace {

using Clock = std::chrono::steady_clock;
using StopAt = UnitRunner::StopAt;

/// What an order has made of the block.
struct OrderResult {
    std::uint64_t key = 0;  ///< equal for equal results
    std::string error;
    std::vector<std::uint32_t> values;  ///< of WrittenWords
    AccessOrders accesses;
};

class BlockSearch {
  public:
    /// `which`: the block, or nothing for all blocks of the launch together.
    template <class... Which>
    BlockSearch(const OrderSearch& options, Machine& machine, const FrozenLaunch& launch,
                Which... which)
        : options_(options),
          kernel_(*launch.kernel),
          watch_(machine.memory(), *launch.kernel->module),
          budget_(launch.settings),
          runner_(machine, launch, which..., budget_, watch_) {
        if (launch.settings.together) together_ = launch.launch;
        result_.witnesses.resize(std::max<std::size_t>(1, options.pairs.size()));
        start_ = runner_.save();
    }
    ~BlockSearch() { watch_.written.restore({}); }
    BlockSearch(const BlockSearch&) = delete;
    BlockSearch& operator=(const BlockSearch&) = delete;

    OrderSearch::Result run();

  private:
    struct PathTurn {
        std::uint32_t epoch = 0;
        ListedTurn turn;
        bool is_usual = false;  ///< the turn that comes where none is listed
        bool is_preempted = false;
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
    double run_turn(std::uint32_t warp, unsigned left);
    double continue_turn(std::uint32_t warp, unsigned left);
    double run_with_held_copies(std::uint32_t warp, unsigned left);
    void run_to_end();
    /// What a failed block has written does not count.
    std::uint64_t result_key() const { return error_.empty() ? watch_.written.key() : ~0ull; }
    OrderResult take_result();
    void compare();
    void add_witness(const OrderResult& result);
    void judge_reference();
    bool is_spoilt() const;
    /// Whether a word of the result counts, and is another one than in the reference.
    bool differs(std::size_t word) const;
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
        return ends_ = ends_ || options_.stop.stop_requested() || Clock::now() > deadline_;
    }

    void tell_progress() {
        if (!options_.progress) return;
        const auto passed =
            std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
        const auto now = std::min(passed, options_.time).count();
        options_.progress->add(std::uint64_t(std::max<std::int64_t>(0, now - told_)));
        told_ = std::max<std::int64_t>(told_, now);
    }

    const OrderSearch& options_;
    const Kernel& kernel_;
    AccessWatch watch_;
    Budget budget_;
    UnitRunner runner_;
    std::optional<LaunchShape> together_;
    UnitRunner::Position start_;
    Clock::time_point started_ = Clock::now(), deadline_;
    std::int64_t told_ = 0;  ///< milliseconds that options_.progress knows of
    bool ends_ = false, too_deep_ = false;
    unsigned depth_ = 0;

    OrderResult reference_;
    std::vector<bool> judged_;  ///< by the index of WrittenWords: the reference makes them right
    std::string error_;         ///< of the order that has just ended
    std::vector<PathTurn> path_;
    std::map<std::pair<UnitRunner::Key, std::uint64_t>, double> visited_;
    OrderSearch::Result result_;
};

void BlockSearch::run_reference(ReferenceOrder order) {
    runner_.restore(start_);
    error_.clear();
    const bool in_step = order == ReferenceOrder::in_step;
    try {
        while (runner_.runnable() && !must_end()) {
            runner_.begin_turn(runner_.usual_unit());
            if (runner_.go_on(in_step ? StopAt::any_access : StopAt::end_only))
                runner_.end_turn_here();
        }
        runner_.finish();
    } catch (const Error& error) {
        error_ = error.what();
    }
    judge_reference();
    reference_ = take_result();
    result_.reference = order;
}

void BlockSearch::judge_reference() {
    judged_.assign(watch_.written.size(), false);
    result_.judged = 0;
    for (std::size_t k = 0; options_.judge && error_.empty() && k < judged_.size(); ++k)
        if (options_.judge(watch_.written.address(k)) == WordVerdict::right) {
            judged_[k] = true;
            ++result_.judged;
        }
}

bool BlockSearch::differs(std::size_t word) const {
    if (result_.judged == 0) return watch_.written.now(word) != expected(word);
    return word < judged_.size() && judged_[word] &&
           options_.judge(watch_.written.address(word)) == WordVerdict::wrong;
}

/// Whether the order that has just ended spoils the result.
bool BlockSearch::is_spoilt() const {
    if (result_key() == reference_.key) return false;
    if (result_.judged == 0 || !error_.empty()) return true;
    for (std::size_t k = 0; k < judged_.size(); ++k)
        if (differs(k)) return true;
    return false;
}

OrderResult BlockSearch::take_result() {
    OrderResult result;
    result.key = result_key();
    result.error = std::exchange(error_, {});
    result.values = watch_.written.values();
    result.accesses = AccessOrders(watch_.log);
    return result;
}

OrderSearch::Result BlockSearch::run() {
    const FloatMode mode(kernel_.flush_subnormals);
    const auto start = started_ = Clock::now();
    deadline_ = start + options_.time;
    if (options_.progress) options_.progress->begin(std::uint64_t(options_.time.count()));
    // Conflicts that this order does not show are learned later, and it has to be logged again.
    for (std::uint64_t known = ~0ull; known != watch_.learned() && !must_end();) {
        known = watch_.learned();
        run_reference(ReferenceOrder::in_step);
        if (reference_.accesses.loses_an_update()) run_reference(ReferenceOrder::serial);
    }
    for (unsigned bound = 0; bound <= options_.preemptions; ++bound) {
        // Each level leaves half of the time to the next ones.
        deadline_ = start + options_.time;
        if (bound < options_.preemptions) deadline_ -= options_.time / (2 << bound);
        ends_ = false;
        if (run_level(bound)) result_.exhausted = bound;
        if (found_all() || options_.stop.stop_requested()) break;
    }
    return result_;
}

/// Returns whether all orders with so many preemptions were run.
bool BlockSearch::run_level(unsigned bound) {
    for (;;) {
        const std::uint64_t known = watch_.learned();
        visited_.clear();
        path_.clear();
        too_deep_ = false;
        runner_.restore(start_);
        const double orders = run_rest(bound, {});
        if (must_end() || too_deep_) return false;
        if (known != watch_.learned()) continue;
        result_.orders = orders;
        return true;
    }
}

std::vector<std::vector<ListedTurn>> BlockSearch::path_turns() const {
    std::vector<std::vector<ListedTurn>> turns;
    for (std::size_t k = 0; k < path_.size();) {
        std::size_t end = k;
        while (end < path_.size() && path_[end].epoch == path_[k].epoch) ++end;
        std::size_t last = end;
        while (last > k && path_[last - 1].is_usual) --last;
        if (last > k) turns.resize(path_[k].epoch + 1);
        for (std::size_t t = k; t < last; ++t) turns[path_[k].epoch].push_back(path_[t].turn);
        k = end;
    }
    return turns;
}

Witness BlockSearch::witness_of(const OrderResult& result, const Reversal& reversal) const {
    Witness witness{.turns = path_turns(),
                    .together = together_,
                    .held = runner_.held(),
                    .reversal = reversal,
                    .error = result.error};
    for (const PathTurn& turn : path_) witness.preemptions += turn.is_preempted;
    const WrittenWords& words = watch_.written;
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (!differs(k)) continue;
        if (witness.words++ > 0 && words.address(k) > witness.address) continue;
        witness.address = words.address(k);
        witness.value = words.now(k);
        witness.expected = expected(k);
    }
    return witness;
}

// An order has ended.
void BlockSearch::compare() {
    if (is_spoilt()) add_witness(take_result());
    error_.clear();
    if (found_all()) ends_ = true;
}

void BlockSearch::add_witness(const OrderResult& result) {
    if (options_.pairs.empty()) {
        const auto reversal = result.accesses.first_reversal(reference_.accesses);
        result_.witnesses[0] = witness_of(result, reversal.value_or(Reversal{}));
        return;
    }
    for (std::size_t k = 0; k < options_.pairs.size(); ++k) {
        if (result_.witnesses[k]) continue;
        const LinePair& pair = options_.pairs[k];
        const auto reversal = result.accesses.first_reversal(reference_.accesses, kernel_, pair);
        const auto held = runner_.held();
        const bool is_of_copy = std::ranges::any_of(held, [&](const HeldCopy& copy) {
            const std::string place = users_place(kernel_, copy.pc);
            return place == pair.first || place == pair.second;
        });
        if (reversal || is_of_copy)
            result_.witnesses[k] = witness_of(result, reversal.value_or(Reversal{}));
    }
}

/// Runs every order of the rest of the block with at most `left` preemptions, and returns their
/// number. The next turn is not one of warp `barred`.
double BlockSearch::run_rest(unsigned left, std::optional<std::uint32_t> barred) {
    const Deeper deeper{depth_};
    if (depth_ > most_depth) too_deep_ = true;
    using Visit = std::pair<UnitRunner::Key, std::uint64_t>;
    std::vector<std::pair<Visit, double>> chain;
    double orders = 0;
    for (;;) {
        if (must_end() || depth_ > most_depth) return orders;
        const std::uint32_t runnable = runner_.runnable();
        if (!runnable) {
            try {
                runner_.finish();
            } catch (const Error& error) {
                error_ = error.what();
            }
            compare();
            ++orders;
            break;
        }
        const Visit visit{runner_.key(), left | std::uint64_t(barred ? *barred + 1 : 0) << 32};
        const auto [known, is_new] = visited_.try_emplace(visit, -1.0);
        if (!is_new && !kernel_.is_asynchronous) {
            result_.endless = result_.endless || known->second < 0;
            orders += std::max(0.0, known->second);
            break;
        }
        chain.emplace_back(visit, orders);
        watch_.epoch = runner_.epoch();
        std::uint32_t next =
            runnable & watch_.rivals(barred ? *barred : std::uint32_t(std::countr_zero(runnable)));
        if (barred) next &= ~(1u << *barred);
        barred.reset();
        if (!next) break;
        if (std::has_single_bit(next)) {
            const double more = run_turn(std::uint32_t(std::countr_zero(next)), left);
            orders += more;
            if (!error_.empty()) {
                compare();
                ++orders;
                break;
            }
            continue;
        }
        const UnitRunner::Position here = runner_.save();
        const std::size_t length = path_.size();
        for (std::uint32_t warps = next; warps; warps &= warps - 1) {
            if (warps != next) runner_.restore(here);
            path_.resize(length);
            orders += run_turn(std::uint32_t(std::countr_zero(warps)), left);
            if (!error_.empty()) {
                compare();
                ++orders;
            } else {
                orders += run_rest(left, {});
            }
            if (ends_) break;
        }
        break;
    }
    if (!ends_)
        for (const auto& [visit, before] : chain) visited_[visit] = orders - before;
    return orders;
}

/// Runs a turn of a warp to its end. On the way, runs every order in which the turn ends earlier or
/// copies land later, and returns their number. Sets error_ where an instruction fails.
double BlockSearch::run_turn(std::uint32_t warp, unsigned left) {
    path_.push_back({runner_.epoch(), {.warp = warp}, warp == runner_.usual_unit(), false});
    ++result_.turns;
    runner_.begin_turn(warp);
    return continue_turn(warp, left);
}

double BlockSearch::continue_turn(std::uint32_t warp, unsigned left) {
    double orders = 0;
    const std::size_t at = path_.size() - 1;
    const PathTurn usual = path_[at];
    try {
        LoopWatch loop;
        while (runner_.go_on(StopAt::contended)) {
            if (must_end()) return orders;
            if (runner_.is_at_copy() && left > 0) orders += run_with_held_copies(warp, left - 1);
            if (must_end()) return orders;
            const std::uint32_t others = runner_.runnable() & ~(1u << warp);
            if (!runner_.may_end_here() || !(others & watch_.rivals(warp))) continue;
            if (loop.is_looping(runner_)) {
                path_[at].turn = runner_.turn();
                path_[at].is_usual = false;
                runner_.end_turn_here();
                result_.endless = true;
                break;
            }
            if (left == 0) continue;
            const UnitRunner::Position here = runner_.save();
            path_[at] = {path_[at].epoch, runner_.turn(), false, true};
            runner_.end_turn_here();
            orders += run_rest(left - 1, warp);
            runner_.restore(here);
            path_.resize(at + 1);
            path_[at] = usual;
        }
    } catch (const Error& error) {
        error_ = error.what();
    }
    return orders;
}

/// Runs every order in which the copies that come next do not land at once.
double BlockSearch::run_with_held_copies(std::uint32_t warp, unsigned left) {
    using Hold = AsyncCopies::Hold;
    double orders = 0;
    const UnitRunner::Position here = runner_.save();
    const std::vector<PathTurn> path = path_;
    for (const Hold hold : {Hold::late, Hold::to_end_of_turn}) {
        runner_.hold_copies(hold);
        orders += continue_turn(warp, left);
        if (!error_.empty()) {
            compare();
            ++orders;
        } else {
            orders += run_rest(left, {});
        }
        runner_.restore(here);
        path_ = path;
        if (ends_) break;
    }
    return orders;
}

}  // namespace

namespace {

/// The orders share the budget, and none may fail because of the others.
FrozenLaunch without_budget(FrozenLaunch launch) {
    launch.settings.instruction_budget = std::numeric_limits<std::uint64_t>::max();
    launch.settings.landing = Landing::at_once;  // but for those that an order holds
    launch.settings.held.clear();
    return launch;
}

}  // namespace

OrderSearch::Result OrderSearch::run(Machine& machine, const FrozenLaunch& launch,
                                     std::uint32_t block) const {
    const FrozenLaunch checked = without_budget(checked_launch(launch, block));
    if (BlocksTogether::are_needed(checked))
        throw Error(fmt::format(
            "kernel {}: the blocks of a {} wait for each other, so the orders of one block alone "
            "can't be searched",
            launch.kernel->name, checked.launch.cooperative ? "cooperative launch" : "cluster"));
    return BlockSearch(*this, machine, checked, block).run();
}

OrderSearch::Result OrderSearch::run_together(Machine& machine, const FrozenLaunch& launch) const {
    FrozenLaunch checked = without_budget(checked_launch(launch, 0));
    const LaunchShape& shape = checked.launch;
    if (ClusterLaunch::is_needed(*checked.kernel, shape))
        throw Error(fmt::format("kernel {}: the orders of blocks of a cluster can't be searched",
                                launch.kernel->name));
    if (!can_list_units(shape))
        throw Error(fmt::format(
            "kernel {}: the orders of the warps of several blocks can be searched in a launch of "
            "at most {} blocks with {} warps in all; this one has {} blocks with {} warps each",
            launch.kernel->name, most_listed_blocks, most_units, shape.grid.count(),
            warps_of_block(shape)));
    checked.settings.together = true;
    checked.settings.schedule = Schedule::manual;
    return BlockSearch(*this, machine, checked).run();
}

}  // namespace warpscope::emulator
