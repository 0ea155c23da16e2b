#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/stepper/stepper.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

/// "warp 3 runs to a.cu:74 before warp 4 has passed a.cu:68"; at one line also what they do.
files::Sentence reversal_words(const Kernel& kernel, const Reversal& reversal,
                               const std::optional<BlockGroup>& together = {});
/// The order as a file: of `block`, or of all blocks that run together.
ScheduleFile schedule_of(const Kernel& kernel, const Dim3& grid, const Dim3& block,
                         const Witness& witness);
/// A word of global memory, and two values of it, as people know them: "y[12]", "3" and "5".
struct NamedWord {
    files::Sentence place, value, expected;
};
/// Names a word by its address, with these values; nullopt: nobody has a name for it.
using NameWord = std::function<std::optional<NamedWord>(std::uint64_t address, std::uint32_t value,
                                                        std::uint32_t expected)>;
/// A sentence: what comes before what, and what the block then computes. Where `name` does not
/// name the first wrong word, the sentence says where it is in its allocation.
files::Sentence witness_sentence(const Machine& machine, const Kernel& kernel,
                                 const Witness& witness, const OrderSearch::Result& result,
                                 const NameWord& name = {});
/// The turns as a list, one line each: "warp 3 runs until it is before a.cu:74". Before them stand
/// the copies that land late, behind them one line about what is not listed.
std::vector<files::Sentence> turn_words(const ScheduleFile& order);
/// For each of these lines, the first step of the history that belongs to it; nullopt: none does.
std::vector<std::optional<std::uint64_t>> turn_steps(const ScheduleFile& order,
                                                     std::span<const Step> history);
/// A sentence: which orders were run, and what was found in them.
files::Sentence coverage_sentence(const Kernel& kernel, const OrderSearch& search,
                                  const OrderSearch::Result& result);

}  // namespace warpscope::emulator
