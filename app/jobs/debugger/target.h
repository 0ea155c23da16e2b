#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/programs/run_command.h"
#include "compute/helper/helpers.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/replicas/specimen.h"
#include "launches/files/program_capture.h"
#include "launches/lanes/lane_values.h"
#include "programs/report/program_control.h"

namespace warpscope::jobs {

/// The program, launch file, capture or experiment that a client debugs, and which of its launches.
struct TargetRequest {
    /// A source, a program, a launch file, a kernel of the gallery, or a capture.
    std::filesystem::path program;
    std::vector<std::string> arguments{};
    std::string experiment{};  ///< in place of `program`: its id
    std::vector<experiments::Assignment> values{};
    std::string kernel{};                           ///< only launches of this kernel; empty: of all
    std::vector<programs::LaunchRange> launches{};  ///< of a program or a capture; empty: all
    compute::RunSettings run{};
    bool optimized = false;  ///< else sources are compiled with -G
};

/// A launch that stands before its first instruction.
struct OpenedLaunch {
    std::uint64_t number = 1;  ///< among those of the program
    std::shared_ptr<const experiments::LaunchState> state;
    std::unique_ptr<experiments::Specimen> specimen;
    launches::KernelTypes types{};
    std::filesystem::path folder{};  ///< of the capture, if it is one of a program
};

/// The launches of what is debugged, one after the other. A program runs as far as to the end of
/// the launch that was opened last, and ends with this object.
class Target {
  public:
    /// Throws UsageError for a request that cannot be met. `tell` gets what a program prints.
    Target(compute::Helpers& helpers, TargetRequest request,
           std::function<void(std::string_view)> tell);
    ~Target();
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    /// Opens the next launch, or the first wanted one from number `first` on. nullopt: there is
    /// none. Throws the errors of sources and launches, and UsageError after a stop and where a
    /// program has gone on behind `first`.
    std::optional<OpenedLaunch> next(const std::stop_token& stop, std::uint64_t first = 0);
    /// The exit status of a program; 0 for all else.
    int exit_status();

  private:
    std::optional<std::filesystem::path> next_file(const std::stop_token& stop);
    std::optional<std::filesystem::path> next_of_program(const std::stop_token& stop);
    bool is_wanted(const launches::CapturedLaunch& launch) const;
    void start_program();
    OpenedLaunch open_experiment(const experiments::Entry& entry, const std::stop_token& stop);
    OpenedLaunch open_file(const std::filesystem::path& file, const std::stop_token& stop);
    OpenedLaunch open_state(std::shared_ptr<const experiments::LaunchState> state,
                            const std::stop_token& stop);
    launches::KernelTypes types_of(const experiments::LaunchState& state,
                                   experiments::Specimen& specimen, const std::stop_token& stop);

    enum class Kind { experiment, file, capture, program };
    compute::Helpers& helpers_;
    const TargetRequest request_;
    std::function<void(std::string_view)> tell_;
    Kind kind_;
    std::filesystem::path folder_;  ///< of a capture
    std::uint64_t opened_ = 0;      ///< the number of the newest launch that was opened
    std::stop_source stop_;         ///< ends the program
    std::future<compiler::Ended> running_;
    int status_ = 0;
};

}  // namespace warpscope::jobs
