#include "emulator/warp/global_range.h"

#include "emulator/program/module.h"
#include "emulator/warp/memory.h"

namespace warpscope::emulator {

std::optional<AddressRange> find_global(const Memory& memory, const Module& module,
                                        std::uint64_t address, std::size_t bytes) {
    const std::uint64_t end = address + bytes;
    if (end < address) return std::nullopt;
    if (const Memory::Allocation* found = memory.find(address)) {
        if (end > found->end) return std::nullopt;
        return AddressRange{found->begin, found->end};
    }
    for (const Module::Range& variable : module.variables()) {
        const auto begin = std::uint64_t(variable.data);
        if (address >= begin && end <= begin + variable.bytes)
            return AddressRange{begin, begin + variable.bytes};
    }
    return std::nullopt;
}

}  // namespace warpscope::emulator
