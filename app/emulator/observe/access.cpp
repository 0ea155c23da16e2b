#include <cstring>

#include "emulator/observe/block_summaries.h"
#include "emulator/warp/matrices.h"

namespace warpscope::emulator {

void Access::stored(unsigned lane, std::byte* into) const {
    if (values) {
        std::memcpy(into, values + std::size_t(lane) * bytes, bytes);
        return;
    }
    const Instruction& i = state->block->kernel->code[pc];
    const auto copy = [&](unsigned elements, unsigned first_operand, bool wide_register) {
        const unsigned size = bytes / elements;
        for (unsigned e = 0; e < elements; ++e) {
            const std::uint32_t operand = i.operands[first_operand + e];
            const std::uint64_t value = wide_register ? state->get<std::uint64_t>(operand, lane)
                                                      : state->get<std::uint32_t>(operand, lane);
            std::memcpy(into + e * size, &value, size);
        }
    };
    if (image != Image::none) {
        const TextureForm form(i.target);
        return copy(form.elements, 2, form.bytes == 8);
    }
    const AccessForm form(i.target);
    if (form.matrices) return copy_matrix_row(*state, i, lane, into);
    copy(form.elements, 1, form.wide_register);
}

const std::byte* Access::shared_memory() const {
    return state->block->shared;
}

Access access_of(const BroadcastLoad& load) {
    const BlockContext& block = *load.warp->block;
    return {.block = block.block,
            .warp = load.warp->index,
            .mask = all_lanes,
            .lane_addresses = &load.address,
            .bytes = block.kernel->lines[load.pc].bytes,
            .kind = MemoryAccess::load,
            .pc = load.pc,
            .same_address = true,
            .checked = true,
            .state = load.warp};
}

}  // namespace warpscope::emulator
