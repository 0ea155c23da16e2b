#include "emulator/witness/block_search.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "emulator/program/error.h"
#include "emulator/warp/float_mode.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {
namespace {

/// The n-th access of a warp to a word by one instruction.
using Instance = std::tuple<std::uint64_t, std::uint32_t, std::uint8_t, std::uint32_t>;

/// For each access of a log, which instance it is.
std::vector<Instance> instances_of(const std::vector<ConflictAccess>& log) {
    std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint8_t>, std::uint32_t> times;
    std::vector<Instance> instances;
    for (const ConflictAccess& a : log)
        instances.emplace_back(a.word, a.pc, a.warp, times[{a.word, a.pc, a.warp}]++);
    return instances;
}

/// Notices that a turn comes to a state that it has been in: the warp waits in a loop for another
/// one. It compares with a state that it notes less and less often (Brent 1980).
class LoopWatch {
  public:
    bool is_looping(const UnitRunner& runner) {
        constexpr std::uint64_t few = 64;
        if (++stops_ < few) return false;
        const std::uint64_t now = runner.warp_key();
        if (now == noted_) {
            const UnitRunner::Key whole = runner.key();
            if (whole_ == whole) return true;
            whole_ = whole;
        }
        if (std::has_single_bit(stops_)) {
            noted_ = now;
            whole_.reset();
        }
        return false;
    }

  private:
    std::uint64_t stops_ = 0, noted_ = 0;
    std::optional<UnitRunner::Key> whole_;
};

}  // namespace

bool AccessOrders::loses_an_update() const {
    struct Users {
        std::uint32_t epoch = 0, readers = 0, outdated = 0;  ///< warps, a bit each
    };
    std::map<std::uint64_t, Users> of_word;
    for (const ConflictAccess& a : log_) {
        Users& users = of_word[a.word];
        if (users.epoch != a.epoch) users = {.epoch = a.epoch};
        const std::uint32_t mine = 1u << a.warp;
        if (!a.writes) {
            users.readers |= mine;
            users.outdated &= ~mine;
            continue;
        }
        if (users.outdated & mine) return true;
        users.outdated |= users.readers & ~mine;
        users.readers &= ~mine;
    }
    return false;
}

template <class Wanted>
std::optional<Reversal> AccessOrders::find(const AccessOrders& reference,
                                           const Wanted& wanted) const {
    std::map<Instance, std::size_t> place_in_reference;
    const std::vector<Instance> there = instances_of(reference.log_), here = instances_of(log_);
    for (std::size_t k = 0; k < there.size(); ++k) place_in_reference.emplace(there[k], k);
    // For each word, its accesses in the reference.
    std::map<std::uint64_t, std::vector<std::size_t>> of_word;
    for (std::size_t k = 0; k < there.size(); ++k) of_word[reference.log_[k].word].push_back(k);
    std::vector<bool> done(there.size(), false);
    for (std::size_t k = 0; k < here.size(); ++k) {
        const auto found = place_in_reference.find(here[k]);
        if (found == place_in_reference.end()) continue;
        const ConflictAccess& mine = log_[k];
        for (const std::size_t before : of_word[mine.word]) {
            if (before >= found->second) break;
            const ConflictAccess& other = reference.log_[before];
            if (done[before] || other.warp == mine.warp || !(other.writes || mine.writes)) continue;
            const Reversal reversal{mine.warp, mine.pc, other.warp, other.pc};
            if (wanted(reversal)) return reversal;
        }
        done[found->second] = true;
    }
    return {};
}

std::optional<Reversal> AccessOrders::first_reversal(const AccessOrders& reference) const {
    return find(reference, [](const Reversal&) { return true; });
}

std::optional<Reversal> AccessOrders::first_reversal(const AccessOrders& reference,
                                                     const Kernel& kernel,
                                                     const LinePair& places) const {
    std::map<std::uint32_t, std::string> known;
    const auto place = [&](std::uint32_t pc) -> const std::string& {
        std::string& text = known[pc];
        if (text.empty()) text = users_place(kernel, pc);
        return text;
    };
    return find(reference, [&](const Reversal& reversal) {
        const std::string &a = place(reversal.pc), &b = place(reversal.other_pc);
        return (a == places.first && b == places.second) ||
               (b == places.first && a == places.second);
    });
}

using Clock = std::chrono::steady_clock;
using StopAt = UnitRunner::StopAt;

void BlockSearch::run_reference(ReferenceOrder order) {
    runner_.restore(start_);
    error_ = {};
    const bool in_step = order == ReferenceOrder::in_step;
    try {
        while (runner_.runnable() && !must_end()) {
            runner_.begin_turn(runner_.usual_unit());
            if (runner_.go_on(in_step ? StopAt::any_access : StopAt::end_only))
                runner_.end_turn_here();
        }
        runner_.finish();
    } catch (const Error& error) {
        error_ = error.words;
    }
    judge_reference();
    reference_ = take_result();
    result_.reference = order;
}

void BlockSearch::judge_reference() {
    verdicts_.assign(watch_.written.size(), WordVerdict::unknown);
    for (std::size_t k = 0; options_.judge && error_.empty() && k < verdicts_.size(); ++k)
        verdicts_[k] = options_.judge(watch_.written.address(k));
    result_.judged = std::uint64_t(std::ranges::count(verdicts_, WordVerdict::right));
    result_.wrong = std::uint64_t(std::ranges::count(verdicts_, WordVerdict::wrong));
}

/// The order in which the warps advance together, unless they lose an update in it, or the other
/// one makes more words right.
void BlockSearch::choose_reference() {
    run_reference(ReferenceOrder::in_step);
    if (reference_.accesses.loses_an_update()) return run_reference(ReferenceOrder::serial);
    if (result_.wrong == 0) return;
    const std::uint64_t right = result_.judged;
    run_reference(ReferenceOrder::serial);
    if (result_.judged <= right) run_reference(ReferenceOrder::in_step);
}

bool BlockSearch::differs(std::size_t word, bool of_wrong) const {
    const bool changed = watch_.written.now(word) != expected(word);
    if (result_.judged == 0) return changed && !of_wrong;
    if (word >= verdicts_.size()) return false;
    if (of_wrong) return changed && verdicts_[word] == WordVerdict::wrong;
    return verdicts_[word] == WordVerdict::right &&
           options_.judge(watch_.written.address(word)) == WordVerdict::wrong;
}

/// Whether the order that has just ended spoils the result.
bool BlockSearch::is_spoilt() const {
    if (result_key() == reference_.key) return false;
    if (result_.judged == 0 || !error_.empty()) return true;
    for (std::size_t k = 0; k < verdicts_.size(); ++k)
        if (differs(k, false) || differs(k, true)) return true;
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
        choose_reference();
    }
    // A load that gets an older value rarely needs another order than the usual one.
    in_usual_order_ = launch_.settings.keeps_old_values;
    for (unsigned loads = 1; in_usual_order_ && loads <= options_.preemptions; ++loads)
        if (!found_all()) run_level(loads);
    in_usual_order_ = false;
    for (unsigned bound = 0; bound <= options_.preemptions; ++bound) {
        if (found_all() || options_.stop.stop_requested()) break;
        // Each level leaves half of the time to the next ones.
        deadline_ = start + options_.time;
        if (bound < options_.preemptions) deadline_ -= options_.time / (2 << bound);
        ends_ = false;
        if (run_level(bound)) result_.exhausted = bound;
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
                    .together = result_.together,
                    .held = runner_.held(),
                    .reversal = reversal,
                    .error = result.error};
    for (const PathTurn& turn : path_) witness.preemptions += turn.is_preempted;
    const WrittenWords& words = watch_.written;
    const auto count = [&](bool of_wrong) {
        for (std::size_t k = 0; k < words.size(); ++k) witness.words += differs(k, of_wrong);
        return witness.words > 0;
    };
    witness.is_wrong_anyway = !count(false) && count(true);
    for (std::size_t k = 0, seen = 0; k < words.size(); ++k) {
        if (!differs(k, witness.is_wrong_anyway)) continue;
        if (seen++ > 0 && words.address(k) > witness.address) continue;
        witness.address = words.address(k);
        witness.value = words.now(k);
        witness.expected = expected(k);
    }
    return witness;
}

// An order has ended.
void BlockSearch::compare() {
    if (is_spoilt()) add_witness(take_result());
    error_ = {};
    if (found_all()) ends_ = true;
}

void BlockSearch::add_witness(const OrderResult& result) {
    if (launch_.settings.keeps_old_values) return add_old_read(result);
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

bool BlockSearch::is_of(const OldRead& read, const LinePair& pair) const {
    const std::string load = users_place(kernel_, read.pc),
                      store = users_place(kernel_, read.store.pc);
    return (load == pair.first && store == pair.second) ||
           (load == pair.second && store == pair.first);
}

/// The order that has ended is a witness of the pair whose load gets the first older value in it.
void BlockSearch::add_old_read(const OrderResult& result) {
    const auto first =
        std::ranges::find_if(path_, [](const PathTurn& turn) { return turn.old_read.has_value(); });
    if (first == path_.end()) return;
    for (std::size_t k = 0; k < options_.pairs.size(); ++k) {
        if (result_.witnesses[k] || !is_of(*first->old_read, options_.pairs[k])) continue;
        Witness witness = witness_of(result, {});
        witness.old_read = first->old_read;
        if (may_read_old()) result_.witnesses[k] = std::move(witness);
        return;
    }
}

/// Whether PTX lets each load that gets an older value in this order get it. Runs the order again
/// up to them.
bool BlockSearch::may_read_old() {
    const std::uint32_t warps = warps_of_block(launch_.launch);
    for (std::size_t k = 0; k < path_.size(); ++k) {
        if (!path_[k].old_read) continue;
        OldReadCheck check(launch_, blocks_, *path_[k].old_read);
        runner_.restore(start_);
        watch_.instead = &check;
        for (std::size_t turn = 0; turn <= k; ++turn) {
            check.on_block_turn(blocks_[path_[turn].turn.warp / warps]);
            if (turn == k) check.expect_load();
            try {
                runner_.take_turn(path_[turn].turn);
            } catch (const Error&) {  // behind the load
            }
        }
        watch_.instead = nullptr;
        if (!check.is_allowed()) return false;
    }
    return true;
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
            end_blocks();
            ++orders;
            break;
        }
        const Visit visit{runner_.key(), left | std::uint64_t(barred ? *barred + 1 : 0) << 32};
        const auto [known, is_new] = visited_.try_emplace(visit, -1.0);
        if (!is_new && runner_.has_whole_key()) {
            result_.endless = result_.endless || known->second < 0;
            orders += std::max(0.0, known->second);
            break;
        }
        chain.emplace_back(visit, orders);
        watch_.epoch = runner_.epoch();
        std::uint32_t next =
            runnable & watch_.rivals(barred ? *barred : std::uint32_t(std::countr_zero(runnable)));
        if (const std::uint32_t usual = 1u << runner_.usual_unit(); in_usual_order_)
            next = runnable & usual ? usual : runnable & (0 - runnable);
        if (barred) next &= ~(1u << *barred);
        barred.reset();
        if (!next) break;
        if (std::has_single_bit(next)) {
            orders += run_turn(std::uint32_t(std::countr_zero(next)), left);
            if (error_.empty()) continue;
            orders += run_behind_turn(left);
            break;
        }
        const UnitRunner::Position here = runner_.save();
        const std::size_t length = path_.size();
        for (std::uint32_t warps = next; warps; warps &= warps - 1) {
            if (warps != next) runner_.restore(here);
            path_.resize(length);
            orders += run_turn(std::uint32_t(std::countr_zero(warps)), left);
            orders += run_behind_turn(left);
            if (ends_) break;
        }
        break;
    }
    if (!ends_)
        for (const auto& [visit, before] : chain) visited_[visit] = orders - before;
    return orders;
}

/// No warp can run: the order has ended, or the threads wait for ever.
void BlockSearch::end_blocks() {
    try {
        runner_.finish();
    } catch (const Error& error) {
        error_ = error.words;
    }
    compare();
}

/// Runs every order behind a turn that has ended, and returns their number. An order whose turn has
/// failed is one.
double BlockSearch::run_behind_turn(unsigned left) {
    if (error_.empty()) return run_rest(left, {});
    compare();
    return 1;
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
            if (runner_.other_store() && left > 0) orders += run_with_old_values(warp, left - 1);
            if (must_end()) return orders;
            const std::uint32_t others = runner_.runnable() & ~(1u << warp);
            if (!runner_.may_end_here() || !(others & watch_.rivals(warp))) continue;
            if (loop.is_looping(runner_)) {
                path_[at] = ended_here(usual, false);
                runner_.end_turn_here();
                result_.endless = true;
                break;
            }
            if (left == 0 || in_usual_order_) continue;
            const UnitRunner::Position here = runner_.save();
            path_[at] = ended_here(usual, true);
            runner_.end_turn_here();
            orders += run_rest(left - 1, warp);
            runner_.restore(here);
            path_.resize(at + 1);
            path_[at] = usual;
        }
    } catch (const Error& error) {
        error_ = error.words;
    }
    return orders;
}

/// A turn of the path that ends where the runner has stopped.
BlockSearch::PathTurn BlockSearch::ended_here(const PathTurn& turn, bool is_preempted) const {
    PathTurn ended{turn.epoch, runner_.turn(), false, is_preempted, turn.old_read};
    ended.turn.reads_old = turn.turn.reads_old;
    return ended;
}

/// Runs every order in which the load that comes next gets an older value.
double BlockSearch::run_with_old_values(std::uint32_t warp, unsigned left) {
    const ListedTurn before = runner_.turn();
    std::uint32_t pc = before.until;
    while (is_prefix(kernel_.code[pc].role)) ++pc;
    const std::uint32_t warps = warps_of_block(launch_.launch);
    const OldRead read{*runner_.other_store(), blocks_[warp / warps], warp % warps, pc};
    if (std::ranges::none_of(options_.pairs, [&](const auto& pair) { return is_of(read, pair); }))
        return 0;
    const UnitRunner::Position here = runner_.save();
    const std::vector<PathTurn> path = path_;
    path_.back() = ended_here(path.back(), false);
    runner_.end_turn_here();
    path_.push_back({runner_.epoch(), {.warp = warp, .reads_old = true}, false, false, read});
    runner_.begin_turn(warp, true);
    double orders = continue_turn(warp, left);
    orders += run_behind_turn(left);
    runner_.restore(here);
    path_ = path;
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
        orders += run_behind_turn(left);
        runner_.restore(here);
        path_ = path;
        if (ends_) break;
    }
    return orders;
}

}  // namespace warpscope::emulator
