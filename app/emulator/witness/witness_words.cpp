#include "emulator/witness/witness_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "emulator/warp/memory.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/turn_runner.h"

namespace warpscope::emulator {

namespace {

files::Sentence preemptions_words(unsigned preemptions) {
    return preemptions == 1 ? files::sentence("{} preemption", preemptions)
                            : files::sentence("{} preemptions", preemptions);
}

std::string count_words(double orders) {
    constexpr double exact = 1e15;
    if (orders > exact) return "more than 10^15";
    std::string digits = fmt::format("{:.0f}", orders);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
    return digits;
}

files::Sentence warp_of_block(const Dim3& block, std::uint32_t warp) {
    return files::sentence("warp {} of block {}", warp, name_of(block));
}

files::Sentence name_of_warp(std::uint32_t warp) {
    return files::sentence("warp {}", warp);
}

/// "(0,0,0), (3,0,0)"
std::string names_of_blocks(const BlockGroup& group) {
    std::string text;
    for (const std::uint32_t block : group.blocks)
        text += (text.empty() ? "" : ", ") + name_of(index_in(group.launch.grid, block));
    return text;
}

/// "16 orders of the warps of blocks (0,0,0), (3,0,0)". `count`: may be empty. `group`: null or all
/// blocks: they are not named.
files::Sentence orders_words(const std::string& count, const std::optional<BlockGroup>& group) {
    if (!group || group->is_whole())
        return count.empty() ? files::sentence("orders") : files::sentence("{} orders", count);
    const std::string blocks = names_of_blocks(*group);
    return count.empty() ? files::sentence("orders of the warps of blocks {}", blocks)
                         : files::sentence("{} orders of the warps of blocks {}", count, blocks);
}

/// "warp 1 reads at a.cu:12 what the word held before warp 0 stores to it at a.cu:7, as it may:
/// nothing orders the two"
files::Sentence old_read_words(const Kernel& kernel, const OldRead& read,
                               const std::optional<BlockGroup>& together) {
    const auto name = [&](std::uint32_t block, std::uint32_t warp) {
        if (!together) return name_of_warp(warp);
        return warp_of_block(index_in(together->launch.grid, block), warp);
    };
    return files::sentence(
        "{} reads at {} what the word held before {} stored to it at {}, as it may, since nothing "
        "orders the two",
        name(read.block, read.warp), users_place(kernel, read.pc),
        name(read.store.block, read.store.warp), users_place(kernel, read.store.pc));
}

/// "…, for the 2nd time"
files::Sentence for_the_time(const files::Sentence& turn, unsigned n) {
    const unsigned last = n / 10 % 10 == 1 ? 0 : n % 10;
    const files::Form<2> form = last == 1   ? files::Form<2>("{}, for the {}st time")
                                : last == 2 ? files::Form<2>("{}, for the {}nd time")
                                : last == 3 ? files::Form<2>("{}, for the {}rd time")
                                            : files::Form<2>("{}, for the {}th time");
    return files::sentence(form, turn, n);
}

/// "the copy that warp 0 starts at a.cu:12 lands as late as it may", and how many more.
files::Sentence held_words(const Kernel& kernel, const Witness& witness) {
    const HeldCopy& copy = witness.held[0];
    const files::Sentence who =
        witness.together
            ? warp_of_block(index_in(witness.together->launch.grid, copy.block), copy.warp)
            : name_of_warp(copy.warp);
    const files::Sentence first =
        files::sentence("the copy that {} starts at {} lands {}", who, users_place(kernel, copy.pc),
                        copy.late ? files::sentence("as late as it may")
                                  : files::sentence("at the end of the turn"));
    const std::size_t more = witness.held.size() - 1;
    return more == 0   ? first
           : more == 1 ? files::sentence("{}, and so does 1 more", first)
                       : files::sentence("{}, and so do {} more", first, more);
}

/// What the witness makes of its words.
files::Sentence result_words(const Machine& machine, const Kernel& kernel, const Witness& witness,
                             const OrderSearch::Result& result, const NameWord& name) {
    if (!witness.error.empty())
        return witness.together ? files::sentence("the launch fails: {}", witness.error)
                                : files::sentence("the block fails: {}", witness.error);
    std::optional<NamedWord> word;
    if (name) word = name(witness.address, witness.value, witness.expected);
    if (!word)
        word = {describe_global(const_cast<Machine&>(machine).memory(), *kernel.module,
                                witness.address),
                fmt::format("0x{:08x}", witness.value), fmt::format("0x{:08x}", witness.expected)};
    const auto say = [&](auto form, const auto&... more) {
        return files::sentence(form, word->place, word->value, word->expected, more...);
    };
    const std::uint64_t more = witness.words > 1 ? witness.words - 1 : 0;
    if (result.judged > 0 && !witness.is_wrong_anyway)
        return more == 0 ? say(files::Form<3>("then {} is {} instead of {}, which is expected."))
               : more == 1
                   ? say(files::Form<3>("then {} is {} instead of {}, and 1 more word differs from "
                                        "what is expected."))
                   : say(files::Form<4>("then {} is {} instead of {}, and {} more words differ "
                                        "from what is expected."),
                         more);
    const files::Sentence from =
        result.reference == ReferenceOrder::in_step
            ? files::sentence("the order in which all warps advance together, access by access")
            : files::sentence("the order in which each warp runs until it waits or ends");
    files::Sentence text =
        more == 0 ? say(files::Form<4>("then {} is {} instead of {} of {}."), from)
        : more == 1
            ? say(files::Form<4>("then {} is {} instead of {}, and 1 more word differs from {}."),
                  from)
            : say(files::Form<5>("then {} is {} instead of {}, and {} more words differ from {}."),
                  more, from);
    if (witness.is_wrong_anyway)
        text.add(files::sentence("That order does not give the expected result either."));
    return text;
}

}  // namespace

files::Sentence reversal_words(const Kernel& kernel, const Reversal& reversal,
                               const std::optional<BlockGroup>& together) {
    const auto name = [&](std::uint32_t unit) {
        if (!together) return name_of_warp(unit);
        return warp_of_block(together->block_of(unit), together->warp_of(unit));
    };
    files::Sentence place = users_place(kernel, reversal.pc),
                    other = users_place(kernel, reversal.other_pc);
    if (place == other) {
        const auto with_kind = [&](const files::Sentence& where, std::uint32_t pc) {
            switch (kernel.lines[pc].access) {
                case MemoryAccess::load:
                    return files::sentence("{} (load)", where);
                case MemoryAccess::store:
                    return files::sentence("{} (store)", where);
                case MemoryAccess::atomic:
                    return files::sentence("{} (atomic)", where);
                default:
                    return where;
            }
        };
        place = with_kind(place, reversal.pc);
        other = with_kind(other, reversal.other_pc);
    }
    return files::sentence("{} runs to {} before {} has passed {}", name(reversal.warp), place,
                           name(reversal.other_warp), other);
}

files::Sentence witness_sentence(const Machine& machine, const Kernel& kernel,
                                 const Witness& witness, const OrderSearch::Result& result,
                                 const NameWord& name) {
    const files::Sentence what =
        witness.old_read       ? old_read_words(kernel, *witness.old_read, witness.together)
        : witness.held.empty() ? reversal_words(kernel, witness.reversal, witness.together)
                               : held_words(kernel, witness);
    const files::Sentence then = result_words(machine, kernel, witness, result, name);
    return witness.preemptions == 1
               ? files::sentence("With 1 preemption, {}: {}", what, then)
               : files::sentence("With {} preemptions, {}: {}", witness.preemptions, what, then);
}

ScheduleFile schedule_of(const Kernel& kernel, const Dim3& grid, const Dim3& block,
                         const Witness& witness) {
    ScheduleFile file = witness.together
                            ? ScheduleFile::of_units(kernel, *witness.together, witness.turns)
                            : ScheduleFile::of(kernel, block, witness.turns);
    if (starts_copies(kernel)) file.landing = Landing::at_once;
    for (const HeldCopy& copy : witness.held)
        file.held.push_back({.warp = copy.warp,
                             .number = copy.number,
                             .late = copy.late,
                             .block = index_in(grid, copy.block)});
    return file;
}

std::vector<files::Sentence> turn_words(const ScheduleFile& file) {
    const auto name = [&](const Dim3& block, std::uint32_t warp) {
        return file.together ? warp_of_block(block, warp) : name_of_warp(warp);
    };
    std::vector<files::Sentence> lines;
    for (const ScheduleFile::Held& copy : file.held)
        lines.push_back(files::sentence("copy {} of {} lands {}", copy.number,
                                        name(copy.block, copy.warp),
                                        copy.late ? files::sentence("as late as it may")
                                                  : files::sentence("at the end of its turn")));
    if (file.landing)
        lines.push_back(lines.empty() ? files::sentence("all copies land at once")
                                      : files::sentence("all other copies land at once"));
    for (const ScheduleFile::Turn& turn : file.turns) {
        const files::Sentence who = name(turn.block, turn.warp);
        files::Sentence line =
            turn.until.empty()
                ? turn.reads_old
                      ? files::sentence("{} reads old values, and runs until it waits or ends", who)
                      : files::sentence("{} runs until it waits or ends", who)
            : turn.reads_old
                ? files::sentence("{} reads old values, and runs until it is before {}", who,
                                  turn.until)
                : files::sentence("{} runs until it is before {}", who, turn.until);
        if (turn.access != 1) line = files::sentence("{}, access {}", line, turn.access);
        if (turn.pass != 1) line = for_the_time(line, turn.pass);
        if (turn.epoch == 1) line = files::sentence("after 1 barrier: {}", line);
        if (turn.epoch > 1) line = files::sentence("after {} barriers: {}", turn.epoch, line);
        lines.push_back(std::move(line));
    }
    lines.push_back(
        file.turns.empty()
            ? files::sentence("the warps run in their order, each until it waits or ends")
            : files::sentence("then the next warps in their order, each until it waits or ends"));
    return lines;
}

std::vector<std::optional<std::uint64_t>> turn_steps(const ScheduleFile& file,
                                                     std::span<const Step> history) {
    const std::size_t lines = turn_words(file).size(), first = lines - 1 - file.turns.size();
    // Steps count the turns by epoch, whatever the order in the file.
    std::vector<std::size_t> by_epoch(file.turns.size());
    std::iota(by_epoch.begin(), by_epoch.end(), std::size_t(0));
    std::ranges::stable_sort(by_epoch, {}, [&](std::size_t k) { return file.turns[k].epoch; });
    std::vector<std::optional<std::uint64_t>> steps(lines);
    for (std::uint64_t step = 0; step < history.size(); ++step) {
        const std::size_t turn = history[step].turn;
        if (turn == 0 || turn > by_epoch.size()) continue;
        auto& of_line = steps[first + by_epoch[turn - 1]];
        if (!of_line) of_line = step;
    }
    return steps;
}

files::Sentence coverage_sentence(const Kernel& kernel, const OrderSearch& search,
                                  const OrderSearch::Result& result) {
    if (!result.exhausted)
        return !result.together || result.together->is_whole()
                   ? files::sentence(
                         "The orders without a preemption are too many: in {} turns no "
                         "result differed.",
                         result.turns)
                   : files::sentence(
                         "The orders of the warps of blocks {} without a preemption "
                         "are too many: in {} turns no result differed.",
                         names_of_blocks(*result.together), result.turns);
    const std::string count = result.endless || result.orders < 2 ? "" : count_words(result.orders);
    files::Sentence most = preemptions_words(*result.exhausted);
    if (starts_copies(kernel))
        most = files::sentence("{} and copies that do not land at once", most);
    const bool ends = !result.endless;
    const files::Form<2> form =
        result.judged == 0
            ? ends ? files::Form<2>("All {} with at most {} give one result.")
                   : files::Form<2>("All {} with at most {} give one result where they end.")
        : result.wrong == 0
            ? ends ? files::Form<2>("All {} with at most {} give the expected result.")
                   : files::Form<2>(
                         "All {} with at most {} give the expected result where they end.")
        : ends ? files::Form<2>(
                     "All {} with at most {} leave the words that are expected as they "
                     "are.")
               : files::Form<2>(
                     "All {} with at most {} leave the words that are expected as they "
                     "are where they end.");
    files::Sentence text = files::sentence(form, orders_words(count, result.together), most);
    if (result.wrong == 1) text.add(files::sentence("In each of them 1 expected word is wrong."));
    if (result.wrong > 1)
        text.add(files::sentence("In each of them {} expected words are wrong.", result.wrong));
    if (*result.exhausted < search.preemptions)
        text.add(files::sentence("Orders with {} were not all run.",
                                 preemptions_words(*result.exhausted + 1)));
    if (result.tried_old_values)
        text.add(result.tried_all_old_values
                     ? files::sentence("Older values that loads may get change nothing.")
                     : files::sentence("Older values that loads may get were tried, not all of "
                                       "them."))
            .add(files::sentence("No order shows what a load does that a GPU executes later than "
                                 "it stands, and what an atomic operation does whose scope is too "
                                 "small."));
    return text;
}

}  // namespace warpscope::emulator
