#include "emulator/checks/barrier_check.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

// bar is barrier.aligned (PTX ISA, "bar, barrier"): a warp must execute it as one.
bool is_aligned(const std::string& text) {
    return text.find("barrier.") == std::string::npos || text.find(".aligned") != std::string::npos;
}

}  // namespace

std::unique_ptr<Observer> BarrierCheck::fork() {
    auto fork = std::make_unique<BarrierCheck>(*this);
    fork->log_ = log_.fork();
    return fork;
}

void BarrierCheck::join(Observer& fork) {
    log_.join(dynamic_cast<BarrierCheck&>(fork).log_);
}

Finding BarrierCheck::finding_at(const BarrierArrival& a, Severity severity) const {
    Finding f;
    f.kind = FindingKind::barrier;
    f.severity = severity;
    f.kernel = places_.kernel().name;
    const auto lane = uint32_t(std::countr_zero(a.mask));
    f.first = places_.party(a.pc, a.warp * lanes_per_warp + lane, a.block);
    return f;
}

void BarrierCheck::on_barrier_arrival(const BarrierArrival& a) {
    newest_[a.barrier] = last_ = a;
    const uint32_t missing = a.live & ~a.mask;
    if (!missing || !is_aligned(places_.kernel().lines[a.pc].text)) return;
    const auto threads = uint32_t(std::popcount(missing));
    log_.add({&places_.kernel(), a.pc, a.pc, FindingKind::barrier, Severity::error}, threads, [&] {
        Finding f = finding_at(a, Severity::error);
        const auto lane = uint32_t(std::countr_zero(missing));
        const Party absent = places_.party(a.pc, a.warp * lanes_per_warp + lane, a.block);
        f.sentence = fmt::format(
            "Divergent threads in warp {} of block {}: thread {} comes to the barrier at {} "
            "without thread {} and {} more, which went another way; all threads of a warp must "
            "come to it together.",
            a.warp, name_of(f.first.block), name_of(f.first.thread), f.first.where(),
            name_of(absent.thread), threads - 1);
        return f;
    });
}

void BarrierCheck::on_barrier_release(const BarrierRelease& r) {
    const BarrierArrival& a = newest_[r.barrier];
    const uint32_t gone = places_.threads() - r.live_threads;
    if (a.expected || !gone) return;
    log_.add({&places_.kernel(), a.pc, a.pc, FindingKind::barrier, Severity::warning}, gone, [&] {
        Finding f = finding_at(a, Severity::warning);
        f.sentence = fmt::format(
            "Divergent threads in block {}: the barrier at {}, where thread {} waits, passes "
            "without {} threads of the block: they have ended, and a barrier does not count them.",
            name_of(f.first.block), f.first.where(), name_of(f.first.thread), gone);
        return f;
    });
}

void BarrierCheck::on_error(uint32_t, const Error& error) {
    if (!dynamic_cast<const DeadlockError*>(&error)) return;
    // Apart from what the same barrier may have been found to be before.
    log_.add({&places_.kernel(), last_.pc, ~0u, FindingKind::barrier, Severity::error}, 1, [&] {
        Finding f = finding_at(last_, Severity::error);
        f.second = f.first;
        f.sentence = error.what();
        return f;
    });
}

}  // namespace warpscope::emulator
