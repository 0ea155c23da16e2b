#include "emulator/ptx/effects.h"

#include <string_view>

namespace warpscope::emulator {

namespace {

Effect effect_of_special_register(std::string_view name) {
    if (varies_by_lane(special_named(name))) return Effect::per_lane;
    const bool is_clock = name.starts_with("%clock") || name.starts_with("%globaltimer");
    return is_clock ? Effect::load : Effect::pure;
}

Effect effect_of_load(const Statement& s) {
    if (s.has("param") || s.has("const") || s.has("nc")) return Effect::pure;
    if (s.has("global") || s.has("shared") || s.has("shared::cta")) return Effect::load;
    // In local memory, one address holds another value for each lane. A generic address may be one.
    return Effect::per_lane;
}

}  // namespace

const Operand& base_of(const Operand& operand) {
    const bool has_base = operand.kind == Operand::address && !operand.elements.empty();
    return has_base ? operand.elements[0] : operand;
}

void collect_registers(const Operand& operand, std::vector<std::int32_t>& into) {
    if (operand.kind == Operand::register_) into.push_back(operand.index);
    for (const Operand& element : operand.elements) collect_registers(element, into);
}

unsigned destination_count(const Statement& s) {
    return s.opcode->operands.destinations();
}

unsigned destination_count(const Instruction& i) {
    const Opcode& opcode = opcode_of(i.operation);
    // The elements of a vector
    if (opcode.kind == OpcodeKind::loads || opcode.kind == OpcodeKind::reads_image) return i.detail;
    return i.operation == Operation::shfl ? 2 : opcode.operands.destinations();
}

std::vector<std::int32_t> destinations_of(const Statement& s) {
    std::vector<std::int32_t> found;
    const unsigned count = destination_count(s);
    for (unsigned i = 0; i < count && i < s.operands.size(); ++i)
        collect_registers(s.operands[i], found);
    return found;
}

std::vector<std::int32_t> sources_of(const Statement& s) {
    std::vector<std::int32_t> found;
    for (std::size_t i = destination_count(s); i < s.operands.size(); ++i)
        collect_registers(s.operands[i], found);
    if (s.guard >= 0) {
        found.push_back(s.guard);
        for (std::int32_t r : destinations_of(s)) found.push_back(r);
    }
    return found;
}

bool is_exit(const Statement& s) {
    return s.opcode->kind == OpcodeKind::exits;
}

bool ends_block(const Statement& s) {
    switch (s.opcode->kind) {
        case OpcodeKind::branches:
        case OpcodeKind::branches_by_index:
        case OpcodeKind::exits:
        case OpcodeKind::traps:
            return true;
        default:
            return false;
    }
}

bool is_block_barrier(const Statement& s) {
    return s.opcode->kind == OpcodeKind::block_barrier ||
           s.opcode->kind == OpcodeKind::cluster_barrier;
}

bool works_on_matrices(const Statement& s) {
    const Grammar grammar = s.opcode->grammar;
    return grammar == Grammar::matrix_load || grammar == Grammar::matrix_store ||
           grammar == Grammar::matrix_move || grammar == Grammar::matrix_product ||
           grammar == Grammar::fragment_load || grammar == Grammar::fragment_store ||
           grammar == Grammar::fragment_product;
}

bool waits_for_threads(const Statement& s) {
    const OpcodeKind kind = s.opcode->kind;
    return works_on_matrices(s) || kind == OpcodeKind::block_barrier ||
           kind == OpcodeKind::cluster_barrier || kind == OpcodeKind::warp_barrier ||
           kind == OpcodeKind::exchanges;
}

bool reads_what_others_write(const Statement& s) {
    if (s.opcode->kind == OpcodeKind::updates_memory) return destination_count(s) > 0;
    return s.opcode->kind == OpcodeKind::loads &&
           (s.has("volatile") || s.has("relaxed") || s.has("acquire"));
}

Effect effect_of(const Statement& s) {
    if (destination_count(s) == 0) return Effect::none;
    if (works_on_matrices(s)) return Effect::per_lane;
    if (s.opcode->kind == OpcodeKind::loads) return effect_of_load(s);
    if (s.opcode->kind != OpcodeKind::computes) return Effect::per_lane;
    Effect effect = Effect::pure;
    for (const Operand& o : s.operands)
        if (o.kind == Operand::special && effect == Effect::pure)
            effect = effect_of_special_register(o.name);
    return effect;
}

}  // namespace warpscope::emulator
