#include <fmt/format.h>

#include <bit>

#include "emulator/checks/race_detector.h"

// What a race is called: for people.
namespace warpscope::emulator {

namespace {

// Whether one thread can execute `from` and then `to`.
bool leads_to(const Kernel& kernel, uint32_t from, uint32_t to) {
    std::vector<bool> seen(kernel.code.size());
    std::vector<uint32_t> open{from};
    while (!open.empty()) {
        const uint32_t at = open.back();
        open.pop_back();
        const Instruction& i = kernel.code[at];
        const bool guarded = at > 0 && is_guard(kernel.code[at - 1].role);
        std::vector<uint32_t> next;
        if (is_branch(i.role)) next.push_back(at + i.target);
        const bool ends = i.role == Role::branch || i.role == Role::exit;
        if (!ends || guarded) next.push_back(at + 1);
        for (const uint32_t n : next) {
            if (n == to) return true;
            if (n >= seen.size() || seen[n]) continue;
            seen[n] = true;
            open.push_back(n);
        }
    }
    return false;
}

std::string_view past_tense(Hazard hazard) {
    return hazard == Hazard::write_after_read ? "read" : "wrote";
}

}  // namespace

void RaceDetector::report(const Race& race, uint64_t count) {
    races_ = true;
    for (uint32_t byte = race.byte; byte < race.byte + (1u << shift_); byte += 4)
        racing_words_[byte / 4] = true;
    const Doing& earlier = doing(*race.earlier);
    const Charge charge{race.hazard, race.earlier->doing, race.earlier_lane};
    if (charge == charge_) return;
    charge_ = charge;
    const bool one_warp = earlier.warp == access_->warp;
    const Severity severity = one_warp || race.same_value ? Severity::warning : Severity::error;
    log_.add({&places_.kernel(), earlier.pc, access_->pc, FindingKind::race, severity, race.hazard},
             count, [&] { return describe(race, severity); });
}

void RaceDetector::report_unwritten(const Place& place, uint32_t lanes) {
    const uint32_t pc = access_->pc;
    log_.add({&places_.kernel(), pc, pc, FindingKind::uninitialized, Severity::error},
             uint64_t(std::popcount(lanes)), [&] {
                 Finding f;
                 f.kind = FindingKind::uninitialized;
                 f.kernel = places_.kernel().name;
                 const auto lane = uint32_t(std::countr_zero(lanes));
                 f.first = places_.party(pc, access_->warp * lanes_per_warp + lane, block_);
                 f.byte = place.byte;
                 f.sentence = fmt::format(
                     "Thread {} of block {} reads at {} byte {} of shared memory, which no thread "
                     "of its block has written by then: it gets whatever was left there.",
                     name_of(f.first.thread), name_of(f.first.block), f.first.where(), place.byte);
                 return f;
             });
}

Finding RaceDetector::describe(const Race& race, Severity severity) const {
    Finding f;
    f.kind = FindingKind::race;
    f.severity = severity;
    f.hazard = race.hazard;
    f.kernel = places_.kernel().name;
    const Doing& earlier = doing(*race.earlier);
    f.first = places_.party(earlier.pc, earlier.warp * lanes_per_warp + race.earlier_lane, block_);
    f.second = places_.party(access_->pc, access_->warp * lanes_per_warp + race.lane, block_);
    f.byte = race.byte;
    f.sentence = sentence(race, f);
    return f;
}

std::string RaceDetector::sentence(const Race& race, const Finding& f) const {
    const Doing& earlier = doing(*race.earlier);
    const bool one_warp = earlier.warp == access_->warp;
    const std::string first = f.first.where(), second = f.second->where();
    const std::string partner =
        fmt::format("thread {} of {}", name_of(f.first.thread),
                    one_warp ? "the same warp" : fmt::format("warp {}", earlier.warp));
    const std::string subject =
        fmt::format("Thread {} of block {} (warp {})", name_of(f.second->thread),
                    name_of(f.second->block), access_->warp);
    const char* barrier = one_warp ? "__syncwarp()" : "__syncthreads()";
    if (race.one_instruction)
        return fmt::format(
            "{} and {} store different values in byte {} of shared memory, at {} in one "
            "instruction: either may stay, and no barrier can order them.",
            subject, partner, race.byte, second);

    const auto missing = [&](const std::string& from, const std::string& to) {
        if (from == to)
            return fmt::format("{} is missing between one pass of this line and the next", barrier);
        return fmt::format("{} is missing between {} and {}", barrier, from, to);
    };
    const std::string atomically = access_->kind == MemoryAccess::atomic ? " atomically" : "";
    // Program order says which of the two should have waited, where it says anything.
    const Kernel& kernel = places_.kernel();
    const bool too_early = race.hazard == Hazard::write_after_read &&
                           !leads_to(kernel, earlier.pc, access_->pc) &&
                           leads_to(kernel, access_->pc, earlier.pc);
    if (too_early)
        return fmt::format(
            "Thread {} of block {} (warp {}) read at {} byte {} of shared memory before thread {} "
            "of {} wrote it{} at {}: {}.",
            name_of(f.first.thread), name_of(f.first.block), earlier.warp, first, race.byte,
            name_of(f.second->thread),
            one_warp ? "the same warp" : fmt::format("warp {}", access_->warp), atomically, second,
            missing(second, first));
    return fmt::format("{} {}{} at {} byte {} of shared memory that {} {} at {}{}: {}.", subject,
                       race.hazard == Hazard::read_after_write ? "reads" : "overwrites", atomically,
                       second, race.byte, partner, past_tense(race.hazard), first,
                       race.same_value ? ", with the same value" : "", missing(first, second));
}

}  // namespace warpscope::emulator
