#include "emulator/machine/mbarrier_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

namespace {

bool arrives(Operation operation) {
    return operation == Operation::cp_async_arrive ||
           (operation >= Operation::mbarrier_arrive && operation <= Operation::mbarrier_drop_bytes);
}

/// "arrivals are at a.cu:7 and a.cu:9"; which mbarrier they are for is known only when they
/// execute.
std::string lines_of_arrivals(const Kernel& kernel) {
    std::vector<std::string> lines;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc)
        if (arrives(kernel.code[pc].operation)) {
            const std::string line = kernel.where(pc);
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
        }
    if (lines.empty()) return "the kernel has no arrival";
    return fmt::format("arrivals are at {}", fmt::join(lines, " and "));
}

/// Who arrived in the phase before and has not arrived in this one: "warp 0 arrived in phase 2 and
/// has ended". Empty where nobody did.
std::string missing_threads(const BlockState& block, const Mbarrier& barrier) {
    std::uint32_t ended = 0, waiting = 0;
    for (const Warp& warp : block.warps) {
        const std::uint32_t missing =
            barrier.arrived_before[warp.index] & ~barrier.arrived[warp.index];
        if (missing & warp.exited) ended |= 1u << warp.index;
        if (missing & ~warp.exited) waiting |= 1u << warp.index;
    }
    std::string text;
    const auto add = [&](std::uint32_t warps, const char* what) {
        if (!warps) return;
        text += fmt::format("{}{} arrived in phase {} and {} {}", text.empty() ? "" : "; ",
                            names_of_warps(warps), barrier.phase - 1,
                            (warps & (warps - 1)) ? "have" : "has", what);
    };
    add(ended, "ended since");
    add(waiting, "not arrived since");
    return text;
}

std::string missing_arrivals(const BlockState& block, const Mbarrier& barrier) {
    std::string who;
    if (barrier.phase > 0) who = missing_threads(block, barrier);
    if (who.empty()) who = lines_of_arrivals(*block.context.kernel);
    const bool untouched = barrier.phase > 0 && barrier.pending == barrier.expected;
    return fmt::format("{} of {} arrivals ({}{})", barrier.pending, barrier.expected, who,
                       untouched
                           ? fmt::format("; phase {} has ended, and nobody has arrived since: "
                                         "is the awaited parity that of the phase after it?",
                                         barrier.phase - 1)
                           : "");
}

}  // namespace

/// "warp 3", "warps 0-2, 5"
std::string names_of_warps(std::uint32_t warps) {
    std::string names;
    for (std::uint32_t w = 0; w < 32; ++w) {
        if (!(warps >> w & 1)) continue;
        std::uint32_t last = w;
        while (last < 31 && (warps >> (last + 1) & 1)) ++last;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", w);
        if (last > w) names += fmt::format("-{}", last);
        w = last;
    }
    return ((warps & (warps - 1)) ? "warps " : "warp ") + names;
}

std::string awaited_phase(const BlockState& block, const Mbarrier& barrier) {
    std::vector<std::string> lacks;
    if (barrier.pending) lacks.push_back(missing_arrivals(block, barrier));
    if (barrier.bytes > 0)
        lacks.push_back(fmt::format(
            "{} bytes of copies ({} were announced, {} were copied, and no copy is in flight)",
            barrier.bytes, barrier.announced, barrier.announced - barrier.bytes));
    if (barrier.bytes < 0)
        lacks.push_back(
            fmt::format("the announcement of {} bytes that have been copied", -barrier.bytes));
    return fmt::format("for phase {} of the mbarrier at byte {} of shared memory, which lacks {}",
                       barrier.phase, barrier.address,
                       lacks.empty() ? "nothing" : fmt::format("{}", fmt::join(lacks, " and ")));
}

}  // namespace warpscope::emulator
