#include "emulator/races/race_report.h"

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
files::Sentence place_of(const Conflict& conflict, const Access& later) {
    if (conflict.global_address) {
        const BlockContext& block = *later.state->block;
        return describe_global(*block.memory, *block.kernel->module, *conflict.global_address);
    }
    return files::sentence("byte {} of shared memory", conflict.byte);
}

/// What lets a thread know that a copy has ended.
files::Sentence missing_wait(const Conflict& conflict, const Access& later) {
    const AsyncCopy& copy = *conflict.in_flight;
    const bool own = conflict.earlier.warp == later.warp && conflict.earlier_lane == conflict.lane;
    if (copy.completion == Completion::mbarrier)
        return files::sentence(
            "the reading thread must wait for the phase of the mbarrier at byte {} of "
            "shared memory that counts the copy",
            copy.mbarrier);
    if (copy.completion == Completion::bulk_group)
        return own ? files::sentence("the thread must wait with cp.async.bulk.wait_group first")
                   : files::sentence(
                         "the thread that started it must wait with "
                         "cp.async.bulk.wait_group, and a barrier must follow");
    return own ? files::sentence(
                     "the thread must wait for its copy first, with "
                     "__pipeline_wait_prior() or cp.async.wait_group behind a commit")
               : files::sentence(
                     "the thread that started it must wait for it, with "
                     "__pipeline_wait_prior() or cp.async.wait_group behind a commit, "
                     "and a barrier must follow; or an mbarrier must count the copy");
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
            f.sentence = files::sentence(
                "Thread {} of block {} reads byte {} of shared memory at {} before any thread of "
                "its block has written it.",
                name_of(f.first.thread), name_of(f.first.block), byte, f.first.where_in_full());
            f.sentence.add(files::sentence("The value is undefined."));
            if (may_be_dropped)
                f.sentence.add(files::sentence(
                    "The kernel chooses between it and another value, so it may drop it."));
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
            f.sentence = files::sentence(
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
files::Sentence RaceReport::advice(const Conflict& conflict, const Access& later,
                                   Finding& f) const {
    const Kernel& kernel = launch_.kernel();
    if (files::Sentence advice = flags_.missing_fences(
            f, kernel,
            {conflict.earlier.pc, later.pc, party_of(conflict.earlier.warp), party_of(later.warp)},
            Scope::block);
        !advice.empty())
        return advice;
    std::uint32_t load = conflict.earlier.pc, store = later.pc;
    if (conflict.hazard == Hazard::read_after_write) std::swap(load, store);
    if (files::Sentence advice = missing_atomic(f, kernel, load, store); !advice.empty())
        return advice;
    if (by_words_ && !kernel.synchronises_grid) {
        if (f.first.where() != f.second->where())
            f.barrier = place_between(f, f.first.line > f.second->line, BarrierScope::words);
        return files::sentence(
            "no barrier, and no release and acquire of one word, orders these accesses");
    }
    if (!conflict.global_address && conflict.byte >= kernel.shared_bytes)
        if (files::Sentence advice = extern_arrays_are_one(kernel); !advice.empty()) return advice;
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

namespace {

/// Who takes part in a race, where, and in which memory.
struct Parties {
    files::Sentence later, place;
    std::string at_later;
    files::Sentence earlier;
    std::string at_earlier;

    files::Sentence say(files::Form<6> form, const files::Sentence& why) const {
        return files::sentence(form, later, place, at_later, earlier, at_earlier, why);
    }
};

files::Sentence in_one_instruction(const Parties& p, bool same_value) {
    const files::Form<4> form =
        same_value
            ? files::Form<4>("{} and {} store one value to {} in one instruction, at {}.")
            : files::Form<4>("{} and {} store different values to {} in one instruction, at {}.");
    return files::sentence(form, p.later, p.earlier, p.place, p.at_later)
        .add(same_value ? files::sentence("It is the value that remains; one store would do.")
                        : files::sentence("Either value may remain, and no barrier can order the "
                                          "two stores."));
}

files::Sentence with_copy_in_flight(const Parties& p, Hazard hazard, const files::Sentence& wait) {
    const files::Form<6> form =
        hazard == Hazard::read_after_write
            ? files::Form<6>(
                  "{} reads {} at {} while an asynchronous copy copies to it, which {} "
                  "started at {}: {}.")
        : hazard == Hazard::write_after_read
            ? files::Form<6>(
                  "{} overwrites {} at {} while an asynchronous copy copies from it, "
                  "which {} started at {}: {}.")
            : files::Form<6>(
                  "{} overwrites {} at {} while an asynchronous copy copies to it, "
                  "which {} started at {}: {}.");
    return p.say(form, wait);
}

files::Sentence without_proxy_fence(const Parties& p, bool overwrites) {
    const files::Form<5> form =
        overwrites ? files::Form<5>(
                         "{} starts a bulk copy at {} that overwrites {}, which {} wrote at "
                         "{}: fence.proxy.async is missing between the two, so either value "
                         "may remain.")
                   : files::Form<5>(
                         "{} starts a bulk copy at {} that uses {}, which {} wrote at {}: "
                         "fence.proxy.async is missing between the two, so the copy may use "
                         "what was there before.");
    return files::sentence(form, p.later, p.at_later, p.place, p.earlier, p.at_earlier);
}

/// What the later access of a race does, and after whom; by what the earlier access did.
constexpr files::Form<6> later_forms[] = {
    "{} reads {} at {} after {} had overwritten it at {}: {}.",
    "{} overwrites {} at {} after {} read it at {}: {}.",
    "{} reads {} at {} after {} wrote it at {}: {}.",
    "{} overwrites {} at {} after {} wrote it at {}: {}.",
    "{} overwrites {} at {} after {} wrote it at {}, with the same value: {}."};
/// Likewise, if the later access is atomic.
constexpr files::Form<6> atomic_forms[] = {
    "{} reads atomically {} at {} after {} had overwritten it at {}: {}.",
    "{} overwrites atomically {} at {} after {} read it at {}: {}.",
    "{} reads atomically {} at {} after {} wrote it at {}: {}.",
    "{} overwrites atomically {} at {} after {} wrote it at {}: {}.",
    "{} overwrites atomically {} at {} after {} wrote it at {}, with the same value: {}."};

}  // namespace

files::Sentence RaceReport::sentence(const Conflict& conflict, const Access& later,
                                     Finding& f) const {
    const AccessEvent& earlier = conflict.earlier;
    const auto subject = [&](const ThreadAtLine& at, std::uint32_t warp) {
        return files::sentence("Thread {} of block {} (warp {})", name_of(at.thread),
                               name_of(at.block), warp);
    };
    const auto other = [&](const ThreadAtLine& at, std::uint32_t warp) {
        return earlier.warp == later.warp
                   ? files::sentence("thread {} of the same warp", name_of(at.thread))
                   : files::sentence("thread {} of warp {}", name_of(at.thread), warp);
    };
    const ThreadAtLine &first = f.first, &second = *f.second;
    const Parties parties{subject(second, later.warp), place_of(conflict, later),
                          second.where_in_full(), other(first, earlier.warp),
                          first.where_in_full()};
    if (conflict.one_instruction) return in_one_instruction(parties, conflict.same_value);
    if (conflict.in_flight)
        return with_copy_in_flight(parties, conflict.hazard, missing_wait(conflict, later));
    if (conflict.lacks_proxy_fence)
        return without_proxy_fence(parties, conflict.hazard == Hazard::write_after_write);
    const bool atomic = later.kind == MemoryAccess::atomic;
    const files::Sentence missing = advice(conflict, later, f);
    if (f.misread() && conflict.hazard == Hazard::write_after_read) {
        const files::Form<6> form =
            atomic ? files::Form<6>("{} read {} at {} before {} wrote it atomically at {}: {}.")
                   : files::Form<6>("{} read {} at {} before {} wrote it at {}: {}.");
        return files::sentence(form, subject(first, earlier.warp), parties.place,
                               parties.at_earlier, other(second, later.warp), parties.at_later,
                               missing);
    }
    const std::size_t number = f.misread()                                   ? 0
                               : conflict.hazard == Hazard::write_after_read ? 1
                               : conflict.hazard == Hazard::read_after_write ? 2
                               : conflict.same_value                         ? 4
                                                                             : 3;
    return parties.say(atomic ? atomic_forms[number] : later_forms[number], missing);
}

}  // namespace warpscope::emulator
