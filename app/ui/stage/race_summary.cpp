#include "ui/stage/race_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device/sentences.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;
using experiments::Inspection;
using State = RaceSummary::State;

/// "256 hazards a block", "about 120 hazards a block", "3 hazards".
std::string amount(std::uint64_t hazards, std::uint64_t blocks) {
    if (blocks <= 1 || hazards < blocks)
        return counted(hazards, "hazard", quantity(double(hazards), ""));
    const std::uint64_t each = (hazards + blocks / 2) / blocks;
    const std::string hazards_of_block = counted(each, "hazard", quantity(double(each), ""));
    return hazards % blocks == 0 ? tr("{} a block", hazards_of_block)
                                 : tr("about {} a block", hazards_of_block);
}

std::string extent(const Inspection& inspection) {
    const std::string of = quantity(double(inspection.of_blocks), "");
    if (inspection.of_blocks == 1) return tr("the one block of {}", inspection.kernel);
    if (inspection.blocks == inspection.of_blocks)
        return tr("all {} blocks of {}", of, inspection.kernel);
    return tr("the first {} of {} blocks of {}", quantity(double(inspection.blocks), ""), of,
              inspection.kernel);
}

void describe(RaceSummary& summary, const Inspection& inspection) {
    std::uint64_t hazards = 0, within_warps = 0;
    bool barrier = false, members = false, unwritten = false, invalid = false;
    for (const Finding& f : inspection.verdict.findings) {
        if (f.severity != Severity::error) {
            if (spoils_results(f)) within_warps += f.count;
            continue;
        }
        if (f.kind == FindingKind::race) hazards += f.count;
        barrier |= f.kind == FindingKind::barrier;
        members |= f.kind == FindingKind::members;
        unwritten |= f.kind == FindingKind::uninitialized || f.kind == FindingKind::undefined;
        invalid |= f.kind == FindingKind::memory;
    }
    summary.findings = inspection.verdict.findings.size();
    const std::size_t warnings = count_of(inspection.verdict.findings, Severity::warning);
    const std::string where = extent(inspection);
    if (hazards > 0) {
        summary.state = State::race;
        summary.chip = tr("race: {}", amount(hazards, inspection.blocks));
        summary.sentence = tr("{} in {}: pairs of accesses to one word that nothing orders.",
                              amount(hazards, inspection.blocks), where);
    } else if (within_warps > 0) {
        summary.state = State::race;
        summary.chip = tr("race within a warp: {}", amount(within_warps, inspection.blocks));
        summary.sentence =
            tr("{} between lanes of a warp in {}: without __syncwarp() nothing orders them.",
               amount(within_warps, inspection.blocks), where);
    } else if (barrier || members || unwritten || invalid) {
        summary.state = State::error;
        summary.chip = barrier     ? tr("barrier not reached by all")
                       : members   ? tr("wrong member mask")
                       : unwritten ? tr("reads unwritten memory")
                                   : tr("invalid access");
        summary.sentence = tr("No race, but errors in {}.", where);
    } else if (warnings > 0) {
        summary.state = State::warning;
        summary.chip = counted(warnings, "warning");
        summary.sentence = tr("No race between warps, but warnings in {}.", where);
    } else {
        summary.state = State::clean;
        summary.chip = tr("no race found");
        summary.sentence = tr("No race in {}, and every thread reached every barrier.", where);
    }
    if (inspection.verdict.error.empty()) return;
    summary.sentence += tr(" The launch ended with an error: {}", tr(inspection.verdict.error));
    if (summary.state == State::clean || summary.state == State::warning) {
        summary.state = State::failed;
        summary.chip = tr("launch failed");
    }
}

/// A word or two.
std::string brief_of(const RaceSummary& summary) {
    switch (summary.state) {
        case State::clean:
            return tr("no race");
        case State::race:
            return tr("race");
        case State::error:
            return tr("error");
        case State::unknown:
        case State::warning:
        case State::failed:
            break;
    }
    return summary.chip;
}

}  // namespace

bool spoils_results(const Finding& finding) {
    const bool reads = finding.hazard == emulator::Hazard::read_after_write ||
                       finding.hazard == emulator::Hazard::write_after_read;
    return finding.severity == Severity::error || (finding.kind == FindingKind::race && reads);
}

RaceSummary summarize(const Checks& checks) {
    RaceSummary summary;
    summary.checking = checks.checking;
    if (checks.inspection) {
        describe(summary, *checks.inspection);
    } else if (!checks.error.empty()) {
        summary.state = checks.too_large ? State::unknown : State::failed;
        summary.chip = tr("not checked");
        summary.sentence = checks.error;
    } else {
        summary.chip = summary.checking ? tr("checking…") : tr("not checked");
        summary.sentence = summary.checking ? tr("The emulator is checking this launch.")
                                            : tr("This launch has not been checked.");
    }
    if (summary.checking) {
        summary.chip = tr("checking…");
    } else if (!checks.current) {
        summary.state = State::unknown;
        summary.chip = tr("not checked");
        summary.sentence = tr("The settings have changed since the last check.");
    }
    summary.brief = summary.checking ? summary.chip : brief_of(summary);
    return summary;
}

}  // namespace warpscope::ui
