#include "emulator/happens_before/flags.h"

#include <algorithm>

#include "emulator/happens_before/kernel_paths.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

namespace {

/// More than a launch has flags; what comes then is not noted.
constexpr std::size_t most_seen = 1 << 16;

bool is_fence(const Kernel& kernel, std::uint32_t pc, Scope scope) {
    const InstructionInfo& i = kernel.lines[pc];
    return i.access == MemoryAccess::none && i.order != MemoryOrder::weak && i.scope >= scope;
}

/// One thread can come from one instruction to the other without a fence, or a barrier that counts
/// as one.
bool lacks_fence(const Kernel& kernel, std::uint32_t from, std::uint32_t to, Scope scope,
                 bool barrier_counts) {
    return reached_from(kernel, from, [&](std::uint32_t pc) {
        return is_fence(kernel, pc, scope) || (barrier_counts && is_full_barrier(kernel.code[pc]));
    })[to];
}

std::string_view fence_of(Scope scope) {
    return scope == Scope::block ? "__threadfence_block()" : "__threadfence()";
}

files::Sentence words_of_flag(Scope scope) {
    return files::sentence(
        "a flag orders nothing without fences: {} must stand before it is set, and behind the loop "
        "that polls it",
        fence_of(scope));
}

/// The catalogues have the two words.
std::string_view name_of(Scope scope) {
    return scope == Scope::block ? "block" : "cluster";
}

files::Sentence or_use_atomics() {
    return files::sentence("or use cuda::atomic_ref with release and acquire");
}

int line_of(const Kernel& kernel, std::uint32_t pc) {
    const SourceLine& source = kernel.lines[pc].source;
    return source.file < 0 ? source.ptx_line : source.line;
}

bool contains(const std::vector<std::uint32_t>& all, std::uint32_t pc) {
    return std::ranges::find(all, pc) != all.end();
}

}  // namespace

files::Sentence Flags::words_between(const Kernel& kernel, const Flag& flag, const Race& race,
                                     Lacks lacks, Scope scope) {
    const std::string set_at = kernel.where(flag.setter), polled_at = kernel.where(flag.poll);
    const std::string first = kernel.where(race.first), second = kernel.where(race.second);
    const std::string_view fence = fence_of(scope);
    const std::string &from = lacks.release ? first : polled_at,
                      &to = lacks.release ? set_at : second;
    const files::Sentence missing =
        lacks.release && lacks.acquire
            ? files::sentence("{} is missing between {} and {}, and between {} and {}", fence, from,
                              to, polled_at, second)
            : files::sentence("{} is missing between {} and {}", fence, from, to);
    return flag.setter == flag.poll
               ? files::sentence("the counter at {} orders these two only with fences: {}", set_at,
                                 missing)
               : files::sentence(
                     "the flag that is set at {} and polled at {} orders these two "
                     "only with fences: {}",
                     set_at, polled_at, missing);
}

files::Sentence Flags::words_of_scope(const Kernel& kernel, const Flag& flag, Scope scope) {
    return files::sentence(
        "the flag that is set at {} and polled at {} has the scope of a {}, so it orders nothing "
        "for threads outside of it: use cuda::thread_scope_device",
        kernel.where(flag.setter), kernel.where(flag.poll), name_of(scope));
}

void Flags::begin_launch(const Kernel& kernel) {
    clear();
    polls_.clear();
    setters_.clear();
    counters_.clear();
    is_of_flag_.assign(kernel.lines.size(), false);
    const auto is_word = [&](std::uint32_t pc) {
        return !uses_mbarrier(kernel.code[pc].operation);
    };
    // The compiler takes a plain load out of its loop.
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        const bool may_poll = i.access == MemoryAccess::atomic ||
                              (i.access == MemoryAccess::load && i.order != MemoryOrder::weak);
        if (may_poll && is_word(pc) && is_polled(kernel, pc)) polls_.push_back(pc);
    }
    find_counters(kernel);
    if (polls_.empty()) return;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        const bool writes = i.access == MemoryAccess::store || i.access == MemoryAccess::atomic;
        const auto may_meet = [&](std::uint32_t poll) {
            const InstructionInfo& p = kernel.lines[poll];
            return i.bytes == p.bytes && (i.base < 0 || p.base < 0 || i.base == p.base);
        };
        if (writes && is_word(pc) && !contains(polls_, pc) && std::ranges::any_of(polls_, may_meet))
            setters_.push_back(pc);
    }
    for (const auto* pcs : {&polls_, &setters_})
        for (const std::uint32_t pc : *pcs) is_of_flag_[pc] = true;
}

void Flags::find_counters(const Kernel& kernel) {
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        if (i.access != MemoryAccess::atomic || i.scope < Scope::device || i.compares) continue;
        if (contains(polls_, pc) || !is_result_compared(kernel, pc)) continue;
        counters_.push_back(pc);
        is_of_flag_[pc] = true;
    }
}

void Flags::clear() {
    seen_.clear();
}

void Flags::join(const Flags& fork) {
    seen_.insert(fork.seen_.begin(), fork.seen_.end());
}

void Flags::access(const Access& a, std::uint32_t party) {
    if (!is_of_flag_[a.pc]) return;
    for (std::uint32_t m = a.mask; m && seen_.size() < most_seen; m &= m - 1) {
        seen_.emplace(party, a.pc, a.address(unsigned(std::countr_zero(m))));
        if (a.same_address) return;
    }
}

bool Flags::has_met(const Flag& flag, const Race& race) const {
    const auto first = seen_.lower_bound({race.second_party, flag.poll, 0});
    for (auto at = first; at != seen_.end(); ++at) {
        const auto& [party, pc, address] = *at;
        if (party != race.second_party || pc != flag.poll) return false;
        if (seen_.contains({race.first_party, flag.setter, address})) return true;
    }
    return false;
}

Flags::Lacks Flags::lacks_of_flag(const Kernel& kernel, const Flag& flag, Scope scope) {
    Lacks lacks{!releases(kernel.lines[flag.setter].order),
                !acquires(kernel.lines[flag.poll].order)};
    const std::vector<bool> behind = reached_in_launch(kernel, flag.poll);
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        if (!is_fence(kernel, pc, scope)) continue;
        lacks.release = lacks.release && !reached_in_launch(kernel, pc)[flag.setter];
        lacks.acquire = lacks.acquire && !behind[pc];
    }
    return lacks;
}

bool Flags::leads_over(const Kernel& kernel, const Flag& flag, const Race& race) const {
    return reached_in_launch(kernel, race.first)[flag.setter] &&
           reached_in_launch(kernel, flag.poll)[race.second] && has_met(flag, race);
}

Flags::Lacks Flags::lacks_between(const Kernel& kernel, const Flag& flag, const Race& race,
                                  Scope scope) const {
    if (!leads_over(kernel, flag, race)) return {};
    return {!releases(kernel.lines[flag.setter].order) &&
                lacks_fence(kernel, race.first, flag.setter, scope, false),
            !acquires(kernel.lines[flag.poll].order) &&
                lacks_fence(kernel, flag.poll, race.second, scope, true)};
}

files::Sentence Flags::missing_fences(Finding& f, const Kernel& kernel, const Race& race,
                                      Scope scope) const {
    if (race.first_party == race.second_party) return {};
    for (const std::uint32_t setter : setters_)
        for (const std::uint32_t poll : polls_) {
            const Flag flag{setter, poll};
            const bool is_of_flag = (race.first == setter && race.second == poll) ||
                                    (race.first == poll && race.second == setter);
            const Scope of_flag = std::min(kernel.lines[setter].scope, kernel.lines[poll].scope);
            if (of_flag < scope) {
                if (!is_of_flag && leads_over(kernel, flag, race))
                    return words_of_scope(kernel, flag, of_flag);
                continue;
            }
            const Lacks lacks = is_of_flag ? lacks_of_flag(kernel, flag, scope)
                                           : lacks_between(kernel, flag, race, scope);
            if (!lacks.release && !lacks.acquire) continue;
            f.barrier = {lacks.release ? line_of(kernel, setter) : 0,
                         lacks.acquire ? line_of(kernel, poll) : 0, BarrierScope::words};
            files::Sentence text =
                is_of_flag ? words_of_flag(scope) : words_between(kernel, flag, race, lacks, scope);
            const InstructionInfo& sets = kernel.lines[setter];
            if (sets.order == MemoryOrder::weak && sets.access == MemoryAccess::store)
                text.add(files::sentence("a volatile store or an atomic operation must set the "
                                         "flag"),
                         "; ");
            return text.add(or_use_atomics(), "; ");
        }
    return scope == Scope::device ? missing_fences_of_counter(f, kernel, race) : files::Sentence();
}

files::Sentence Flags::missing_fences_of_counter(Finding& f, const Kernel& kernel,
                                                 const Race& race) const {
    for (const std::uint32_t counter : counters_) {
        const Flag flag{counter, counter};
        const Lacks lacks = lacks_between(kernel, flag, race, Scope::device);
        if (!lacks.release && !lacks.acquire) continue;
        const int line = line_of(kernel, counter);
        f.barrier = {lacks.release ? line : 0, lacks.acquire ? line : 0, BarrierScope::words};
        return words_between(kernel, flag, race, lacks, Scope::device).add(or_use_atomics(), "; ");
    }
    return {};
}

}  // namespace warpscope::emulator
