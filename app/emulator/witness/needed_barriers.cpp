#include "emulator/witness/needed_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "emulator/observe/finding_log.h"
#include "emulator/observe/observer_list.h"
#include "emulator/program/error.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "emulator/witness/access_watch.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view opcodes[] = {"bar.sync",
                                        "barrier.sync",
                                        "bar.warp.sync",
                                        "barrier.cluster",
                                        "membar",
                                        "fence",
                                        "cp.async.wait_group",
                                        "cp.async.wait_all",
                                        "cp.async.bulk.wait_group",
                                        "mbarrier.test_wait",
                                        "mbarrier.try_wait"};

/// The opcode without its modifiers; empty: none of those that order accesses.
std::string_view opcode_in(std::string_view text) {
    if (text.starts_with('@'))
        text.remove_prefix(std::min(text.find_first_of(" \t") + 1, text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::string_view found;
    for (const std::string_view opcode : opcodes)
        if (text.starts_with(opcode) && opcode.size() > found.size()) found = opcode;
    return found;
}

/// What a run of some blocks has made of the words that it writes.
struct Outcome {
    files::Sentence error;
    std::vector<std::uint32_t> values;  ///< by the index of WrittenWords
    std::vector<WordVerdict> verdicts;  ///< likewise; empty: nobody judges
    std::uint64_t races = 0;
    files::Sentence race;  ///< about the first one
};

/// Runs the first blocks of a launch again and again, from one state of memory.
class RepeatedLaunch {
  public:
    RepeatedLaunch(Machine& machine, const FrozenLaunch& launch, std::uint64_t instructions,
                   const JudgeWord& judge)
        : machine_(machine),
          launch_(launch),
          judge_(judge),
          watch_(machine.memory(), *launch.kernel->module) {
        const std::size_t bytes = launch.kernel->shared_bytes + launch.launch.dynamic_shared_bytes;
        for (unsigned sm = 0; sm < machine.virtual_sms(); ++sm) {
            const auto memory = machine.shared_memory(sm, bytes);
            shared_.emplace_back(memory.begin(), memory.end());
        }
        for (const auto& variable : launch.kernel->module->variables())
            variables_.emplace_back(variable.data, variable.data + variable.bytes);
        launch_.settings.threads = 1;
        launch_.settings.first_block = 0;
        launch_.settings.blocks = 1;
        const std::uint64_t each = machine.run(launch_, &watch_).warp_instructions;
        restore(launch_);
        launch_.settings.blocks = std::clamp<std::uint64_t>(
            instructions / std::max<std::uint64_t>(each, 1), 1, launch.launch.grid.count());
    }
    ~RepeatedLaunch() { restore(launch_); }
    RepeatedLaunch(const RepeatedLaunch&) = delete;
    RepeatedLaunch& operator=(const RepeatedLaunch&) = delete;

    std::uint64_t blocks() const { return launch_.settings.blocks; }
    const WrittenWords& written() const { return watch_.written; }

    /// With another form of the kernel, and with the race check where `looks_for_races`.
    Outcome run(const Kernel& kernel, Schedule schedule, std::uint64_t seed, bool looks_for_races) {
        FrozenLaunch launch = launch_;
        launch.kernel = &kernel;
        launch.settings.schedule = schedule;
        launch.settings.seed = seed;
        // A kernel without a barrier may wait for ever in a loop.
        constexpr std::uint64_t much_longer = 16;
        launch.settings.instruction_budget =
            std::max<std::uint64_t>(longest_ * much_longer, 1 << 22);
        RaceDetector races;
        GridRaces grid_races;
        ObserverList all;
        if (looks_for_races) {
            all.add(races);
            all.add(grid_races);
        }
        all.add(watch_);
        Outcome outcome;
        try {
            longest_ = std::max(longest_, machine_.run(launch, &all).warp_instructions);
        } catch (const Error& error) {
            outcome.error = error.words;
        }
        outcome.values = watch_.written.values();
        for (std::size_t k = 0; judge_ && k < watch_.written.size(); ++k)
            outcome.verdicts.push_back(judge_(watch_.written.address(k)));
        if (looks_for_races)
            for (const Finding& finding : merged({races.findings(), grid_races.findings()})) {
                if (finding.kind != FindingKind::race) continue;
                outcome.races += finding.count;
                if (outcome.race.empty()) outcome.race = finding.sentence;
            }
        restore(launch);
        return outcome;
    }

  private:
    void restore(const FrozenLaunch& launch) {
        watch_.written.restore({});
        for (unsigned sm = 0; sm < shared_.size(); ++sm)
            std::ranges::copy(shared_[sm], machine_.shared_memory(sm, shared_[sm].size()).begin());
        const auto& variables = launch.kernel->module->variables();
        for (std::size_t k = 0; k < variables.size() && k < variables_.size(); ++k)
            std::ranges::copy(variables_[k], variables[k].data);
        machine_.take_output();
    }

    Machine& machine_;
    FrozenLaunch launch_;
    const JudgeWord& judge_;
    AccessWatch watch_;
    std::vector<std::vector<std::byte>> shared_, variables_;
    std::uint64_t longest_ = 0;
};

struct Order {
    Schedule schedule;
    std::uint64_t seed;
};
constexpr Order orders[] = {{Schedule::run_to_barrier, 1},
                            {Schedule::reverse, 1},
                            {Schedule::random, 1},
                            {Schedule::random, 2},
                            {Schedule::random, 3}};

/// What was seen without one line.
struct Without {
    std::vector<bool> differs;  ///< by the index of WrittenWords
    std::uint64_t races = 0;    ///< more than with it
    files::Sentence race, error;
};

/// "the first 40 of 4096 blocks": those that were run, of all in the grid.
files::Sentence blocks_run(std::uint64_t blocks, std::uint64_t all) {
    if (all == 1) return files::sentence("the only block");
    if (blocks == all) return files::sentence("all {} blocks", all);
    return blocks == 1 ? files::sentence("the first of {} blocks", all)
                       : files::sentence("the first {} of {} blocks", blocks, all);
}

/// `are_expected`: the words that count are those that are expected. `where`: the blocks that were
/// run. `is_fence`: the line orders nothing but the accesses of a thread.
files::Sentence sentence_of(const Without& seen, std::uint64_t differing, std::uint64_t words,
                            bool are_expected, const files::Sentence& where, bool is_fence) {
    const files::Form<1> form = are_expected ? words == 1 ? files::Form<1>("{} expected word")
                                                          : files::Form<1>("{} expected words")
                                : words == 1 ? files::Form<1>("{} word")
                                             : files::Form<1>("{} words");
    const files::Sentence all = files::sentence(form, words);
    const files::Sentence blocks =
        is_fence ? files::sentence(
                       "{} (in the emulator the accesses of a thread stay in order, so "
                       "no result can show a missing fence)",
                       where)
                 : where;
    if (!seen.error.empty())
        return files::sentence("It is needed: without it the launch fails: {}", seen.error);
    if (differing > 0)
        return files::sentence(
            "{} % depend on it: without it, {} of {} written by {} differ in at least one of {} "
            "orders.",
            fmt::format("{:.{}f}", 100.0 * double(differing) / double(words),
                        differing * 10 < words ? 1 : 0),
            differing, all, where, std::size(orders));
    if (seen.races > 0)
        return files::sentence(
                   "It is needed, although no result shows it: without it, {} stay as they are in "
                   "{} orders of {}, but there are {}.",
                   all, std::size(orders), blocks,
                   seen.races == 1 ? files::sentence("{} hazard", seen.races)
                                   : files::sentence("{} hazards", seen.races))
            .add(seen.race);
    return files::sentence(
        "Nothing needed it for this input: without it, {} stay as they are in {} orders of {}, and "
        "there is no race.",
        all, std::size(orders), blocks);
}

/// By the index of WrittenWords: the words that are right in every order of the launch as it is.
std::vector<bool> always_right(const std::vector<Outcome>& outcomes) {
    std::vector<bool> right(outcomes[0].verdicts.size(), true);
    for (const Outcome& outcome : outcomes)
        for (std::size_t w = 0; w < right.size(); ++w)
            right[w] = right[w] && outcome.verdicts[w] == WordVerdict::right;
    return right;
}

/// Runs a form of the kernel in all orders. `expected`: the words that must stay right; empty: each
/// word must stay as it is.
Without without(RepeatedLaunch& repeated, const Kernel& kernel,
                const std::vector<Outcome>& as_it_is, const std::vector<bool>& expected) {
    Without seen;
    for (std::size_t k = 0; k < std::size(orders) && seen.error.empty(); ++k) {
        const Outcome outcome = repeated.run(kernel, orders[k].schedule, orders[k].seed, k == 0);
        seen.error = outcome.error;
        if (k == 0 && outcome.races > as_it_is[0].races) {
            seen.races = outcome.races - as_it_is[0].races;
            seen.race = outcome.race;
        }
        const WrittenWords& words = repeated.written();
        seen.differs.resize(words.size());
        for (std::size_t w = 0; w < words.size(); ++w) {
            const auto value = [&](const std::vector<std::uint32_t>& values) {
                return w < values.size() ? values[w] : words.original(w);
            };
            const bool differs = expected.empty()
                                     ? value(outcome.values) != value(as_it_is[k].values)
                                     : w < expected.size() && expected[w] &&
                                           outcome.verdicts[w] == WordVerdict::wrong;
            if (differs) seen.differs[w] = true;
        }
    }
    return seen;
}

/// The addresses, ascending, of the words that `which` marks by their index in WrittenWords.
std::vector<std::uint64_t> addresses_of(const WrittenWords& words, const std::vector<bool>& which) {
    std::vector<std::uint64_t> addresses;
    for (std::size_t k = 0; k < which.size(); ++k)
        if (which[k]) addresses.push_back(words.address(k));
    std::ranges::sort(addresses);
    return addresses;
}

}  // namespace

std::vector<OrderingLine> ordering_lines(const Kernel& kernel) {
    std::vector<OrderingLine> lines;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const InstructionInfo& info = kernel.lines[pc];
        const std::string_view opcode = info.pseudo ? "" : opcode_in(info.text);
        if (opcode.empty()) continue;
        const auto same = std::ranges::find_if(lines, [&](const OrderingLine& line) {
            return line.what == opcode &&
                   users_place(kernel, line.pcs[0]) == users_place(kernel, pc);
        });
        if (same == lines.end())
            lines.push_back({std::string(opcode), {pc}});
        else
            same->pcs.push_back(pc);
    }
    return lines;
}

std::string ptx_without(const Kernel& kernel, const OrderingLine& line) {
    std::string text = kernel.module->text();
    for (const std::uint32_t pc : line.pcs) {
        // An instruction of a function that is called at several places has been taken out before.
        const std::size_t begin = statement_begin(text, kernel.lines[pc]);
        if (begin == text.npos) continue;
        const std::size_t end = text.find(';', begin);
        // A wait for a phase says at once that the phase has ended.
        if (line.what.starts_with("mbarrier.")) {
            const std::size_t opcode = text.find("mbarrier.", begin);
            const std::size_t result = text.find_first_of(" \t", opcode),
                              comma = text.find(',', result);
            std::string instead =
                fmt::format("setp.eq.u32 {}, 0, 0", text.substr(result + 1, comma - result - 1));
            instead.resize(std::max(instead.size(), end - opcode), ' ');
            text.replace(opcode, end - opcode, instead);
            continue;
        }
        for (std::size_t k = begin; k <= end && k < text.size(); ++k)
            if (text[k] != '\n') text[k] = ' ';
    }
    return text;
}

Necessity NecessityCheck::run(Machine& machine, const FrozenLaunch& launch) const {
    const Kernel& kernel = *launch.kernel;
    const auto deadline = Clock::now() + time;
    const std::vector<OrderingLine> lines = ordering_lines(kernel);
    Necessity found;
    if (lines.empty()) return found;
    if (progress) progress->begin(lines.size());
    RepeatedLaunch repeated(machine, launch, instructions, judge);
    std::vector<Outcome> as_it_is;
    for (const Order& order : orders) {
        as_it_is.push_back(repeated.run(kernel, order.schedule, order.seed, as_it_is.empty()));
        if (!as_it_is.back().error.empty()) throw Error(as_it_is.back().error);
    }
    const std::vector<bool> expected = always_right(as_it_is);
    const auto judged = std::uint64_t(std::ranges::count(expected, true));
    ObservedLaunch observed;
    observed.begin(kernel, launch.launch);
    for (const OrderingLine& line : lines) {
        auto& [finding, words, is_needed] = found.lines.emplace_back();
        finding.kind = FindingKind::needed;
        finding.severity = Severity::note;
        finding.kernel = kernel.name;
        finding.first = observed.at(line.pcs[0], 0, 0);
        if (stop.stop_requested() || Clock::now() > deadline) {
            finding.sentence = stop.stop_requested()
                                   ? files::sentence("It was not examined: a person stopped that.")
                                   : files::sentence("It was not examined: the time was over.");
            continue;
        }
        const auto module = Module::parse(ptx_without(kernel, line), kernel.module->name());
        const Without seen = without(repeated, *module->find(kernel.name), as_it_is,
                                     judged > 0 ? expected : std::vector<bool>());
        words = addresses_of(repeated.written(), seen.differs);
        finding.count = words.size();
        is_needed = !words.empty() || seen.races > 0 || !seen.error.empty();
        finding.sentence =
            sentence_of(seen, finding.count, judged > 0 ? judged : repeated.written().size(),
                        judged > 0, blocks_run(repeated.blocks(), launch.launch.grid.count()),
                        line.what == "fence" || line.what == "membar");
        if (progress) progress->add(1);
    }
    const std::size_t all = repeated.written().size();
    found.words = addresses_of(repeated.written(), judged > 0 ? expected : std::vector(all, true));
    return found;
}

}  // namespace warpscope::emulator
