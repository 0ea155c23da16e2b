#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace warpscope::emulator {

/// Gives printf() its arguments and strings.
struct PrintSource {
    std::function<std::uint64_t(unsigned bytes)> argument;  ///< the next one, of 4 or 8 bytes
    std::function<std::string(std::uint64_t address)> string;
};
struct PrintedText {
    std::string text;
    int arguments = 0;  ///< that the format has used
};
/// Formats like printf() of C. Fields are at most 1024 wide; %n and unknown conversions are printed
/// as they are.
PrintedText print_text(std::string_view format, const PrintSource& source);

}  // namespace warpscope::emulator
