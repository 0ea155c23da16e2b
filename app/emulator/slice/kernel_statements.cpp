#include "emulator/slice/kernel_statements.h"

#include <algorithm>

#include "emulator/lower/uniformity.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

ControlDependence::ControlDependence(const KernelSyntax& kernel, const ControlFlow& flow)
    : block_of_(flow.block_of) {
    decided_.resize(flow.blocks.size());
    for (const Statement& s : kernel.statements)
        is_branch_.push_back(s.opcode->kind == OpcodeKind::branches && s.guard >= 0);
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        if (flow.blocks[b].successors.size() < 2) continue;
        // Walks from each side of the branch to where the sides meet.
        for (std::uint32_t at : flow.blocks[b].successors)
            for (; at != flow.post_dominator[b] && at != ControlFlow::no_block;
                 at = flow.post_dominator[at])
                decided_[b].push_back(at);
        std::ranges::sort(decided_[b]);
    }
}

bool ControlDependence::decides(std::size_t branch, std::size_t statement) const {
    return is_branch_[branch] &&
           std::ranges::binary_search(decided_[block_of_[branch]], block_of_[statement]);
}

namespace {

/// The elements of a vector, the parts of a pair, or the operand itself.
std::vector<std::int32_t> registers_in(const Operand& operand) {
    if (operand.elements.empty() || operand.kind == Operand::address)
        return {operand.kind == Operand::register_ ? operand.index : -1};
    std::vector<std::int32_t> found;
    for (const Operand& element : operand.elements)
        found.push_back(element.kind == Operand::register_ ? element.index : -1);
    return found;
}

SliceSource::Kind other_input(const Statement& s) {
    using Kind = SliceSource::Kind;
    switch (s.opcode->kind) {
        case OpcodeKind::reads_image:
            return Kind::image;
        case OpcodeKind::asynchronous:
        case OpcodeKind::block_barrier:
        case OpcodeKind::cluster_barrier:
            return destination_count(s) > 0 ? Kind::threads : Kind::instruction;
        default:
            return Kind::instruction;
    }
}

StatementEffects effects_of(const Statement& s, std::int32_t carry) {
    StatementEffects e;
    e.statement = &s;
    const OpcodeKind kind = s.opcode->kind;
    e.first_source = destination_count(s);
    if (e.first_source > 0) e.results = registers_in(s.operands[0]);
    e.updates_memory = kind == OpcodeKind::updates_memory;
    e.is_exchange = kind == OpcodeKind::exchanges;
    e.is_shuffle = s.opcode->grammar == Grammar::shuffle;
    e.is_of_whole_warp = works_on_matrices(s);
    e.input = other_input(s);
    if (kind == OpcodeKind::stores) {
        e.stored_operand = 1;
        e.stored = registers_in(s.operands[1]);
    }
    if (e.updates_memory) {
        e.stored_operand = e.first_source + 1;
        e.stored = registers_in(s.operands[e.stored_operand]);
    }
    if (kind == OpcodeKind::carries) {
        e.reads_carry = s.name == "addc" || s.name == "subc" || s.name == "madc";
        if (s.has("cc")) e.results.push_back(carry);
    }
    return e;
}

}  // namespace

KernelStatements::KernelStatements(const Kernel& kernel)
    : kernel_(kernel), syntax_(kernel.origin->syntax), control_(syntax_, kernel.origin->flow) {
    for (const Statement& s : syntax_.statements) effects_.push_back(effects_of(s, carry()));
    std::vector<bool> is_executed(syntax_.statements.size());
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        if (kernel.lines[pc].pseudo) continue;
        is_executed[index_of(pc)] = true;
        if (kernel.lines[pc].access == MemoryAccess::none) continue;
        StatementEffects& e = effects_[index_of(pc)];
        e.element_bytes =
            e.is_of_whole_warp ? kernel.lines[pc].bytes : AccessForm(kernel.code[pc].target).bytes;
    }
    only_copies_.resize(registers());
    for (std::size_t k = 0; k < effects_.size(); ++k)
        if (!is_executed[k])
            for (const std::int32_t reg : effects_[k].results)
                if (reg >= 0) only_copies_[std::size_t(reg)] = effects_[k].statement;
}

std::int32_t KernelStatements::carry() const {
    return std::int32_t(syntax_.registers.size());
}

const Statement* KernelStatements::only_copy(std::int32_t reg) const {
    return only_copies_[std::size_t(reg)];
}

std::uint64_t KernelStatements::parameter_offset(std::string_view name) const {
    const auto found = std::ranges::find(kernel_.parameters, name, &Parameter::name);
    return found == kernel_.parameters.end() ? 0 : found->offset;
}

const RegisterInfo* KernelStatements::shown_register(std::uint32_t pc) const {
    const StatementEffects& e = of(pc);
    const auto& candidates = e.stored.empty() ? e.results : e.stored;
    for (const std::int32_t reg : candidates) {
        if (reg < 0 || reg == carry()) continue;
        const std::string& name = syntax_.registers[std::size_t(reg)].name;
        const auto found = std::ranges::find(kernel_.registers, name, &RegisterInfo::name);
        if (found != kernel_.registers.end()) return &*found;
    }
    return nullptr;
}

}  // namespace warpscope::emulator
