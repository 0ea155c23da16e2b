#include "emulator/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "emulator/checks/undefined_values.h"
#include "emulator/program/error.h"
#include "emulator/saved_state.h"

namespace warpscope::emulator {

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

}  // namespace

Judge::Judge(const CheckChoice& choice, Launcher& launcher, std::uint64_t seed)
    : choice_(choice),
      launcher_(launcher),
      seed_(seed),
      set_(choice, launcher.machine().memory()) {}

std::vector<Judge::Trial> Judge::trials_of(const FrozenLaunch& launch) {
    const Kernel& kernel = *launch.kernel;
    const LaunchShape& shape = launch.launch;
    const bool is_new = tried_
                            .insert({&kernel, shape.grid.count(), shape.block.count(),
                                     shape.dynamic_shared_bytes, shape.cooperative})
                            .second;
    if (!is_new) return {};
    std::vector<Trial> trials;
    const auto add = [&](CheckChoice choice, std::string how, std::string note) -> FrozenLaunch& {
        trials.push_back({launch, choice, fmt::format("kernel {} {}", kernel.name, how), note});
        trials.back().launch.settings.progress = nullptr;
        return trials.back().launch;
    };
    const bool has_free_order = launch.settings.schedule == Schedule::random &&
                                launch.settings.block_order == GridOrder::ascending;
    if (choice_.race && has_free_order && depends_on_order(kernel)) {
        LaunchSettings& reverse =
            add({.race = true}, "in reverse order",
                " Only the reverse order of warps and blocks shows it (--schedule reverse).")
                .settings;
        reverse.schedule = Schedule::reverse;
        reverse.block_order = GridOrder::reverse;
        if (seed_ != 1) {
            LaunchSettings& by_seed =
                add({.race = true}, "with its blocks in the order of the seed",
                    fmt::format(" Only blocks in the order of the seed show it (--seed {}).",
                                seed_))
                    .settings;
            by_seed.block_order = GridOrder::by_seed;
            by_seed.seed = seed_;  // however many launches there were before
        }
    }
    if (choice_.memory && launch.unoptimized &&
        UndefinedValues::are_possible(*launch.unoptimized, UndefinedValues::Source::unset))
        add({.memory = true}, "without optimization",
            " Only the code without optimization shows it: the compiler has chosen a value.")
            .kernel = launch.unoptimized;
    return trials;
}

void Judge::try_launch(const Trial& trial, std::chrono::nanoseconds time) {
    Machine& machine = launcher_.machine();
    FrozenLaunch launch = trial.launch;
    launch.settings.time_limit =
        std::chrono::duration_cast<std::chrono::milliseconds>(2 * time) + time_for_another;
    launch.settings.limits_time_of_block = false;
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
        f.sentence += trial.note;
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
        error_ = error.what();
        timed_out_ = dynamic_cast<const TimedOut*>(&error);
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

Judge::Ran Judge::run(const FrozenLaunch& launch, Observer* beside) {
    ObserverList both;
    if (beside) both.add(observer());
    if (beside) both.add(*beside);
    Observer& all = beside ? both : observer();
    Ran ran{};
    run_and_try(launch, [&] {
        const LaunchMethod method = launcher_.choose(launch, &all);
        ran.compiled = method.code != nullptr;
        const auto start = std::chrono::steady_clock::now();
        launcher_.run(launch, &all, method);
        ran.time = std::chrono::steady_clock::now() - start;
        return true;
    });
    return ran;
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
    Verdict verdict{.findings = with_races(set_.findings(), of_other_orders_),
                    .error = error_,
                    .timed_out = timed_out_,
                    .not_tried = not_tried_};
    if (std::ranges::none_of(verdict.findings, is_undefined))
        verdict.findings = merged({verdict.findings, of_unoptimized_});
    return verdict;
}

}  // namespace warpscope::emulator
