#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Launches of a program, counted from 1: both are in it.
struct LaunchRange {
    std::uint64_t first = 0, last = 0;
    bool operator==(const LaunchRange&) const = default;
};

/// Reads "3,17-20". nullopt for a text that is no such list.
std::optional<std::vector<LaunchRange>> read_launch_ranges(const std::string& text);
/// Whether a launch is in one of the ranges, or there are none.
bool is_in(const std::vector<LaunchRange>& ranges, std::uint64_t number);

}  // namespace warpscope::programs
