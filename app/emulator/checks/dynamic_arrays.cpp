#include "emulator/checks/dynamic_arrays.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/program/source_line.h"

namespace warpscope::emulator {

files::Sentence extern_arrays_are_one(const Kernel& kernel) {
    std::string names;
    unsigned number = 0;
    for (const SharedVariable& variable : kernel.shared_variables) {
        if (variable.bytes) continue;
        names += fmt::format("{}{}", number++ ? " and " : "", source_name(variable.name));
    }
    if (number < 2) return {};
    return files::sentence(
        "the extern arrays {} are one memory, which begins at one address; let the second array "
        "begin behind the first one",
        names);
}

void DynamicArrays::begin_launch(const Kernel& kernel, const LaunchShape& launch) {
    bits_.assign(kernel.bases.size(), 0);
    unsigned number = 0;
    for (std::size_t k = 0; k < kernel.shared_variables.size() && number < 8; ++k)
        if (kernel.shared_variables[k].bytes == 0) bits_[k] = std::uint8_t(1u << number++);
    is_on_ = number > 1 && !launch.cooperative && !kernel.uses_cluster;
    begin_ = kernel.shared_bytes;
}

std::uint32_t DynamicArrays::follow(const Access& a, int base) {
    const std::uint8_t bit = is_on_ ? bits_[std::size_t(base)] : std::uint8_t(0);
    if (!bit) return 0;
    std::uint32_t found = 0;
    for (std::uint32_t m = a.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        if (a.address(lane) < begin_) continue;
        const std::uint64_t first = a.address(lane) - begin_, end = first + a.bytes;
        if (bytes_.size() < end) bytes_.resize(end);
        for (std::uint64_t k = first; k < end; ++k) {
            Byte& byte = bytes_[k];
            if (a.kind != MemoryAccess::store && byte.newest != bit && (byte.writers & bit))
                found |= 1u << lane;
            if (a.kind == MemoryAccess::load) continue;
            byte.newest = bit;
            byte.writers |= bit;
        }
    }
    return found;
}

}  // namespace warpscope::emulator
