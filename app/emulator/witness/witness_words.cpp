#include "emulator/witness/witness_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "emulator/warp/memory.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/turn_runner.h"

namespace warpscope::emulator {

namespace {

std::string preemptions_words(unsigned preemptions) {
    return fmt::format("{} preemption{}", preemptions, preemptions == 1 ? "" : "s");
}

std::string count_words(double orders) {
    constexpr double exact = 1e15;
    if (orders > exact) return "more than 10^15";
    std::string digits = fmt::format("{:.0f}", orders);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
    return digits;
}

std::string warp_of_block(const Dim3& block, std::uint32_t warp) {
    return fmt::format("warp {} of block ({},{},{})", warp, block.x, block.y, block.z);
}

/// " of the warps of blocks (0,0,0), (3,0,0)"; empty: of all blocks.
std::string of_blocks(const BlockGroup& group) {
    std::string text;
    for (const std::uint32_t block : group.blocks)
        text += (text.empty() ? "" : ", ") + name_of(index_in(group.launch.grid, block));
    return group.is_whole() ? "" : " of the warps of blocks " + text;
}

/// "warp 1 reads at a.cu:12 what the word held before warp 0 stores to it at a.cu:7, as it may:
/// nothing orders the two"
std::string old_read_words(const Kernel& kernel, const OldRead& read,
                           const std::optional<BlockGroup>& together) {
    const auto name = [&](std::uint32_t block, std::uint32_t warp) {
        if (!together) return fmt::format("warp {}", warp);
        return warp_of_block(index_in(together->launch.grid, block), warp);
    };
    return fmt::format(
        "{} reads at {} what the word held before {} stored to it at {}, as it may, since nothing "
        "orders the two",
        name(read.block, read.warp), users_place(kernel, read.pc),
        name(read.store.block, read.store.warp), users_place(kernel, read.store.pc));
}

/// "2nd"
std::string ordinal(unsigned n) {
    const bool is_teen = n / 10 % 10 == 1;
    const char* const ends[] = {"th", "st", "nd", "rd"};
    return fmt::format("{}{}", n, is_teen || n % 10 > 3 ? "th" : ends[n % 10]);
}

/// "the copy that warp 0 starts at a.cu:12 lands as late as it may", and how many more.
std::string held_words(const Kernel& kernel, const Witness& witness) {
    const HeldCopy& copy = witness.held[0];
    std::string who = fmt::format("warp {}", copy.warp);
    if (witness.together)
        who = warp_of_block(index_in(witness.together->launch.grid, copy.block), copy.warp);
    std::string text =
        fmt::format("the copy that {} starts at {} lands {}", who, users_place(kernel, copy.pc),
                    copy.late ? "as late as it may" : "at the end of the turn");
    if (const std::size_t more = witness.held.size() - 1)
        text += fmt::format(", and so {} {} more", more == 1 ? "does" : "do", more);
    return text;
}

}  // namespace

std::string reversal_words(const Kernel& kernel, const Reversal& reversal,
                           const std::optional<BlockGroup>& together) {
    const auto name = [&](std::uint32_t unit) {
        if (!together) return fmt::format("warp {}", unit);
        return warp_of_block(together->block_of(unit), together->warp_of(unit));
    };
    std::string place = users_place(kernel, reversal.pc);
    std::string other = users_place(kernel, reversal.other_pc);
    if (place == other) {
        static constexpr const char* kinds[] = {"", " (load)", " (store)", " (atomic)"};
        place += kinds[std::size_t(kernel.lines[reversal.pc].access)];
        other += kinds[std::size_t(kernel.lines[reversal.other_pc].access)];
    }
    return fmt::format("{} runs to {} before {} has passed {}", name(reversal.warp), place,
                       name(reversal.other_warp), other);
}

std::string witness_sentence(const Machine& machine, const Kernel& kernel, const Witness& witness,
                             const OrderSearch::Result& result, const NameWord& name) {
    std::string text = fmt::format("With {}, ", preemptions_words(witness.preemptions));
    if (witness.old_read)
        text += old_read_words(kernel, *witness.old_read, witness.together);
    else if (witness.held.empty())
        text += reversal_words(kernel, witness.reversal, witness.together);
    else
        text += held_words(kernel, witness);
    text += ": ";
    if (!witness.error.empty())
        return text + (witness.together ? "the launch fails: " : "the block fails: ") +
               witness.error;
    std::optional<NamedWord> word;
    if (name) word = name(witness.address, witness.value, witness.expected);
    if (!word)
        word = {describe_global(const_cast<Machine&>(machine).memory(), *kernel.module,
                                witness.address),
                fmt::format("0x{:08x}", witness.value), fmt::format("0x{:08x}", witness.expected)};
    text += fmt::format("then {} is {} instead of {}", word->place, word->value, word->expected);
    const bool is_expected = result.judged > 0 && !witness.is_wrong_anyway;
    const char* const from = is_expected ? "what is expected"
                             : result.reference == ReferenceOrder::in_step
                                 ? "the order in which all warps advance together, access by access"
                                 : "the order in which each warp runs until it waits or ends";
    const char* const anyway =
        witness.is_wrong_anyway ? " That order does not give the expected result either." : "";
    if (witness.words <= 1)
        return text + (is_expected ? ", which is expected." : fmt::format(" of {}.", from)) +
               anyway;
    text += fmt::format(", and {} more word{} differ{}", witness.words - 1,
                        witness.words == 2 ? "" : "s", witness.words == 2 ? "s" : "");
    return text + fmt::format(" from {}.", from) + anyway;
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

std::vector<std::string> turn_words(const ScheduleFile& file) {
    const auto name = [&](const Dim3& block, std::uint32_t warp) {
        return file.together ? warp_of_block(block, warp) : fmt::format("warp {}", warp);
    };
    std::vector<std::string> lines;
    for (const ScheduleFile::Held& copy : file.held)
        lines.push_back(fmt::format("copy {} of {} lands {}", copy.number,
                                    name(copy.block, copy.warp),
                                    copy.late ? "as late as it may" : "at the end of its turn"));
    if (file.landing)
        lines.emplace_back(lines.empty() ? "all copies land at once"
                                         : "all other copies land at once");
    for (const ScheduleFile::Turn& turn : file.turns) {
        std::string line = turn.epoch == 0 ? ""
                                           : fmt::format("after {} barrier{}: ", turn.epoch,
                                                         turn.epoch == 1 ? "" : "s");
        line += name(turn.block, turn.warp);
        line += turn.reads_old ? " reads old values, and runs until it " : " runs until it ";
        line += turn.until.empty() ? "waits or ends" : "is before " + turn.until;
        if (turn.access != 1) line += fmt::format(", access {}", turn.access);
        if (turn.pass != 1) line += fmt::format(", for the {} time", ordinal(turn.pass));
        lines.push_back(std::move(line));
    }
    lines.emplace_back(file.turns.empty()
                           ? "the warps run in their order, each until it waits or ends"
                           : "then the next warps in their order, each until it waits or ends");
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

std::string coverage_sentence(const Kernel& kernel, const OrderSearch& search,
                              const OrderSearch::Result& result) {
    const char* const held = starts_copies(kernel) ? " and copies that do not land at once" : "";
    const std::string whose = result.together ? of_blocks(*result.together) : "";
    if (!result.exhausted)
        return fmt::format(
            "The orders{} without a preemption are too many: in {} turns no result differed.",
            whose, result.turns);
    std::string text =
        fmt::format("All {}orders{} with at most {}{} {}{}.",
                    result.endless || result.orders < 2 ? "" : count_words(result.orders) + " ",
                    whose, preemptions_words(*result.exhausted), held,
                    result.judged == 0  ? "give one result"
                    : result.wrong == 0 ? "give the expected result"
                                        : "leave the words that are expected as they are",
                    result.endless ? " where they end" : "");
    if (result.wrong > 0)
        text += fmt::format(" In each of them {} expected word{} wrong.", result.wrong,
                            result.wrong == 1 ? " is" : "s are");
    if (*result.exhausted < search.preemptions)
        text += fmt::format(" Orders with {} were not all run.",
                            preemptions_words(*result.exhausted + 1));
    if (result.tried_old_values)
        text += fmt::format(
            " {} No order shows what a load does that a GPU executes later than it stands, and "
            "what an atomic operation does whose scope is too small.",
            result.tried_all_old_values
                ? "Older values that loads may get change nothing."
                : "Older values that loads may get were tried, not all of them.");
    return text;
}

}  // namespace warpscope::emulator
