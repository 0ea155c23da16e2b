#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/judge.h"
#include "emulator/program/launch.h"

namespace warpscope::programs {

/// How the launches of a program run. The app hands it to the library that is loaded into the
/// program, in environment variables, which a person can set too.
struct ProgramSettings {
    emulator::CheckChoice checks;
    emulator::Schedule schedule = emulator::Schedule::random;
    emulator::BarrierPolicy barriers = emulator::BarrierPolicy::volta;
    emulator::Landing landing = emulator::Landing::random;
    std::uint64_t seed = 1;
    int gpus = 1;  ///< that the program sees; WARPSCOPE_GPUS
    /// Of the GPUs, 80 for 8.0; 0: that of the program's newest PTX. WARPSCOPE_COMPUTE_CAPABILITY
    int compute_capability = 0;
    /// A folder for the reports of the program and of the processes that it starts, one file for
    /// each; empty: the library has `app` print the report.
    std::filesystem::path reports;
    std::filesystem::path app;  ///< the program warpscope
    int app_process = 0;        ///< its process, without which the program ends; 0: it has none
    /// A folder with the PTX of the program's sources without optimization; empty: there is none.
    std::filesystem::path unoptimized;
    /// When the program has to have ended; nullopt: it may take any time. All processes have the
    /// same clock.
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    /// A folder for the launches that are recorded; empty: none.
    std::filesystem::path captures;
    /// Which launches are recorded, counted from 1: "3,17-20"; empty: all.
    std::string captured_launches;
    std::string captured_kernel;  ///< only launches of this kernel; empty: of all

    /// The variables that say this: {"WARPSCOPE_CHECK": "race,memory", …}.
    std::map<std::string, std::string> to_environment() const;
    /// Reads the variables of this process. Words that it does not know are ignored: the app has
    /// checked them.
    static ProgramSettings from_environment();
};

/// Reads "race,memory". Throws std::invalid_argument, whose text begins with the word that is none.
emulator::CheckChoice read_checks(std::string_view text);

}  // namespace warpscope::programs
