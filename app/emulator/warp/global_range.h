#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace warpscope::emulator {

class Memory;
class Module;

/// The addresses [begin, end).
struct AddressRange {
    std::uint64_t begin = 1, end = 0;
};

/// The allocation or the variable of the module that contains `bytes` bytes of global memory at
/// `address`; nothing for an invalid access.
std::optional<AddressRange> find_global(const Memory& memory, const Module& module,
                                        std::uint64_t address, std::size_t bytes);

/// Describes an address for people: "byte 12 of an allocation of 400 bytes", "byte 4 of the
/// variable count".
std::string describe_global(const Memory& memory, const Module& module, std::uint64_t address);

}  // namespace warpscope::emulator
