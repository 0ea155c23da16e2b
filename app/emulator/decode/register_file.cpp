#include <array>

#include "emulator/decode/decoder.h"

namespace warpscope::emulator {

std::uint32_t RegisterFile::uniform(std::uint32_t bytes) {
    const std::uint32_t at = uniform_bytes_;
    uniform_bytes_ += (bytes + 7) / 8 * 8;
    return at | 1;
}

std::uint32_t RegisterFile::vector(unsigned bits) {
    const std::uint32_t at = vector_bytes_;
    vector_bytes_ += lanes_per_warp * (bits == 64 ? 8 : 4);
    return at | vector_flag;
}

std::uint32_t RegisterFile::constant(std::uint64_t value) {
    const auto [found, is_new] = constants_.try_emplace(value, 0);
    if (is_new) found->second = uniform();
    return found->second;
}

std::uint32_t RegisterFile::special(Special special) {
    const auto [found, is_new] = specials_.try_emplace(special, 0);
    if (is_new) found->second = varies_by_lane(special) ? vector(32) : uniform();
    return found->second;
}

std::uint32_t RegisterFile::final_operand(std::uint32_t operand) const {
    if (!(operand & vector_flag)) return operand;
    return (operand & ~vector_flag) + (uniform_bytes_ + 63) / 64 * 64;
}

void RegisterFile::finish(Kernel& kernel) const {
    for (const auto& [value, slot] : constants_) kernel.constants.push_back({slot & ~1u, value});
    for (const auto& [special, slot] : specials_)
        kernel.specials.push_back({special, final_operand(slot)});
    kernel.register_bytes = final_operand(vector_flag | vector_bytes_);
}

bool varies_by_lane(Special special) {
    return special >= Special::tid_x && special <= Special::lanemask_gt;
}

Special special_named(std::string_view name) {
    static constexpr std::array<std::string_view, 25> names = {"",
                                                               "%tid.x",
                                                               "%tid.y",
                                                               "%tid.z",
                                                               "%laneid",
                                                               "%lanemask_eq",
                                                               "%lanemask_le",
                                                               "%lanemask_lt",
                                                               "%lanemask_ge",
                                                               "%lanemask_gt",
                                                               "%ntid.x",
                                                               "%ntid.y",
                                                               "%ntid.z",
                                                               "%ctaid.x",
                                                               "%ctaid.y",
                                                               "%ctaid.z",
                                                               "%nctaid.x",
                                                               "%nctaid.y",
                                                               "%nctaid.z",
                                                               "%warpid",
                                                               "%nwarpid",
                                                               "%smid",
                                                               "%nsmid",
                                                               "%dynamic_smem_size",
                                                               "%total_smem_size"};
    for (size_t i = 1; i < names.size(); ++i)
        if (names[i] == name) return Special(i);
    return Special::none;
}

}  // namespace warpscope::emulator
