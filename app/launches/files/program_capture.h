#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emulator/program/launch.h"

namespace warpscope::launches {

/// A launch that a program has made, and that was written as a launch file.
struct CapturedLaunch {
    std::uint64_t number = 0;    ///< among all launches of the program, from 1
    std::filesystem::path file;  ///< the launch file, in the folder of the capture
    std::string kernel;
    emulator::Dim3 grid, block;
    double milliseconds = 0;   ///< of the run that was recorded
    std::size_t findings = 0;  ///< of the checks in that run, for this kernel
};

/// The launches of one run of a program: the content of program.json in a folder of launch files.
struct ProgramCapture {
    std::string command;
    std::vector<CapturedLaunch> launches;
    int process = 0;  ///< of the program, which was running when the list was written; else 0
};

/// Reads the capture in a folder. nullopt if it has none.
std::optional<ProgramCapture> read_capture(const std::filesystem::path& folder);
/// Writes the list whole or not at all. Throws std::runtime_error.
void write_capture(const std::filesystem::path& folder, const ProgramCapture& capture);

}  // namespace warpscope::launches
