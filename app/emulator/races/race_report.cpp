#include "emulator/races/race_report.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/async/async_copies.h"
#include "emulator/checks/dynamic_arrays.h"
#include "emulator/happens_before/kernel_paths.h"
#include "emulator/happens_before/missing_barrier.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

/// Decides whether a race is an error, a warning or a note. A race of equal values is a note,
/// because its order changes no result. A hazard in a warp is a warning, because most GPUs run its
/// lanes in step. That does not help an update: lanes in step read one value and store one result.
/// Nor does it help different values that one instruction stores to a word.
Severity race_severity(const Conflict& conflict, const Access& later) {
    if (conflict.same_value) return Severity::note;
    const bool one_warp = conflict.earlier.warp == later.warp;
    const bool in_step =
        one_warp && !conflict.is_update && !conflict.one_instruction && !conflict.is_of_copy();
    return in_step ? Severity::warning : Severity::error;
}

/// Names a place: "byte 12 of shared memory".
std::string place_of(const Conflict& conflict, const Access& later) {
    if (conflict.global_address) {
        const BlockContext& block = *later.state->block;
        return describe_global(*block.memory, *block.kernel->module, *conflict.global_address);
    }
    return fmt::format("byte {} of shared memory", conflict.byte);
}

/// What lets a thread know that a copy has ended.
std::string missing_wait(const Conflict& conflict, const Access& later) {
    const AsyncCopy& copy = *conflict.in_flight;
    const bool own = conflict.earlier.warp == later.warp && conflict.earlier_lane == conflict.lane;
    if (copy.completion == Completion::mbarrier)
        return fmt::format(
            "the reading thread must wait for the phase of the mbarrier at byte {} of "
            "shared memory that counts the copy",
            copy.mbarrier);
    if (copy.completion == Completion::bulk_group)
        return own ? "the thread must wait with cp.async.bulk.wait_group first"
                   : "the thread that started it must wait with cp.async.bulk.wait_group, and a "
                     "barrier must follow";
    return own ? "the thread must wait for its copy first, with __pipeline_wait_prior() or "
                 "cp.async.wait_group behind a commit"
               : "the thread that started it must wait for it, with __pipeline_wait_prior() or "
                 "cp.async.wait_group behind a commit, and a barrier must follow; or an mbarrier "
                 "must count the copy";
}

}  // namespace

void RaceReport::begin_launch(const Kernel& kernel, const LaunchShape& launch,
                              std::uint32_t shared_bytes, bool by_words) {
    launch_.begin(kernel, launch);
    loaded_.begin_launch(kernel);
    flags_.begin_launch(kernel);
    guesses_ = loads_that_guess(kernel);
    updates_.clear();
    by_words_ = by_words;
    log_.begin_launch();
    racing_words_.assign((shared_bytes + 3) / 4, false);
    any_racing_ = false;
    shared_hazards_ = global_hazards_ = {};
}

void RaceReport::join(const RaceReport& fork) {
    log_.join(fork.log_);
    shared_hazards_ += fork.shared_hazards_;
    global_hazards_ += fork.global_hazards_;
}

void RaceReport::begin_block(std::uint32_t block) {
    block_ = block;
    is_clean_ = true;
    log_.begin_block(block);
    if (any_racing_) racing_words_.assign(racing_words_.size(), false);
    any_racing_ = false;
}

void RaceReport::mark(const Conflict& conflict, std::uint32_t bytes, std::uint64_t count) {
    const bool shared = !conflict.global_address;
    is_clean_ = false;
    if (shared) {
        any_racing_ = true;
        for (std::uint32_t byte = conflict.byte; byte < conflict.byte + bytes; byte += 4)
            racing_words_[byte / 4] = true;
    }
    if (!counts_hazards_) return;
    if (shared)
        shared_hazards_.add(conflict.byte, bytes, count);
    else
        global_hazards_.add(*conflict.global_address, bytes, count);
}

bool RaceReport::is_update(const Conflict& conflict, std::uint32_t later_pc) {
    std::pair pcs{conflict.earlier.pc, later_pc};
    if (conflict.hazard == Hazard::write_after_write) return false;
    if (conflict.hazard == Hazard::read_after_write) std::swap(pcs.first, pcs.second);
    const auto [found, is_new] = updates_.try_emplace(pcs);
    if (is_new) found->second = emulator::is_update(launch_.kernel(), pcs.first, pcs.second);
    return found->second;
}

bool RaceReport::is_guess(const Conflict& conflict, const Access& later) const {
    const std::uint32_t earlier = conflict.earlier.pc;
    const auto is_atomic = [&](std::uint32_t pc) {
        return launch_.kernel().lines[pc].access == MemoryAccess::atomic;
    };
    return (guesses_[earlier] && is_atomic(later.pc)) || (guesses_[later.pc] && is_atomic(earlier));
}

void RaceReport::add(const Conflict& found, const Access& later, std::uint64_t count) {
    Conflict conflict = found;
    conflict.is_update = !conflict.is_of_copy() && is_update(conflict, later.pc);
    const bool only_guesses = is_guess(conflict, later);
    const Severity severity = only_guesses ? Severity::note : race_severity(conflict, later);
    log_.add({&launch_.kernel(), conflict.earlier.pc, later.pc, FindingKind::race, severity,
              conflict.hazard},
             count, [&] { return finding(conflict, later, severity); });
}

void RaceReport::add_unwritten(std::uint32_t byte, const Access& read, std::uint32_t lanes) {
    is_clean_ = false;
    const bool may_be_dropped = loaded_.may_be_dropped(read.pc);
    const Severity severity = may_be_dropped ? Severity::note : Severity::error;
    log_.add(
        {&launch_.kernel(), read.pc, read.pc, FindingKind::uninitialized, severity},
        lane_count(lanes), [&] {
            Finding f;
            f.kind = FindingKind::uninitialized;
            f.severity = severity;
            f.kernel = launch_.kernel().name;
            const auto lane = std::uint32_t(std::countr_zero(lanes));
            f.first = launch_.at(read.pc, read.warp * lanes_per_warp + lane, block_);
            f.byte = byte;
            f.sentence = fmt::format(
                "Thread {} of block {} reads byte {} of shared memory at {} before any thread of "
                "its block has written it. The value is undefined.",
                name_of(f.first.thread), name_of(f.first.block), byte, f.first.where_in_full());
            if (may_be_dropped)
                f.sentence +=
                    " The kernel chooses between it and another value, so it may drop it.";
            return f;
        });
}

// Another block may get the shared memory and write it.
void RaceReport::add_unfinished(const AsyncCopy& copy) {
    is_clean_ = false;
    log_.add(
        {&launch_.kernel(), copy.pc, copy.pc, FindingKind::race, Severity::error,
         Hazard::write_after_read},
        1, [&] {
            Finding f;
            f.kind = FindingKind::race;
            f.hazard = Hazard::write_after_read;
            f.kernel = launch_.kernel().name;
            f.first = launch_.at(copy.pc, copy.warp * lanes_per_warp + copy.lane_of(0), block_);
            f.second = f.first;
            f.byte = std::uint32_t(copy.from[0]);
            f.sentence = fmt::format(
                "Block {} ends while the bulk copy that thread {} started at {} may still "
                "read byte {} of its shared memory: the thread must wait with "
                "cp.async.bulk.wait_group or cp.async.bulk.wait_group.read before it ends.",
                name_of(f.first.block), name_of(f.first.thread), f.first.where_in_full(), *f.byte);
            return f;
        });
}

Finding RaceReport::finding(const Conflict& conflict, const Access& later,
                            Severity severity) const {
    const AccessEvent& earlier = conflict.earlier;
    Finding f;
    f.kind = FindingKind::race;
    f.severity = severity;
    f.hazard = conflict.hazard;
    f.kernel = launch_.kernel().name;
    f.first = launch_.at(earlier.pc, earlier.warp * lanes_per_warp + conflict.earlier_lane, block_);
    f.second = launch_.at(later.pc, later.warp * lanes_per_warp + conflict.lane, block_);
    if (!conflict.global_address) f.byte = conflict.byte;
    f.order = program_order(launch_.kernel(), earlier.pc, later.pc);
    f.sentence = sentence(conflict, later, f);
    return f;
}

/// Returns "__syncthreads() is missing between a.cu:7 and a.cu:9".
std::string RaceReport::advice(const Conflict& conflict, const Access& later, Finding& f) const {
    const Kernel& kernel = launch_.kernel();
    if (std::string advice = flags_.missing_fences(
            f, kernel,
            {conflict.earlier.pc, later.pc, party_of(conflict.earlier.warp), party_of(later.warp)},
            Scope::block);
        !advice.empty())
        return advice;
    std::uint32_t load = conflict.earlier.pc, store = later.pc;
    if (conflict.hazard == Hazard::read_after_write) std::swap(load, store);
    if (std::string advice = missing_atomic(f, kernel, load, store); !advice.empty()) return advice;
    if (by_words_ && !kernel.synchronises_grid) {
        if (f.first.where() != f.second->where())
            f.barrier = place_between(f, f.first.line > f.second->line, BarrierScope::words);
        return "no barrier, and no release and acquire of one word, orders these accesses";
    }
    if (!conflict.global_address && conflict.byte >= kernel.shared_bytes)
        if (std::string advice = extern_arrays_are_one(kernel); !advice.empty()) return advice;
    const bool loops = reached_in_epoch(kernel, later.pc)[conflict.earlier.pc] &&
                       reached_in_epoch(kernel, conflict.earlier.pc)[later.pc];
    // If the accesses are in two branches, the one at the lower line comes first in the program.
    const bool in_branches = f.order == AccessOrder::unknown && !loops;
    return emulator::missing_barrier(
        f,
        {kernel, conflict.earlier.pc, later.pc,
         f.misread() || (in_branches && f.first.line > f.second->line)},
        conflict.earlier.warp == later.warp ? BarrierScope::warp : BarrierScope::block);
}

std::string RaceReport::sentence(const Conflict& conflict, const Access& later, Finding& f) const {
    const AccessEvent& earlier = conflict.earlier;
    const auto subject = [&](const ThreadAtLine& at, std::uint32_t warp) {
        return fmt::format("Thread {} of block {} (warp {})", name_of(at.thread), name_of(at.block),
                           warp);
    };
    const auto other = [&](const ThreadAtLine& at, std::uint32_t warp) {
        return fmt::format(
            "thread {} of {}", name_of(at.thread),
            earlier.warp == later.warp ? "the same warp" : fmt::format("warp {}", warp));
    };
    const ThreadAtLine &first = f.first, &second = *f.second;
    const std::string place = place_of(conflict, later);
    if (conflict.one_instruction)
        return fmt::format(
            "{} and {} store {} to {} in one instruction, at {}. {}", subject(second, later.warp),
            other(first, earlier.warp), conflict.same_value ? "one value" : "different values",
            place, second.where_in_full(),
            conflict.same_value ? "It is the value that remains; one store would do."
                                : "Either value may remain, and no barrier can order the two "
                                  "stores.");
    if (conflict.in_flight)
        return fmt::format(
            "{} {} {} at {} while an asynchronous copy copies {} it, which {} started "
            "at {}: {}.",
            subject(second, later.warp),
            conflict.hazard == Hazard::read_after_write ? "reads" : "overwrites", place,
            second.where_in_full(), conflict.hazard == Hazard::write_after_read ? "from" : "to",
            other(first, earlier.warp), first.where_in_full(), missing_wait(conflict, later));
    if (conflict.lacks_proxy_fence) {
        const bool overwrites = conflict.hazard == Hazard::write_after_write;
        return fmt::format(
            "{} starts a bulk copy at {} that {} {}, which {} wrote at {}: fence.proxy.async is "
            "missing between the two, so {}.",
            subject(second, later.warp), second.where_in_full(), overwrites ? "overwrites" : "uses",
            place, other(first, earlier.warp), first.where_in_full(),
            overwrites ? "either value may remain" : "the copy may use what was there before");
    }
    const char* atomically = later.kind == MemoryAccess::atomic ? " atomically" : "";
    const std::string missing = advice(conflict, later, f);
    if (f.misread() && conflict.hazard == Hazard::write_after_read)
        return fmt::format("{} read {} at {} before {} wrote it{} at {}: {}.",
                           subject(first, earlier.warp), place, first.where_in_full(),
                           other(second, later.warp), atomically, second.where_in_full(), missing);
    const char* did = f.misread()                                   ? "had overwritten"
                      : conflict.hazard == Hazard::write_after_read ? "read"
                                                                    : "wrote";
    return fmt::format("{} {}{} {} at {} after {} {} it at {}{}: {}.", subject(second, later.warp),
                       conflict.hazard == Hazard::read_after_write ? "reads" : "overwrites",
                       atomically, place, second.where_in_full(), other(first, earlier.warp), did,
                       first.where_in_full(), conflict.same_value ? ", with the same value" : "",
                       missing);
}

}  // namespace warpscope::emulator
