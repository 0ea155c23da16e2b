#include "emulator/checks/loaded_elements.h"

#include "emulator/lower/kernel_origin.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {
namespace {

bool stores_vector(const Statement& s) {
    return s.opcode->kind == OpcodeKind::stores && s.operands.size() > 1 &&
           s.operands[1].kind == Operand::vector;
}

}  // namespace

void LoadedElements::begin_launch(const Kernel& kernel) {
    kernel_ = &kernel;
    is_used_.clear();
    by_pc_.clear();
}

const LoadedElements::Elements& LoadedElements::of(std::uint32_t pc) {
    const auto [found, is_new] = by_pc_.try_emplace(pc);
    if (!is_new) return found->second;
    const KernelSyntax& syntax = kernel_->origin->syntax;
    if (is_used_.empty()) {
        is_used_.assign(syntax.registers.size() + 1, false);
        for (const Statement& s : syntax.statements)
            if (!stores_vector(s))
                for (const std::int32_t r : sources_of(s)) is_used_[std::size_t(r)] = true;
    }
    return found->second = read(pc);
}

LoadedElements::Elements LoadedElements::read(std::uint32_t pc) const {
    const Statement* const load = statement_at(*kernel_, pc);
    if (!load || load->opcode->operation != Operation::ld) return {};
    const Operand& destination = load->operands[0];
    const bool is_vector = destination.kind == Operand::vector;
    const std::vector<Operand> elements =
        is_vector ? destination.elements : std::vector<Operand>{destination};
    Elements found{kernel_->lines[pc].bytes / std::uint32_t(elements.size()), {}};
    for (const Operand& element : elements)
        found.is_used.push_back(element.kind == Operand::register_ &&
                                is_used_[std::size_t(element.index)]);
    return found;
}

}  // namespace warpscope::emulator
