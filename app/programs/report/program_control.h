#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace warpscope::programs {

/// How far a program whose launches are captured may get: what the window says to the library in
/// the program, in a file of the folder of the capture.
struct ProgramControl {
    /// The program waits behind the launch with this number, and behind each later one.
    std::uint64_t until = UINT64_MAX;
    std::string kernel;  ///< it waits only behind launches of this kernel; empty: of all
    int process = 0;     ///< that has written this; the program goes on when it has ended

    bool operator==(const ProgramControl&) const = default;
};

/// Writes the file whole or not at all. Throws std::runtime_error.
void write_control(const std::filesystem::path& folder, const ProgramControl& control);
/// Whether the program has to wait behind a launch. False where there is no control.
bool has_to_wait(const std::filesystem::path& folder, std::uint64_t launch,
                 const std::string& kernel);

/// Whether a process with this number is there.
bool is_alive(int process);

}  // namespace warpscope::programs
