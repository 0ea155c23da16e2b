#include "emulator/witness/witness_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/warp/global_range.h"
#include "emulator/witness/schedule_file.h"

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

/// "the copy that warp 0 starts at a.cu:12 lands as late as it may", and how many more.
std::string held_words(const Kernel& kernel, const Witness& witness) {
    const HeldCopy& copy = witness.held[0];
    std::string who = fmt::format("warp {}", copy.warp);
    if (witness.together)
        who = warp_of_block(index_in(witness.together->grid, copy.block), copy.warp);
    std::string text =
        fmt::format("the copy that {} starts at {} lands {}", who, users_place(kernel, copy.pc),
                    copy.late ? "as late as it may" : "at the end of the turn");
    if (const std::size_t more = witness.held.size() - 1)
        text += fmt::format(", and so {} {} more", more == 1 ? "does" : "do", more);
    return text;
}

/// Whether threads may order accesses by words of memory, where a fence can be missing.
bool orders_by_words(const Kernel& kernel) {
    return std::ranges::any_of(kernel.lines, [](const InstructionInfo& info) {
        return info.access == MemoryAccess::atomic || info.order != MemoryOrder::weak;
    });
}

}  // namespace

std::string reversal_words(const Kernel& kernel, const Reversal& reversal,
                           const std::optional<LaunchShape>& together) {
    const auto name = [&](std::uint32_t unit) {
        if (!together) return fmt::format("warp {}", unit);
        const Dim3 block = index_in(together->grid, unit / warps_of_block(*together));
        return warp_of_block(block, unit % warps_of_block(*together));
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
                             const OrderSearch::Result& result) {
    std::string text = fmt::format("With {}, ", preemptions_words(witness.preemptions));
    if (witness.held.empty())
        text += reversal_words(kernel, witness.reversal, witness.together);
    else
        text += held_words(kernel, witness);
    text += ": ";
    if (!witness.error.empty())
        return text + (witness.together ? "the launch fails: " : "the block fails: ") +
               witness.error;
    text += fmt::format(
        "then {} is 0x{:08x} instead of 0x{:08x}",
        describe_global(const_cast<Machine&>(machine).memory(), *kernel.module, witness.address),
        witness.value, witness.expected);
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
                            ? ScheduleFile::of_all(kernel, *witness.together, witness.turns)
                            : ScheduleFile::of(kernel, block, witness.turns);
    if (kernel.is_asynchronous) file.landing = Landing::at_once;
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
        line += name(turn.block, turn.warp) + " runs until it ";
        line += turn.until.empty() ? "waits or ends" : "is before " + turn.until;
        if (turn.access != 1) line += fmt::format(", access {}", turn.access);
        if (turn.pass != 1) line += fmt::format(", for the {}th time", turn.pass);
        lines.push_back(std::move(line));
    }
    lines.emplace_back(file.turns.empty()
                           ? "the warps run in their order, each until it waits or ends"
                           : "then the next warps in their order, each until it waits or ends");
    return lines;
}

std::string coverage_sentence(const Kernel& kernel, const OrderSearch& search,
                              const OrderSearch::Result& result) {
    const char* const held = kernel.is_asynchronous ? " and copies that do not land at once" : "";
    if (!result.exhausted)
        return fmt::format(
            "The orders without a preemption are too many: in {} turns no result differed.",
            result.turns);
    std::string text =
        fmt::format("All {}orders with at most {}{} {}",
                    result.endless || result.orders < 2 ? "" : count_words(result.orders) + " ",
                    preemptions_words(*result.exhausted), held,
                    result.judged == 0  ? "give one result"
                    : result.wrong == 0 ? "give the expected result"
                                        : "leave the words that are expected as they are");
    if (result.endless) text += " where they end";
    if (*result.exhausted < search.preemptions)
        text += fmt::format("; those with {} were not all run", *result.exhausted + 1);
    if (result.wrong > 0)
        text += fmt::format(". In each of them {} expected word{} wrong", result.wrong,
                            result.wrong == 1 ? " is" : "s are");
    if (orders_by_words(kernel))
        text +=
            ". The accesses of each thread stay in order here: what a missing fence does on a GPU "
            "was not searched";
    return text + ".";
}

}  // namespace warpscope::emulator
