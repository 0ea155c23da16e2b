#include "emulator/machine/block_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "emulator/program/error.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/warp/cluster.h"

namespace warpscope::emulator {

namespace {

/// "warp 3", "warps 0-2, 5"
std::string names_of_warps(std::uint32_t warps) {
    return ((warps & (warps - 1)) ? "warps " : "warp ") + warp_ranges(warps);
}

/// A block in which no thread can go on.
struct Hanging {
    const BlockContext& context;
    std::span<const Warp> warps;
};

std::uint32_t first_thread(const Warp& warp, const Split& split) {
    return warp.index * lanes_per_warp + std::uint32_t(std::countr_zero(split.mask));
}

/// A thread of the warp that would run next.
Error::Place place_of(const BlockState& block) {
    for (std::size_t k = 0; k < block.warps.size(); ++k) {
        const Warp& warp = block.warps[(k + block.last_warp) % block.warps.size()];
        for (const Split& split : warp.splits)
            return {block.context.kernel->index_of(split.pc), first_thread(warp, split)};
    }
    return {};
}

/// Splits of several warps at one source line.
struct Group {
    std::string where;  ///< "at the barrier a.cu:7"
    std::string lanes;  ///< "lanes 0x0000000f of "; empty for whole warps
    std::uint32_t warps = 0;
};

/// Returns the groups in the order in which the warps would run.
std::vector<Group> groups_of(const BlockState& block) {
    const Kernel& kernel = *block.context.kernel;
    std::vector<Group> groups;
    const auto add = [&](std::string where, std::string lanes, std::uint32_t warp) {
        for (Group& group : groups)
            if (group.where == where && group.lanes.empty() && lanes.empty()) {
                group.warps |= 1u << warp;
                return;
            }
        groups.push_back({std::move(where), std::move(lanes), 1u << warp});
    };
    for (std::size_t k = 0; k < block.warps.size(); ++k) {
        const Warp& warp = block.warps[(k + block.last_warp) % block.warps.size()];
        for (const Split& split : warp.splits) {
            const char* how = split.state == Split::at_barrier     ? "at the barrier "
                              : split.state == Split::at_warp_sync ? "at the warp-wide instruction "
                                                                   : "at ";
            const bool whole = split.mask == warp.live();
            add(how + kernel.where(kernel.index_of(split.pc)),
                whole ? "" : fmt::format("lanes {:#010x} of ", split.mask), warp.index);
        }
    }
    return groups;
}

/// "warps 0-2 were at a.cu:7, lanes 0x0000000f of warp 3 at the barrier a.cu:9"
std::string positions_of(const BlockState& block) {
    constexpr std::size_t most_groups = 4;
    const std::vector<Group> groups = groups_of(block);
    std::string text;
    for (std::size_t k = 0; k < std::min(groups.size(), most_groups); ++k) {
        const Group& group = groups[k];
        const bool plural = group.warps & (group.warps - 1) || !group.lanes.empty();
        const char* verb = k ? "" : plural ? "were " : "was ";
        text += fmt::format("{}{}{} {}{}", k ? ", " : "", group.lanes, names_of_warps(group.warps),
                            verb, group.where);
    }
    if (groups.size() > most_groups) text += ", and others elsewhere";
    return text;
}

/// A warp of the block looks again and again at a word of global memory that others write: the line
/// at which it is has a load or an atomic that is not weak.
bool waits_for_word(const BlockState& block) {
    const Kernel& kernel = *block.context.kernel;
    const auto is_wait = [&](const InstructionInfo& info, const SourceLine& at) {
        const bool reads = info.access == MemoryAccess::load || info.access == MemoryAccess::atomic;
        return reads && info.order != MemoryOrder::weak && info.space != Space::shared &&
               info.source.line == at.line && info.source.file == at.file;
    };
    for (const Warp& warp : block.warps)
        for (const Split& split : warp.splits) {
            const SourceLine& at = kernel.lines[kernel.index_of(split.pc)].source;
            if (split.state == Split::runnable &&
                std::any_of(kernel.lines.begin(), kernel.lines.end(),
                            [&](const InstructionInfo& info) { return is_wait(info, at); }))
                return true;
        }
    return false;
}

bool arrives(Operation operation) {
    return operation == Operation::cp_async_arrive ||
           (operation >= Operation::mbarrier_arrive && operation <= Operation::mbarrier_drop_bytes);
}

bool announces(Operation operation) {
    return operation == Operation::mbarrier_arrive_bytes ||
           operation == Operation::mbarrier_drop_bytes ||
           operation == Operation::mbarrier_expect_bytes;
}

/// Returns the lines of the operations for which is_one() is true: "a.cu:7 and a.cu:9"; empty: the
/// kernel has none. Which mbarrier an operation is for is known only when it executes.
std::string lines_of(const Kernel& kernel, bool (*is_one)(Operation)) {
    std::vector<std::string> lines;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc)
        if (is_one(kernel.code[pc].operation)) {
            std::string line = kernel.where(pc);
            if (std::find(lines.begin(), lines.end(), line) == lines.end())
                lines.push_back(std::move(line));
        }
    return fmt::format("{}", fmt::join(lines, " and "));
}

/// Who arrived in the phase before and has not arrived in this one: "warp 0 arrived in phase 2 and
/// has ended". Empty where nobody did.
std::string missing_threads(const Hanging& block, const Mbarrier& barrier) {
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

/// "lanes 0x00000001 of warps 0-1 have arrived": in this phase. Empty where nobody has.
std::string arrived_threads(const Mbarrier& barrier) {
    std::map<std::uint32_t, std::uint32_t> warps;  // by lanes
    for (std::uint32_t warp = 0; warp < barrier.arrived.size(); ++warp)
        if (barrier.arrived[warp]) warps[barrier.arrived[warp]] |= 1u << warp;
    std::vector<std::string> texts;
    for (const auto& [lanes, of] : warps)
        texts.push_back(fmt::format("lanes {:#010x} of {}", lanes, names_of_warps(of)));
    return texts.empty() ? "" : fmt::format("{} have arrived", fmt::join(texts, " and "));
}

std::string missing_arrivals(const Hanging& block, const Mbarrier& barrier) {
    std::vector<std::string> known;
    const auto add = [&](std::string text) {
        if (!text.empty()) known.push_back(std::move(text));
    };
    if (barrier.phase > 0) add(missing_threads(block, barrier));
    const std::string lines = lines_of(*block.context.kernel, arrives);
    add(lines.empty() ? "the kernel has no arrival" : "arrivals are at " + lines);
    if (barrier.added)
        add(
            fmt::format("copies without .noinc have added {} to the arrivals of this phase, and "
                        "bring no others",
                        barrier.added));
    add(arrived_threads(barrier));
    if (barrier.phase > 0 && barrier.pending == barrier.expected)
        add(
            fmt::format("phase {} has ended, and nobody has arrived since: is the awaited parity "
                        "that of the phase after it?",
                        barrier.phase - 1));
    return fmt::format("{} of {} arrivals ({})", barrier.pending, barrier.expected,
                       fmt::join(known, "; "));
}

/// What a thread of a block that hangs waits for: "for phase 3 of the mbarrier at byte 64 of shared
/// memory, which lacks 1 of 32 arrivals (warp 0 arrived in phase 2 and has ended since)".
std::string awaited_phase(const Hanging& block, const Mbarrier& barrier) {
    std::vector<std::string> lacks;
    if (barrier.pending) lacks.push_back(missing_arrivals(block, barrier));
    if (barrier.bytes > 0)
        lacks.push_back(fmt::format(
            "{} bytes of copies ({} were announced, {} were copied, and no copy is in flight; "
            "announcements are at {})",
            barrier.bytes, barrier.announced, barrier.announced - barrier.bytes,
            lines_of(*block.context.kernel, announces)));
    if (barrier.bytes < 0)
        lacks.push_back(
            fmt::format("the announcement of {} bytes that have been copied", -barrier.bytes));
    return fmt::format("for phase {} of the mbarrier at byte {} of shared memory, which lacks {}",
                       barrier.phase, barrier.address,
                       lacks.empty() ? "nothing" : fmt::format("{}", fmt::join(lacks, " and ")));
}

/// The failed look of a warp at a phase; null where it waits for none.
const FailedWait* failed_wait(const Hanging& block, const Warp& warp, const Split& split) {
    if (!block.context.async || split.state != Split::runnable) return nullptr;
    const FailedWait& wait = block.context.async->failed_waits()[warp.index];
    return !wait.is_some() || !(split.mask >> wait.lane & 1) ? nullptr : &wait;
}

std::string wait_of(const Hanging& block, const FailedWait& wait) {
    const std::string where = block.context.kernel->where(wait.pc);
    if (wait.for_cluster)
        return fmt::format("at {} for the barrier of the cluster, which lacks {}", where,
                           block.context.cluster->missing());
    for (const Mbarrier& barrier : block.context.async->barriers())
        if (barrier.address == wait.barrier) {
            if (!barrier.has_ended(wait.parity))
                return fmt::format("at {} {}", where, awaited_phase(block, barrier));
            return fmt::format(
                "at {} for a phase of the mbarrier at byte {} of shared memory that "
                "has ended since",
                where, wait.barrier);
        }
    return fmt::format("at {} for an mbarrier that is no more", where);
}

std::string name_of(const BlockContext& block) {
    return name_of(block.block_index());
}

/// Where a split of a deadlocked block is, which these warps have, and what it waits for.
files::Sentence position_of(const Hanging& block, const Warp& warp, const Split& split,
                            std::uint32_t warps) {
    const std::string where = block.context.kernel->where(block.context.kernel->index_of(split.pc));
    const std::string names = warp_ranges(warps), lanes = fmt::format("{:#010x}", split.mask);
    const bool one = !(warps & (warps - 1));
    if (split.state == Split::at_barrier)
        return files::sentence(
            one ? files::Form<4>("warp {} lanes {} at the barrier {} (barrier {})")
                : files::Form<4>("warps {} lanes {} at the barrier {} (barrier {})"),
            names, lanes, where, split.barrier);
    if (split.state == Split::at_warp_sync)
        return files::sentence(
            one ? files::Form<4>("warp {} lanes {} at the warp-wide instruction {}, for lanes {}")
                : files::Form<4>("warps {} lanes {} at the warp-wide instruction {}, for lanes {}"),
            names, lanes, where,
            fmt::format("{:#010x}", split.members & ~warp.exited & ~split.mask));
    if (const FailedWait* const wait = failed_wait(block, warp, split))
        return fmt::format("{} lanes {} {}", names_of_warps(warps), lanes, wait_of(block, *wait));
    return files::sentence(
        one ? files::Form<3>(
                  "warp {} lanes {} before {}, blocked by the waiting lanes of this warp")
            : files::Form<3>(
                  "warps {} lanes {} before {}, blocked by the waiting lanes of this warp"),
        names, lanes, where);
}

/// "warps 0-1 lanes 0xffffffff at a.cu:7 for phase 0 of …; warp 2 …"
files::Sentence waits_of(const Hanging& block) {
    struct Waiting {
        const Warp& warp;
        const Split& split;
        std::uint32_t warps;
        files::Sentence of_one;  ///< without the number of the warp
    };
    std::vector<Waiting> all;
    for (const Warp& warp : block.warps)
        for (const Split& split : warp.splits) {
            files::Sentence of_one = position_of(block, warp, split, 1);
            const auto known = std::find_if(all.begin(), all.end(),
                                            [&](const Waiting& w) { return w.of_one == of_one; });
            if (known != all.end())
                known->warps |= 1u << warp.index;
            else
                all.push_back({warp, split, 1u << warp.index, std::move(of_one)});
        }
    files::Sentence waits;
    for (const Waiting& w : all) waits.add(position_of(block, w.warp, w.split, w.warps), "; ");
    return waits;
}

}  // namespace

std::string warp_ranges(std::uint32_t warps) {
    std::string ranges;
    for (unsigned w = 0; w < 32; ++w) {
        if (!(warps >> w & 1)) continue;
        ranges += fmt::format("{}{}", ranges.empty() ? "" : ", ", w);
        const unsigned first = w;
        while (w < 31 && (warps >> (w + 1) & 1)) ++w;
        if (w > first) ranges += fmt::format("-{}", w);
    }
    return ranges;
}

void fail_deadlock(const BlockState& block) {
    const Kernel& kernel = *block.context.kernel;
    const Hanging hanging{block.context, block.warps};
    const Split* named = nullptr;
    std::uint32_t pc = 0, thread = 0;
    bool waits_for_lanes = false;
    for (const Warp& warp : block.warps)
        for (const Split& split : warp.splits) {
            waits_for_lanes = waits_for_lanes || split.state == Split::at_warp_sync;
            if (named && split.state <= named->state) continue;
            const FailedWait* const wait = failed_wait(hanging, warp, split);
            named = &split;
            pc = wait ? wait->pc : kernel.index_of(split.pc);
            thread = first_thread(warp, split);
        }
    files::Sentence words =
        files::sentence("kernel {}: deadlock in block {}, its threads wait for each other: {}",
                        kernel.name, name_of(block.context), waits_of(hanging));
    const auto* const cluster = block.context.cluster;
    for (std::uint32_t rank = 0; cluster && rank < cluster->size(); ++rank) {
        const Hanging other{cluster->block(rank), cluster->warps(rank)};
        if (&other.context != &block.context && other.context.live_threads)
            words.add(files::sentence("In block {}: {}", name_of(other.context), waits_of(other)),
                      ". ");
    }
    // A GPU does not wait for lanes in every case.
    if (waits_for_lanes)
        words.add(files::sentence("A GPU may go on without lanes that a mask names and that do not "
                                  "come: then the results of the instruction are undefined"),
                  ". ");
    throw DeadlockError(std::move(words), Error::Place{pc, thread});
}

void fail_budget(const BlockState& block, Budget::Verdict verdict, const LaunchSettings& settings) {
    const BlockContext& context = block.context;
    std::string why, hint = "an endless loop?";
    switch (verdict) {
        case Budget::Verdict::timed_out:
            why = fmt::format("{} within {:.1f} s",
                              settings.limits_time_of_block ? ": no block ended" : " did not end",
                              double(settings.time_limit.count()) / 1000);
            break;
        case Budget::Verdict::still:
            why = ": its threads repeat the same steps";
            break;
        case Budget::Verdict::stopped:
            why = " was stopped";
            hint.clear();
            break;
        default:
            why = fmt::format(": its budget of {} warp instructions is spent",
                              settings.instruction_budget);
            hint = "an endless loop, or too much to emulate?";
    }
    std::string positions = positions_of(block);
    bool waits = false;       // for what no block that runs will do
    if (positions.empty()) {  // between two blocks
        positions = fmt::format(" of {} blocks has just ended", context.launch->grid.count());
        if (!hint.empty()) hint = "too much to emulate?";
    } else {
        positions.insert(0, ", ");
        const std::uint64_t blocks = context.launch->grid.count();
        waits = !hint.empty() && blocks > 1 && waits_for_word(block);
        if (waits)
            hint = context.launch->cooperative ? "it waits for a word of global memory. Do all "
                                                 "blocks of this cooperative launch "
                                                 "reach the barrier of the grid?"
                                               : fmt::format(
                                                     "it waits for a word of global memory. Does "
                                                     "it wait for blocks that have not "
                                                     "started? The {} blocks run one after another "
                                                     "here, and a GPU does not promise to "
                                                     "run them together",
                                                     blocks);
    }
    const std::string text =
        fmt::format("kernel {}{}: block {}{}{}", context.kernel->name, why, name_of(block.context),
                    positions, hint.empty() ? "" : " (" + hint + ")");
    const Error::Place place = place_of(block);
    if (verdict == Budget::Verdict::stopped) throw Stopped(text, place);
    if (verdict == Budget::Verdict::still) throw StillError(text, place);
    if (verdict == Budget::Verdict::timed_out && !waits) throw TimedOut(text, place);
    throw Error(text, place);
}

void fail_divergent_barrier(const BlockState& block, const Warp& warp, const Split& arrived,
                            std::uint32_t missing) {
    const Kernel& kernel = *block.context.kernel;
    files::Sentence elsewhere;
    for (const Split& s : warp.splits)
        if (s.mask & missing)
            elsewhere.add(files::sentence(
                              s.state == Split::at_barrier ? files::Form<2>("{} wait at {}")
                                                           : files::Form<2>("{} are at {}"),
                              fmt::format("{:#010x}", s.mask), kernel.where(kernel.index_of(s.pc))),
                          ", ");
    throw Error(
        files::sentence(
            "kernel {}, {}: block {}: lanes {} of warp {} arrive at the barrier without lanes {} "
            "of their warp ({}); all threads of a warp must arrive at a barrier together",
            kernel.name, kernel.where(kernel.index_of(arrived.pc)), name_of(block.context),
            fmt::format("{:#010x}", arrived.mask), warp.index, fmt::format("{:#010x}", missing),
            elsewhere),
        Error::Place{kernel.index_of(arrived.pc), first_thread(warp, arrived)});
}

}  // namespace warpscope::emulator
