#include "emulator/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include "emulator/checks/undefined_values.h"
#include "emulator/happens_before/memory_orders.h"
#include "emulator/machine/block_sample.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {
namespace {

/// A copy of what a launch can change: all global memory in use, the variables of a module, the
/// shared memory of the virtual SMs, and the text that kernels have printed. The machine's
/// allocations must not change while it is used.
class SavedState {
  public:
    SavedState(Machine& machine, const Module& module);
    void restore() const;

    /// The bytes of global memory that a copy takes.
    static std::size_t bytes(Machine& machine, const Module& module);

  private:
    Machine& machine_;
    std::vector<std::span<std::byte>> places_;
    std::vector<AlignedBytes> copies_;  ///< of each place
    Machine::OwnState own_;
};

/// Global memory and the variables of a module.
std::vector<std::span<std::byte>> places_of(Machine& machine, const Module& module) {
    std::vector<std::span<std::byte>> places;
    for (const Memory::Allocation& allocation : machine.memory().allocations())
        places.emplace_back(reinterpret_cast<std::byte*>(allocation.begin),
                            allocation.used_bytes());
    for (const Module::GlobalVariable& variable : module.variables())
        places.emplace_back(static_cast<std::byte*>(variable.data), variable.bytes);
    return places;
}

}  // namespace

SavedState::SavedState(Machine& machine, const Module& module)
    : machine_(machine), places_(places_of(machine, module)), own_(machine.own_state()) {
    for (const std::span<std::byte> place : places_) {
        const AlignedBytes& copy = copies_.emplace_back(place.size());
        if (!place.empty()) std::memcpy(copy.data(), place.data(), place.size());
    }
}

void SavedState::restore() const {
    for (std::size_t k = 0; k < places_.size(); ++k)
        if (!places_[k].empty())
            std::memcpy(places_[k].data(), copies_[k].data(), places_[k].size());
    machine_.own_state() = own_;
}

std::size_t SavedState::bytes(Machine& machine, const Module& module) {
    std::size_t bytes = 0;
    for (const std::span<std::byte> place : places_of(machine, module)) bytes += place.size();
    return bytes;
}

std::vector<std::string> CheckChoice::words() const {
    std::vector<std::string> words;
    for (const auto& [word, member] : check_words)
        if (this->*member) words.emplace_back(word);
    return words;
}

CheckSet::CheckSet(const CheckChoice& choice, Memory& memory) : heat_(memory) {
    if (choice.race) all_.add(race_);
    if (choice.race) all_.add(grid_races_);
    if (choice.barrier) all_.add(barrier_);
    if (choice.memory) all_.add(memory_);
    if (choice.counters) all_.add(counters_);
    if (choice.heat) all_.add(heat_);
    if (choice.heat && choice.race) race_.count_hazards_in(heat_);
    if (choice.heat && choice.race) grid_races_.count_hazards_in(heat_);
}

std::vector<Finding> CheckSet::findings() const {
    return by_repair(merged(
        {race_.findings(), grid_races_.findings(), barrier_.findings(), memory_.findings()}));
}

namespace {

using Interval = Finding::BarrierPlace;

bool is_in_loop(const Interval& i) {
    return i.from >= i.to;
}

/// A barrier stands before line `at`: behind `from` and not behind `to`.
bool repairs(int at, const Interval& i) {
    return i.from < at && at <= i.to;
}

/// Barriers stand between lines. The end of a launch does not keep shared memory, and words order
/// only those who use them: they repair with a race those of its own lines.
bool are_alike(BarrierScope a, BarrierScope b) {
    const auto is_barrier = [](BarrierScope s) { return s <= BarrierScope::grid; };
    return a != BarrierScope::words && (a == b || (is_barrier(a) && is_barrier(b)));
}

/// The indices of the findings that one barrier repairs together with `first`, which ends first.
bool belong_together(const Interval& first, const Interval& other) {
    if (!are_alike(first.scope, other.scope))
        return first.from == other.from && first.to == other.to;
    if (is_in_loop(first) != is_in_loop(other)) return false;
    if (!is_in_loop(first)) return repairs(first.to, other);
    if (first.from == first.to || other.from == other.to)
        return first.from == other.from && first.to == other.to;
    return first.to <= other.from && other.to <= first.from;
}

/// The race of a flag, which stands behind the races of what the flag hands over.
bool is_of_flag(const Finding& f) {
    if (!f.barrier || f.barrier->scope != BarrierScope::words) return false;
    return f.barrier->from == f.first.line || f.barrier->to == f.first.line ||
           f.barrier->from == f.second->line || f.barrier->to == f.second->line;
}

auto plainness(const Finding& f) {
    const bool read_behind_write =
        f.hazard == Hazard::read_after_write && f.order != AccessOrder::reversed;
    const int lines = f.barrier ? std::abs(f.barrier->to - f.barrier->from) : 0;
    const int scope = f.barrier ? int(f.barrier->scope) : 0;
    return std::make_tuple(!f.needs_atomic, -scope, -int(f.severity), is_of_flag(f),
                           !read_behind_write, lines, -std::int64_t(f.count));
}

/// A race of the accesses with which threads change a word: whether it is with one or with both.
bool is_of_update(const Finding& f, const Finding& update) {
    const auto is_place = [&](const ThreadAtLine& at) {
        return at.where() == update.first.where() || at.where() == update.second->where();
    };
    return f.kind == FindingKind::race && f.kernel == update.kernel && is_place(f.first) &&
           is_place(*f.second);
}

/// The place at which a race or an unwritten read reads.
std::string read_line(const Finding& f) {
    if (f.kind == FindingKind::uninitialized) return f.byte ? f.first.where() : "";
    return f.misread() && f.hazard == Hazard::write_after_read ? f.first.where() : "";
}

}  // namespace

std::vector<Finding> by_repair(const std::vector<Finding>& findings) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> order, group(findings.size(), none);
    for (std::size_t update = 0; update < findings.size(); ++update)
        for (std::size_t k = 0; k < findings.size() && findings[update].needs_atomic; ++k)
            if (group[k] == none && is_of_update(findings[k], findings[update])) group[k] = update;
    for (std::size_t k = 0; k < findings.size(); ++k)
        if (findings[k].barrier && group[k] == none) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return findings[a].barrier->to < findings[b].barrier->to;
    });
    for (const std::size_t first : order) {
        if (group[first] != none) continue;
        for (const std::size_t other : order)
            if (group[other] == none && findings[first].kernel == findings[other].kernel &&
                findings[first].first.file == findings[other].first.file &&
                belong_together(*findings[first].barrier, *findings[other].barrier))
                group[other] = first;
    }
    for (std::size_t k = 0; k < findings.size(); ++k)
        for (std::size_t race = 0; race < findings.size() && group[k] == none; ++race)
            if (findings[k].kind == FindingKind::uninitialized && group[race] != none &&
                findings[race].kernel == findings[k].kernel && !read_line(findings[k]).empty() &&
                read_line(findings[race]) == read_line(findings[k]))
                group[k] = group[race];
    std::vector<Finding> all;
    std::vector<bool> is_told(findings.size());
    for (std::size_t k = 0; k < findings.size(); ++k) {
        if (is_told[k]) continue;
        if (group[k] == none) {
            all.push_back(findings[k]);
            continue;
        }
        std::vector<std::size_t> members;
        for (std::size_t m = k; m < findings.size(); ++m)
            if (group[m] == group[k]) members.push_back(m);
        for (const std::size_t m : members) is_told[m] = true;
        const auto races_end = std::stable_partition(
            members.begin(), members.end(),
            [&](std::size_t m) { return findings[m].barrier || findings[m].needs_atomic; });
        const auto plainest =
            std::min_element(members.begin(), races_end, [&](std::size_t a, std::size_t b) {
                return plainness(findings[a]) < plainness(findings[b]);
            });
        Finding finding = findings[*plainest];
        members.erase(plainest);
        std::sort(members.begin(), members.end());
        for (const std::size_t m : members) {
            finding.repaired_too.push_back(findings[m]);
            if (findings[m].kind == FindingKind::race) finding.count += findings[m].count;
            finding.severity = std::max(finding.severity, findings[m].severity);
        }
        all.push_back(std::move(finding));
    }
    return merged({all});
}

namespace {

/// For another run of a launch, in addition to twice its time.
constexpr std::chrono::milliseconds time_for_another(300);

bool is_undefined(const Finding& finding) {
    return finding.kind == FindingKind::undefined;
}

/// The kernel and the two places of a race, in one order.
std::tuple<std::string, std::string, std::string> pair_of(const Finding& f) {
    const std::string first = f.first.where(), second = f.second ? f.second->where() : "";
    return {f.kernel, std::min(first, second), std::max(first, second)};
}

/// The most severe race that is known of each pair of places.
class KnownRaces {
  public:
    void add(const Finding& f) {
        Severity& severity = known_[pair_of(f)];
        severity = std::max(severity, f.severity);
        for (const Finding& other : f.repaired_too) add(other);
    }
    bool has(const Finding& f) const {
        const auto found = known_.find(pair_of(f));
        return found != known_.end() && found->second >= f.severity;
    }

  private:
    std::map<std::tuple<std::string, std::string, std::string>, Severity> known_;
};

/// Adds the races that only another order shows, or shows to be more severe, as between two blocks
/// and not in one warp.
std::vector<Finding> with_races(const std::vector<Finding>& findings, std::vector<Finding> others) {
    KnownRaces known;
    for (const Finding& f : findings) known.add(f);
    std::vector<Finding> added;
    for (Finding& f : others) {
        std::erase_if(f.repaired_too, [&](const Finding& other) { return known.has(other); });
        if (known.has(f)) continue;
        known.add(f);
        added.push_back(std::move(f));
    }
    return added.empty() ? findings : merged({findings, added});
}

/// The variables of another compilation of a module get the values of the module's own.
void copy_variables(const Module& from, const Module& to) {
    for (const Module::GlobalVariable& variable : to.variables())
        for (const Module::GlobalVariable& own : from.variables())
            if (own.name == variable.name && own.bytes == variable.bytes)
                std::copy_n(own.data, own.bytes, variable.data);
}

/// Whether blocks of the kernel cannot wait for each other, or learn from words of memory what
/// others have done: it does not matter in which order they run, or who watches them.
bool has_independent_blocks(const Kernel& kernel) {
    MemoryOrders orders;
    orders.begin_launch(kernel);
    if (orders.order_blocks_by_words()) return false;
    if (kernel.order_dependent && orders.atomics_decide()) return false;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc)
        if (kernel.lines[pc].access == MemoryAccess::load &&
            kernel.lines[pc].space != Space::shared && orders.is_strong(pc))
            return false;
    return true;
}

}  // namespace

Judge::Judge(const CheckChoice& choice, Launcher& launcher, std::uint64_t seed)
    : choice_(choice),
      launcher_(launcher),
      seed_(seed),
      set_(choice, launcher.machine().memory()) {}

Judge::Key Judge::key_of(const FrozenLaunch& launch) {
    const LaunchShape& shape = launch.launch;
    return {launch.kernel, shape.grid.count(), shape.block.count(), shape.dynamic_shared_bytes,
            shape.cooperative};
}

std::vector<Judge::Trial> Judge::trials_of(const FrozenLaunch& launch) {
    const Kernel& kernel = *launch.kernel;
    if (!tried_.insert(key_of(launch)).second) return {};
    std::vector<Trial> trials;
    const auto add = [&](CheckChoice choice, std::string how,
                         files::Sentence note) -> FrozenLaunch& {
        trials.push_back({launch, choice, fmt::format("kernel {} {}", kernel.name, how), note});
        trials.back().launch.settings.progress = nullptr;
        return trials.back().launch;
    };
    const bool has_free_order = launch.settings.schedule == Schedule::random &&
                                launch.settings.block_order == GridOrder::ascending;
    if (choice_.race && has_free_order && depends_on_order(kernel)) {
        LaunchSettings& reverse =
            add({.race = true}, "in reverse order",
                files::sentence(
                    "Only the reverse order of warps and blocks shows it (--schedule reverse)."))
                .settings;
        reverse.schedule = Schedule::reverse;
        reverse.block_order = GridOrder::reverse;
        if (seed_ != 1) {
            LaunchSettings& by_seed =
                add({.race = true}, "with its blocks in the order of the seed",
                    files::sentence("Only blocks in the order of the seed show it (--seed {}).",
                                    seed_))
                    .settings;
            by_seed.block_order = GridOrder::by_seed;
            by_seed.seed = seed_;  // however many launches there were before
        }
    }
    if (choice_.memory && launch.unoptimized &&
        UndefinedValues::are_possible(*launch.unoptimized, UndefinedValues::Source::unset))
        add({.memory = true}, "without optimization",
            files::sentence(
                "Only the code without optimization shows it: the compiler has chosen a "
                "value."))
            .kernel = launch.unoptimized;
    return trials;
}

void Judge::try_launch(const Trial& trial, std::chrono::nanoseconds time) {
    Machine& machine = launcher_.machine();
    FrozenLaunch launch = trial.launch;
    launch.settings.time_limit =
        std::chrono::duration_cast<std::chrono::milliseconds>(2 * time) + time_for_another;
    launch.settings.limits_time_of_block = false;
    if (!sample_.empty())
        launch.settings.runs = [&](std::uint32_t block) { return is_sampled(block); };
    CheckSet set(trial.choice, machine.memory());
    try {
        launcher_.run(launch, &set.observer());
    } catch (const TimedOut&) {
        not_tried_.push_back(fmt::format("Not tried to its end: {}, which takes more than {} ms.",
                                         trial.name, launch.settings.time_limit.count()));
        return;
    } catch (const Error&) {
        return;  // blocks in another order may wait for each other
    }
    std::vector<Finding> found = set.findings();
    const bool is_order = trial.choice.race;
    if (!is_order) std::erase_if(found, [](const Finding& f) { return !is_undefined(f); });
    for (Finding& f : found) {
        if (!is_order) f.severity = Severity::note;
        f.sentence.add(trial.note);
        (is_order ? of_other_orders_ : of_unoptimized_).push_back(std::move(f));
    }
}

template <typename Run>
void Judge::run_and_try(const FrozenLaunch& launch, const Run& run) {
    Machine& machine = launcher_.machine();
    const Module& module = *launch.kernel->module;
    std::vector<Trial> trials = trials_of(launch);
    if (!trials.empty() && SavedState::bytes(machine, module) > most_copied_bytes) {
        for (const Trial& trial : trials)
            not_tried_.push_back(
                fmt::format("Not tried: {}, which would copy more than {} GiB of memory.",
                            trial.name, most_copied_bytes >> 30));
        trials.clear();
    }
    std::optional<SavedState> before;
    if (!trials.empty()) before.emplace(machine, module);
    const auto start = std::chrono::steady_clock::now();
    bool is_whole = false;
    try {
        is_whole = run();
    } catch (const Stopped&) {
        throw;
    } catch (const Error& error) {
        error_ = error.words;
        timed_out_ = dynamic_cast<const TimedOut*>(&error);
        add_failure(launch, error);
        throw;
    }
    if (trials.empty() || !is_whole) return;
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    const SavedState after(machine, module);
    for (const Trial& trial : trials) {
        before->restore();
        if (trial.launch.kernel != launch.kernel)
            copy_variables(module, *trial.launch.kernel->module);
        try_launch(trial, time);
    }
    after.restore();
}

void Judge::add_failure(const FrozenLaunch& launch, const Error& error) {
    if (!choice_.has_checks()) return;
    ObservedLaunch failed;
    failed.begin(*launch.kernel, launch.launch);
    const Finding f{.kind = FindingKind::failure,
                    .kernel = launch.kernel->name,
                    .first = failed.at(error.place.pc, error.place.thread, error.block.value_or(0)),
                    .count = 1,
                    .sentence = error.words};
    const auto tells_it = [&](const Finding& other) {
        return (other.kind == FindingKind::memory || other.kind == FindingKind::barrier ||
                other.kind == FindingKind::members) &&
               other.severity == Severity::error && other.kernel == f.kernel &&
               other.first.where() == f.first.where();
    };
    if (std::ranges::none_of(set_.findings(), tells_it)) failures_.push_back(f);
}

Judge::Ran Judge::run(const FrozenLaunch& launch, Observer* beside) {
    ObserverList both;
    if (beside) both.add(observer());
    if (beside) both.add(*beside);
    Observer& all = beside ? both : observer();
    Ran ran{};
    run_and_try(launch, [&] {
        sample_.clear();
        if (may_be_sampled(launch)) {
            const auto start = std::chrono::steady_clock::now();
            ran.watched = run_in_parts(launch, all);
            ran.time = std::chrono::steady_clock::now() - start;
            return true;
        }
        const LaunchMethod method = launcher_.choose(launch, &all);
        ran.compiled = method.code != nullptr;
        ran.watched = launch.launch.grid.count();
        const auto start = std::chrono::steady_clock::now();
        launcher_.run(launch, &all, method);
        ran.time = std::chrono::steady_clock::now() - start;
        return true;
    });
    return ran;
}

bool Judge::may_be_sampled(const FrozenLaunch& launch) const {
    const bool counts = choice_.counters || choice_.heat;
    if (!choice_.samples || counts || launch.launch.grid.count() <= few_blocks) return false;
    if (launch.settings.schedule == Schedule::manual || blocks_run_together(launch)) return false;
    return has_independent_blocks(*launch.kernel);
}

std::uint64_t Judge::run_in_parts(const FrozenLaunch& launch, Observer& watching) {
    const std::uint64_t blocks = launch.launch.grid.count();
    const auto most =
        double(std::min(most_watched_, std::max(left_to_watch_ / 4, most_watched_ / 128)));
    double& of_block = work_[key_of(launch)];
    const bool is_known = of_block > 0;
    std::uint64_t watched = 0, instructions = 0;
    FrozenLaunch part = launch;
    const auto start = std::chrono::steady_clock::now();
    const auto limit_time = [&] {
        using std::chrono::milliseconds;
        const milliseconds limit = launch.settings.time_limit;
        const auto left =
            std::chrono::floor<milliseconds>(limit - (std::chrono::steady_clock::now() - start));
        if (limit.count() > 0) part.settings.time_limit = std::max(milliseconds(1), left);
    };
    const auto watch = [&] {
        if (watched > 0) set_.continue_launch();
        limit_time();
        const LaunchMethod method = launcher_.choose(part, &watching);
        instructions += launcher_.run(part, &watching, method).warp_instructions;
    };
    // The first block may be idle, so that a second part shows it before all blocks run.
    for (std::uint64_t next = is_known ? blocks : 1; watched < blocks && of_block * blocks <= most;
         next = 64 * watched) {
        part.settings.first_block = watched;
        part.settings.blocks = std::min(next, blocks - watched);
        watch();
        watched += part.settings.blocks;
        of_block = double(instructions) / double(watched);
    }
    if (watched < blocks) {
        sample_ =
            sample_of(launch.launch.grid, std::uint64_t(most / of_block), launch.settings.seed);
        std::erase_if(sample_, [&](std::uint32_t block) { return block < watched; });
        part.settings.first_block = watched;
        part.settings.blocks = blocks - watched;
        part.settings.runs = [&](std::uint32_t block) { return is_sampled(block); };
        watch();
        watched += sample_.size();
        part.settings.runs = [&](std::uint32_t block) { return !is_sampled(block); };
        limit_time();
        run_others(part);
    }
    left_to_watch_ -= std::min(left_to_watch_, instructions);
    return watched;
}

void Judge::run_others(const FrozenLaunch& launch) {
    MemoryCheck& memory = set_.memory_check();
    const auto stores = choice_.memory ? memory.follow_stores() : nullptr;
    try {
        launcher_.run(launch, stores.get(), launcher_.choose(launch, stores.get(), true));
    } catch (const Error& error) {
        if (!choice_.memory) throw;
        const std::uint32_t block = error.block.value_or(0);
        memory.on_block_begin(*launch.kernel, block);
        memory.on_error(block, error);
        throw;
    }
}

std::uint64_t Judge::run_first_blocks(const FrozenLaunch& launch, std::uint64_t instructions) {
    const std::uint64_t blocks = launch.launch.grid.count();
    std::uint64_t fit = 1;
    run_and_try(launch, [&] {
        // Block 0 is not the first one then, and may wait for others.
        if (launch.kernel->order_dependent && launch.settings.block_order != GridOrder::ascending) {
            launcher_.run(launch, &observer());
            fit = blocks;
            return true;
        }
        FrozenLaunch part = launch;
        part.settings.blocks = 1;
        const std::uint64_t each = launcher_.run(part, &observer()).warp_instructions;
        fit = std::clamp<std::uint64_t>(instructions / std::max<std::uint64_t>(each, 1), 1, blocks);
        part.settings.first_block = 1;
        part.settings.blocks = fit - 1;
        set_.continue_launch();
        if (fit > 1) launcher_.run(part, &observer());
        return fit == blocks;
    });
    return fit;
}

Verdict Judge::verdict() const {
    Verdict verdict{.findings = with_races(merged({failures_, set_.findings()}), of_other_orders_),
                    .error = error_,
                    .timed_out = timed_out_,
                    .not_tried = not_tried_};
    if (std::ranges::none_of(verdict.findings, is_undefined))
        verdict.findings = merged({verdict.findings, of_unoptimized_});
    return verdict;
}

}  // namespace warpscope::emulator
