#include "emulator/checks/barrier_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/program/error.h"
#include "emulator/ptx/opcodes.h"

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

void BarrierCheck::on_block_turn(std::uint32_t block) {
    log_.begin_block(block);
    outsiders_.on_block_turn(block);
    if (block == block_) return;
    of_others_[block_] = newest_;
    newest_ = of_others_[block];
    block_ = block;
}

Finding BarrierCheck::finding_at(FindingKind kind, Severity severity, std::uint32_t pc,
                                 std::uint32_t thread, std::uint32_t block) const {
    Finding f;
    f.kind = kind;
    f.severity = severity;
    f.kernel = launch_.kernel().name;
    f.first = launch_.at(pc, thread, block);
    return f;
}

Finding BarrierCheck::finding_at(const BarrierArrival& a, Severity severity) const {
    const auto lane = std::uint32_t(std::countr_zero(a.mask));
    return finding_at(FindingKind::barrier, severity, a.pc, a.warp * lanes_per_warp + lane,
                      a.block);
}

void BarrierCheck::on_barrier_arrival(const BarrierArrival& a) {
    const BarrierArrival before = std::exchange(newest_[a.barrier], a);
    if (before.mask && before.pc != a.pc && !before.expected && !a.expected)
        note_two_lines(before, a);
    const std::uint32_t missing = a.live & ~a.mask;
    if (!missing || !is_aligned(launch_.kernel().lines[a.pc].text)) return;
    const std::uint32_t threads = lane_count(missing);
    log_.add({&launch_.kernel(), a.pc, a.pc, FindingKind::barrier, Severity::error}, threads, [&] {
        Finding f = finding_at(a, Severity::error);
        const auto lane = std::uint32_t(std::countr_zero(missing));
        const ThreadAtLine absent = launch_.at(a.pc, a.warp * lanes_per_warp + lane, a.block);
        f.sentence = files::sentence(
            "Divergent threads in warp {} of block {}: thread {} arrives at the barrier at {} "
            "without thread {} and {} more threads of its warp, which took another branch.",
            a.warp, name_of(f.first.block), name_of(f.first.thread), f.first.where_in_full(),
            name_of(absent.thread), threads - 1);
        f.sentence.add(files::sentence("All threads of a warp must arrive at a barrier together."));
        return f;
    });
}

// Compilers make copies of a barrier, all of one line.
void BarrierCheck::note_two_lines(const BarrierArrival& before, const BarrierArrival& a) {
    const auto &line = launch_.kernel().lines[before.pc].source,
               &other = launch_.kernel().lines[a.pc].source;
    if (line.file < 0 || other.file < 0 || (line.file == other.file && line.line == other.line))
        return;
    const auto [low, high] = std::minmax(before.pc, a.pc);
    log_.add({&launch_.kernel(), low, high, FindingKind::barrier, Severity::note},
             lane_count(a.mask), [&] {
                 Finding f = finding_at(a, Severity::note);
                 const ThreadAtLine waits = finding_at(before, Severity::note).first;
                 f.sentence = files::sentence(
                     "Threads of block {} wait at two barriers, which count as one: thread {} at "
                     "{}, and thread {} at {}.",
                     name_of(f.first.block), name_of(waits.thread), waits.where_in_full(),
                     name_of(f.first.thread), f.first.where_in_full());
                 f.sentence.add(files::sentence(
                     "PTX lets them, but the CUDA Programming Guide asks that all threads of a "
                     "block take one __syncthreads() together."));
                 return f;
             });
}

void BarrierCheck::on_barrier_release(const BarrierRelease& r) {
    const BarrierArrival a = newest_[r.barrier];
    newest_[r.barrier].mask = 0;
    const std::uint32_t gone = launch_.threads() - r.live_threads;
    if (a.expected || !gone) return;
    log_.add({&launch_.kernel(), a.pc, a.pc, FindingKind::barrier, Severity::warning}, gone, [&] {
        Finding f = finding_at(a, Severity::warning);
        f.sentence = files::sentence(
            "Divergent threads in block {}: the barrier at {}, where thread {} waits, completes "
            "without {} threads of the block.",
            name_of(f.first.block), f.first.where_in_full(), name_of(f.first.thread), gone);
        f.sentence.add(
            files::sentence("They have exited, and a barrier does not wait for exited threads."));
        return f;
    });
}

void BarrierCheck::on_member_fault(std::uint32_t block, const MemberFault& fault) {
    const std::uint32_t pc = launch_.kernel().index_of(fault.instruction);
    // The second pc keeps the kinds of faults at one instruction apart.
    const auto kind = FindingKind::members;
    log_.add({&launch_.kernel(), pc, std::uint32_t(fault.kind), kind, Severity::error},
             lane_count(fault.lanes), [&] {
                 const auto lane = std::uint32_t(std::countr_zero(fault.lanes));
                 Finding f = finding_at(kind, Severity::error, pc,
                                        fault.warp * lanes_per_warp + lane, block);
                 f.sentence = sentence(fault, lane, f);
                 return f;
             });
}

files::Sentence BarrierCheck::sentence(const MemberFault& fault, std::uint32_t lane,
                                       const Finding& f) const {
    const files::Sentence subject =
        files::sentence("Thread {} of block {} (lane {} of warp {})", name_of(f.first.thread),
                        name_of(f.first.block), lane, fault.warp);
    const std::string members = fmt::format("{:#010x}", fault.members);
    const std::string where = f.first.where_in_full();
    if (fault.kind == MemberFault::Kind::masks_differ)
        return files::sentence(
                   "{} names lane {} in its member mask {} at {}, but that lane has the mask {}.",
                   subject, fault.other, members, where, fmt::format("{:#010x}", fault.other_mask))
            .add(files::sentence("All lanes that a mask names must have this mask."));
    return files::sentence(
               "{} executes the instruction at {} with the member mask {}, which does not name its "
               "own lane.",
               subject, where, members)
        .add(files::sentence("The result is undefined."));
}

void BarrierCheck::on_error(std::uint32_t block, const Error& error) {
    const auto* const deadlock = dynamic_cast<const DeadlockError*>(&error);
    if (!deadlock) return;
    const OpcodeKind waits = opcode_of(launch_.kernel().code[deadlock->place.pc].operation).kind;
    const bool at_barrier = launch_.kernel().lines[deadlock->place.pc].barrier ||
                            waits == OpcodeKind::asynchronous ||
                            waits == OpcodeKind::cluster_barrier;
    const auto kind = at_barrier ? FindingKind::barrier : FindingKind::members;
    // The second pc keeps this finding apart from other findings at this instruction.
    log_.add({&launch_.kernel(), deadlock->place.pc, ~0u, kind, Severity::error}, 1, [&] {
        Finding f =
            finding_at(kind, Severity::error, deadlock->place.pc, deadlock->place.thread, block);
        f.second = f.first;
        f.sentence = error.words;
        return f;
    });
}

}  // namespace warpscope::emulator
