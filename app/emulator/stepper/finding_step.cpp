#include "emulator/stepper/finding_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {
namespace {

/// The most accesses of one thread at one line that are examined: each takes a moment.
constexpr std::size_t most_looked_at = 4096;

/// Findings can be about it, although it is no access: what lanes execute together, and the start
/// of an asynchronous copy.
bool is_warp_wide_or_copies(Operation operation) {
    const OpcodeKind kind = opcode_of(operation).kind;
    return kind == OpcodeKind::exchanges || kind == OpcodeKind::warp_barrier ||
           kind == OpcodeKind::asynchronous;
}

/// One thread's access in the stepper's block.
struct Party {
    Party(const Stepper& stepper, const ThreadAtLine& at) {
        const std::uint32_t index = linear_in(stepper.launch().launch.block, at.thread);
        warp = index / 32;
        lane = index % 32;
        const Kernel& kernel = stepper.kernel();
        const std::string place = at.where();
        for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
            const InstructionInfo& info = kernel.lines[pc];
            is_at_place.push_back(
                (info.barrier || info.access != MemoryAccess::none ||
                 is_warp_wide_or_copies(kernel.code[pc].operation)) &&
                place == users_place(kernel.own_line(pc),
                                     header_lines(info.source, kernel.module->files())));
        }
    }
    bool executes(const Stepper&, const Step& step) const {
        return step.warp == warp && (step.mask >> lane & 1) && is_at_place[step.pc];
    }
    /// Whether step `at` accesses the byte. Moves the stepper.
    bool accesses(Stepper& stepper, std::uint64_t at, std::uint64_t byte, bool reads) const {
        const MemoryAccess kind = stepper.kernel().lines[stepper.history()[at].pc].access;
        if (kind == MemoryAccess::none || (kind == MemoryAccess::store && reads) ||
            (kind == MemoryAccess::load && !reads))
            return false;
        stepper.seek(at + 1);
        const auto access = stepper.shared_access(warp);
        if (!access || access->step != at) return false;
        const std::uint64_t begin = access->addresses[lane];
        return begin <= byte && byte < begin + access->bytes;
    }

    /// For each instruction: whether it accesses, copies or waits at the finding's place.
    std::vector<bool> is_at_place;
    std::uint32_t warp = 0, lane = 0;
};

/// Returns the first step in which the thread accesses the byte. nullopt: none of those that are
/// examined does.
std::optional<std::uint64_t> first_access(Stepper& stepper, const Party& party, std::uint64_t byte,
                                          bool reads) {
    std::size_t looked_at = 0;
    for (std::uint64_t i = 0; i < stepper.history().size() && looked_at < most_looked_at; ++i) {
        const Step step = stepper.history()[i];
        if (!party.executes(stepper, step)) continue;
        if (party.accesses(stepper, i, byte, reads)) return i;
        ++looked_at;
    }
    return {};
}

/// Returns the steps of the pair of accesses that race.
std::optional<std::pair<std::uint64_t, std::uint64_t>> pair_of(Stepper& stepper,
                                                               const Finding& finding) {
    const Party first(stepper, finding.first), second(stepper, *finding.second);
    const bool first_reads = finding.hazard == Hazard::write_after_read;
    const bool second_reads = finding.hazard == Hazard::read_after_write;
    std::optional<std::uint64_t> earlier;
    std::size_t looked_at = 0;
    for (std::uint64_t i = 0; i < stepper.history().size(); ++i) {
        const Step step = stepper.history()[i];
        const bool as_second = earlier && second.executes(stepper, step);
        if (!as_second && !first.executes(stepper, step)) continue;
        if (++looked_at > most_looked_at) return {};
        if (as_second && second.accesses(stepper, i, *finding.byte, second_reads))
            return std::pair{*earlier, i};
        if (first.executes(stepper, step) && first.accesses(stepper, i, *finding.byte, first_reads))
            earlier = i;
    }
    return {};
}

}  // namespace

std::optional<std::uint64_t> step_of(Stepper& stepper, const Finding& finding) {
    if (finding.kind == FindingKind::race && finding.second && finding.byte)
        if (const auto pair = pair_of(stepper, finding))
            return &finding.place() == &finding.first ? pair->first : pair->second;
    const Party party(stepper, finding.place());
    if (finding.byte)
        if (const auto at = first_access(stepper, party, *finding.byte,
                                         finding.hazard != Hazard::write_after_write))
            return at;
    const auto history = stepper.history();
    const auto found = std::find_if(history.begin(), history.end(), [&](const Step& step) {
        return party.executes(stepper, step);
    });
    if (found == history.end()) return {};
    return std::uint64_t(found - history.begin());
}

}  // namespace warpscope::emulator
