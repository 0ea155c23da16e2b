#include "emulator/warp/global_range.h"

#include <fmt/format.h>

#include "emulator/program/module.h"
#include "emulator/program/source_line.h"
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
    for (const Module::GlobalVariable& variable : module.variables()) {
        const auto begin = std::uint64_t(variable.data);
        if (address >= begin && end <= begin + variable.bytes)
            return AddressRange{begin, begin + variable.bytes};
    }
    return std::nullopt;
}

std::string describe_global(const Memory& memory, const Module& module, std::uint64_t address) {
    if (const Memory::Allocation* found = memory.find(address))
        return fmt::format("byte {} of an allocation of {} bytes", address - found->begin,
                           found->end - found->begin);
    for (const Module::GlobalVariable& variable : module.variables()) {
        const auto begin = std::uint64_t(variable.data);
        if (address >= begin && address < begin + variable.bytes)
            return fmt::format("byte {} of the variable {}", address - begin,
                               source_name(variable.name));
    }
    return fmt::format("address {:#x}", address);
}

}  // namespace warpscope::emulator
