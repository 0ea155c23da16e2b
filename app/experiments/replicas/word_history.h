#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "compute/helper/helpers.h"
#include "emulator/program/launch.h"
#include "experiments/framework/experiment.h"
#include "experiments/replicas/specimen.h"
#include "launches/files/launch_file.h"
#include "launches/files/program_capture.h"

namespace warpscope::experiments {

/// Who has written numbers in the memory of a program last. The numbers from which the first one
/// was computed come next, one deeper.
struct WordLink {
    unsigned depth = 0;
    files::Sentence numbers;   ///< "scaled[0] to scaled[63]"
    std::string values{};      ///< "0, 3, 6, …"
    files::Sentence writer{};  ///< "launch 2, scale, steps.cu:9, block 0, thread 0 and 63 more"
    std::uint64_t launch = 0;  ///< that has written the first number; 0: no launch is known
    std::string kernel{}, place{};
    std::optional<emulator::Dim3> block{}, thread{};
};
/// "scaled[0] to scaled[63] = 0, 3, 6, …: launch 2, scale, …", with spaces before it.
files::Sentence words_of(const WordLink& link);

/// Opens a launch of a capture, for the emulator.
std::shared_ptr<const LaunchState> open_captured(compute::Helpers& helpers,
                                                 const launches::LaunchFile& file,
                                                 compute::RunSettings settings,
                                                 const std::stop_token& stop = {});

/// The launch of a program that a launch file describes; nullopt: the file is in no capture.
std::optional<launches::CapturedLaunch> captured_launch(const std::filesystem::path& launch_file);

/// Follows an element of a buffer at the end of a captured launch back through the launches of its
/// program: each is run again to see which thread has written the number last.
std::vector<WordLink> word_history(const std::shared_ptr<const LaunchState>& launch,
                                   const std::string& buffer, std::size_t element,
                                   compute::Helpers& helpers, const std::stop_token& stop = {});

}  // namespace warpscope::experiments
