#pragma once

#include <cstdint>
#include <string_view>

namespace warpscope::compiler {

/// FNV-1a, 64 bits. It names files and detects damage, but no forgery.
constexpr std::uint64_t content_hash(std::string_view bytes) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        value *= 0x100000001b3;
    }
    return value;
}

}  // namespace warpscope::compiler
