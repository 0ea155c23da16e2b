#include "emulator/happens_before/kernel_paths.h"

#include <algorithm>
#include <set>
#include <vector>

#include "emulator/lower/uniformity.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

bool is_full_barrier(const Instruction& i) {
    constexpr std::uint32_t no_count = 0;
    return i.role == Role::block_barrier && BarrierKind(i.detail) != BarrierKind::arrive &&
           i.operands[1] == no_count;
}

std::vector<bool> reached_from(const Kernel& kernel, std::uint32_t from,
                               const std::function<bool(std::uint32_t)>& ends_at) {
    std::vector<bool> reached(kernel.code.size());
    std::vector<std::uint32_t> open{from};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        const Instruction& i = kernel.code[at];
        if (ends_at(at)) continue;
        const bool guarded = at > 0 && is_guard(kernel.code[at - 1].role);
        std::vector<std::uint32_t> next;
        if (is_branch(i.role)) next.push_back(at + i.target);
        const bool ends = i.role == Role::branch || i.role == Role::exit;
        if (!ends || guarded) next.push_back(at + 1);
        for (const std::uint32_t n : next) {
            if (n >= reached.size() || reached[n]) continue;
            reached[n] = true;
            open.push_back(n);
        }
    }
    return reached;
}

std::vector<bool> reached_in_epoch(const Kernel& kernel, std::uint32_t from) {
    return reached_from(kernel, from,
                        [&](std::uint32_t pc) { return is_full_barrier(kernel.code[pc]); });
}

std::vector<bool> reached_in_launch(const Kernel& kernel, std::uint32_t from) {
    return reached_from(kernel, from, [](std::uint32_t) { return false; });
}

bool share_uneven_loop(const Kernel& kernel, std::uint32_t first, std::uint32_t second) {
    const auto& [syntax, flow, uniformity, begins] = *kernel.origin;
    const auto block_of = [&begins = begins](std::uint32_t pc) {
        return std::size_t(std::ranges::upper_bound(begins, pc) - begins.begin() - 1);
    };
    const std::size_t a = block_of(first), b = block_of(second);
    for (std::size_t block = 0; block < flow.blocks.size(); ++block) {
        if (!uniformity.divergent[block]) continue;
        const std::uint32_t join = flow.post_dominator[block];
        std::vector<bool> inside(flow.blocks.size());
        for (const std::uint32_t next : flow.blocks[block].successors)
            if (next != join) merge(inside, flow.region(next, join));
        const bool is_loop = inside[block];
        if (is_loop && inside[a] && inside[b]) return true;
    }
    return false;
}

namespace {

/// Registers whose values are computed of the value of one instruction.
class Derived {
  public:
    explicit Derived(const Instruction& from) { add_results(from); }

    bool has(std::uint32_t operand) const { return operand && slots_.contains(operand); }
    bool is_read_by(const Instruction& i) const {
        const unsigned sources = is_branch(i.role) ? 1 : 6;
        for (unsigned k = destination_count(i); k < sources; ++k)
            if (has(i.operands[k])) return true;
        return false;
    }
    /// True where that adds a register.
    bool follow(const Instruction& i) {
        if (is_branch(i.role) || is_prefix(i.role) || !is_read_by(i)) return false;
        const std::size_t before = slots_.size();
        add_results(i);
        return slots_.size() > before;
    }

  private:
    void add_results(const Instruction& i) {
        slots_.insert(i.operands, i.operands + destination_count(i));
    }
    std::set<std::uint32_t> slots_;
};

/// Follows the value of an instruction through the whole kernel.
Derived derived_of(const Kernel& kernel, std::uint32_t pc) {
    Derived derived(kernel.code[pc]);
    for (bool grows = true; grows;) {
        grows = false;
        for (const Instruction& i : kernel.code) grows |= derived.follow(i);
    }
    return derived;
}

bool have_one_address(const Kernel& kernel, std::uint32_t a, std::uint32_t b) {
    return kernel.code[a].operands[kernel.lines[a].address_operand] ==
               kernel.code[b].operands[kernel.lines[b].address_operand] &&
           kernel.code[a].immediate == kernel.code[b].immediate;
}

/// A load and a store behind it that have one address operand.
bool are_of_one_word(const Kernel& kernel, std::uint32_t load, std::uint32_t store) {
    if (kernel.lines[load].access != MemoryAccess::load ||
        kernel.lines[store].access != MemoryAccess::store || load >= store)
        return false;
    return have_one_address(kernel, load, store);
}

bool is_idempotent(Operation operation) {
    return operation == Operation::and_ || operation == Operation::or_ ||
           operation == Operation::min || operation == Operation::max;
}

}  // namespace

bool is_polled(const Kernel& kernel, std::uint32_t load) {
    const std::vector<bool> reached = reached_in_epoch(kernel, load);
    if (!reached[load]) return false;
    const auto comes_back = [&](std::uint32_t pc) {
        return pc == load || (pc < kernel.code.size() && reached_in_epoch(kernel, pc)[load]);
    };
    Derived derived(kernel.code[load]);
    for (bool grows = true; grows;) {
        grows = false;
        for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc)
            grows |= reached[pc] && derived.follow(kernel.code[pc]);
    }
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
        const Instruction& i = kernel.code[pc];
        const bool decides = (i.role == Role::branch_if || i.role == Role::branch_unless) &&
                             reached[pc] && derived.has(i.operands[0]);
        if (decides && comes_back(pc + 1) != comes_back(pc + i.target)) return true;
    }
    return false;
}

bool is_result_used(const Kernel& kernel, std::uint32_t pc) {
    const Derived results(kernel.code[pc]);
    return std::ranges::any_of(kernel.code,
                               [&](const Instruction& i) { return results.is_read_by(i); });
}

bool is_result_compared(const Kernel& kernel, std::uint32_t pc) {
    const Derived derived = derived_of(kernel, pc);
    return std::ranges::any_of(kernel.code, [&](const Instruction& i) {
        return i.operation == Operation::setp && derived.is_read_by(i);
    });
}

namespace {

/// By register: its value may depend on the index of the block, or on the order of atomics.
std::vector<bool> values_of_one_block(const KernelSyntax& syntax) {
    std::vector<bool> found(syntax.registers.size());
    const auto differs = [&](const Statement& s) {
        return s.opcode->kind == OpcodeKind::updates_memory ||
               std::ranges::any_of(s.operands,
                                   [](const Operand& o) {
                                       return o.kind == Operand::special &&
                                              !o.name.starts_with("%tid") &&
                                              !o.name.starts_with("%ntid") &&
                                              !o.name.starts_with("%lane");
                                   }) ||
               std::ranges::any_of(sources_of(s), [&](auto r) { return found[std::size_t(r)]; });
    };
    for (bool grows = true; grows;) {
        grows = false;
        for (const Statement& s : syntax.statements) {
            if (destination_count(s) == 0 || !differs(s)) continue;
            for (const std::int32_t r : destinations_of(s)) {
                grows |= !found[std::size_t(r)];
                found[std::size_t(r)] = true;
            }
        }
    }
    return found;
}

}  // namespace

std::vector<bool> stores_of_all_blocks(const Kernel& kernel) {
    std::vector<bool> found(kernel.code.size());
    const std::vector<bool> differs = values_of_one_block(kernel.origin->syntax);
    for (std::uint32_t pc = 0; pc < found.size(); ++pc) {
        const Statement* const s = statement_at(kernel, pc);
        if (!s || s->opcode->kind != OpcodeKind::stores || s->operands.empty()) continue;
        const Operand& address = s->operands[0];
        found[pc] = address.kind == Operand::address &&
                    std::ranges::none_of(address.elements, [&](const Operand& o) {
                        return o.kind == Operand::register_ && differs[std::size_t(o.index)];
                    });
    }
    return found;
}

std::vector<bool> loads_that_guess(const Kernel& kernel) {
    constexpr unsigned expected = 2;  // operand of a compare-and-swap
    std::vector<bool> guess(kernel.code.size());
    for (std::uint32_t swap = 0; swap < guess.size(); ++swap) {
        if (!kernel.lines[swap].compares) continue;
        for (std::uint32_t pc = 0; pc < guess.size(); ++pc)
            guess[pc] =
                guess[pc] || (kernel.lines[pc].access == MemoryAccess::load &&
                              kernel.lines[pc].bytes == kernel.lines[swap].bytes &&
                              have_one_address(kernel, pc, swap) &&
                              derived_of(kernel, pc).has(kernel.code[swap].operands[expected]));
    }
    return guess;
}

bool is_update(const Kernel& kernel, std::uint32_t load, std::uint32_t store) {
    if (!are_of_one_word(kernel, load, store)) return false;
    const Instruction &from = kernel.code[load], &into = kernel.code[store];
    Derived derived(from);
    bool changes = false;
    for (std::uint32_t pc = load + 1; pc < store; ++pc) {
        const Instruction& i = kernel.code[pc];
        if (is_branch(i.role)) return false;
        derived.follow(i);
        if (destination_count(i) && i.operands[0] == into.operands[1])
            changes = derived.is_read_by(i) && !is_idempotent(i.operation);
    }
    return changes;
}

bool decides_store(const Kernel& kernel, std::uint32_t load, std::uint32_t store) {
    if (!are_of_one_word(kernel, load, store) || !reached_in_epoch(kernel, load)[store])
        return false;
    Derived derived(kernel.code[load]);
    bool decides = false;
    for (std::uint32_t pc = load + 1; pc < store; ++pc) {
        const Instruction& i = kernel.code[pc];
        if (kernel.lines[pc].barrier) return false;
        derived.follow(i);
        decides |= (is_branch(i.role) || is_guard(i.role)) && derived.has(i.operands[0]);
    }
    return decides && !derived.has(kernel.code[store].operands[1]);
}

}  // namespace warpscope::emulator
