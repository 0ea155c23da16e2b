#include "emulator/decode/kernel_state.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

void place_registers(KernelState& state) {
    const std::vector<RegisterSyntax>& registers = state.syntax.registers;
    std::vector<bool> used(registers.size());
    state.is_read.resize(registers.size());
    for (const Statement& s : state.syntax.statements) {
        for (std::int32_t r : destinations_of(s)) used[std::size_t(r)] = true;
        for (std::int32_t r : sources_of(s))
            used[std::size_t(r)] = state.is_read[std::size_t(r)] = true;
    }
    state.register_slots.resize(registers.size());
    for (std::size_t r = 0; r < registers.size(); ++r) {
        const Type type = registers[r].type;
        std::uint32_t& slot = state.register_slots[r];
        if (!used[r]) continue;
        if (state.aliases[r])
            slot = *state.aliases[r];
        else if (type == Type::pred || state.uniformity.uniform[r])
            slot = state.slots.uniform();
        else
            slot = state.slots.vector(bits_of(type));
        state.kernel->registers.push_back(
            {registers[r].name, slot, std::uint8_t(bits_of(type)), is_float(type)});
        if (state.uniformity.live_at_entry[r] && !state.aliases[r])
            state.kernel->cleared.push_back(state.kernel->registers.back());
    }
}

}  // namespace warpscope::emulator
