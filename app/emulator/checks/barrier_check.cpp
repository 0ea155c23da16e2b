#include "emulator/checks/barrier_check.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

// True for bar, which is barrier.aligned (PTX ISA, "bar, barrier"): all threads of a warp must
// execute it together.
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
    f.kernel = launch_.kernel().name;
    const auto lane = std::uint32_t(std::countr_zero(a.mask));
    f.first = launch_.at(a.pc, a.warp * lanes_per_warp + lane, a.block);
    return f;
}

void BarrierCheck::on_barrier_arrival(const BarrierArrival& a) {
    newest_[a.barrier] = last_ = a;
    const std::uint32_t missing = a.live & ~a.mask;
    if (!missing || !is_aligned(launch_.kernel().lines[a.pc].text)) return;
    const std::uint32_t threads = lane_count(missing);
    log_.add({&launch_.kernel(), a.pc, a.pc, FindingKind::barrier, Severity::error}, threads, [&] {
        Finding f = finding_at(a, Severity::error);
        const auto lane = std::uint32_t(std::countr_zero(missing));
        const ThreadAtLine absent = launch_.at(a.pc, a.warp * lanes_per_warp + lane, a.block);
        f.sentence = fmt::format(
            "Divergent threads in warp {} of block {}: thread {} arrives at the barrier at {} "
            "without thread {} and {} more threads of its warp, which took another branch. All "
            "threads of a warp must arrive at a barrier together.",
            a.warp, name_of(f.first.block), name_of(f.first.thread), f.first.where_in_full(),
            name_of(absent.thread), threads - 1);
        return f;
    });
}

void BarrierCheck::on_barrier_release(const BarrierRelease& r) {
    const BarrierArrival& a = newest_[r.barrier];
    const std::uint32_t gone = launch_.threads() - r.live_threads;
    if (a.expected || !gone) return;
    log_.add({&launch_.kernel(), a.pc, a.pc, FindingKind::barrier, Severity::warning}, gone, [&] {
        Finding f = finding_at(a, Severity::warning);
        f.sentence = fmt::format(
            "Divergent threads in block {}: the barrier at {}, where thread {} waits, completes "
            "without {} threads of the block. They have exited, and a barrier does not wait for "
            "exited threads.",
            name_of(f.first.block), f.first.where_in_full(), name_of(f.first.thread), gone);
        return f;
    });
}

void BarrierCheck::on_error(std::uint32_t, const Error& error) {
    if (!dynamic_cast<const DeadlockError*>(&error)) return;
    // The second pc keeps this finding apart from other findings at this barrier.
    log_.add({&launch_.kernel(), last_.pc, ~0u, FindingKind::barrier, Severity::error}, 1, [&] {
        Finding f = finding_at(last_, Severity::error);
        f.second = f.first;
        f.sentence = error.what();
        return f;
    });
}

}  // namespace warpscope::emulator
