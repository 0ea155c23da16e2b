#include "emulator/decode/slot_allocator.h"

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

std::uint32_t SlotAllocator::uniform(std::uint32_t bytes) {
    const std::uint32_t at = uniform_bytes_;
    uniform_bytes_ += (bytes + 7) / 8 * 8;
    return at | uniform_operand;
}

std::uint32_t SlotAllocator::vector(unsigned bits) {
    const std::uint32_t at = vector_bytes_;
    vector_bytes_ += lanes_per_warp * (bits == 64 ? 8 : 4);
    return at | vector_flag;
}

std::uint32_t SlotAllocator::constant(std::uint64_t value) {
    const auto [found, is_new] = constants_.try_emplace(value, 0);
    if (is_new) found->second = uniform();
    return found->second;
}

std::uint32_t SlotAllocator::special(Special special) {
    const auto [found, is_new] = specials_.try_emplace(special, 0);
    if (is_new) found->second = varies_by_lane(special) ? vector(32) : uniform();
    return found->second;
}

std::uint32_t SlotAllocator::final_operand(std::uint32_t operand) const {
    if (!(operand & vector_flag)) return operand;
    return (operand & ~vector_flag) + (uniform_bytes_ + 63) / 64 * 64;
}

void SlotAllocator::finish(Kernel& kernel) const {
    for (const auto& [value, slot] : constants_)
        kernel.constants.push_back({slot_offset(slot), value});
    for (const auto& [special, slot] : specials_)
        kernel.specials.push_back({special, final_operand(slot)});
    kernel.register_bytes = final_operand(vector_flag | vector_bytes_);
}

}  // namespace warpscope::emulator
