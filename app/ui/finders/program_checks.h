#pragma once

#include <cstddef>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <stop_token>

#include "compute/helper/helpers.h"
#include "launches/files/program_capture.h"
#include "ui/stage/inspector.h"

namespace warpscope::ui {

/// The verdicts on the launches of a program: checks one after the other, in their order, on a
/// thread of its own.
class ProgramChecks {
  public:
    ProgramChecks() = default;
    ProgramChecks(const ProgramChecks&) = delete;
    ProgramChecks& operator=(const ProgramChecks&) = delete;
    ~ProgramChecks() { stop_.request_stop(); }

    /// Who compiles sources; without one, as at first, nothing is checked.
    void check_with(compute::Helpers* helpers) { helpers_ = helpers; }
    /// Another program, or the program anew: nothing is known of its launches.
    void forget();
    /// Once a frame: takes the newest verdict, and begins the check of the next launch.
    void follow(const launches::ProgramCapture& capture, const compute::RunSettings& settings);

    /// Null: not known yet.
    const RaceSummary* of(const std::filesystem::path& launch) const;
    std::size_t checked() const { return known_.size(); }
    bool busy() const { return work_.valid(); }

  private:
    compute::Helpers* helpers_ = nullptr;
    std::map<std::filesystem::path, RaceSummary> known_;  ///< by launch file
    std::size_t next_ = 0;                                ///< in the capture
    std::stop_source stop_;
    std::future<std::optional<RaceSummary>> work_;  ///< nullopt: it was stopped
    std::filesystem::path now_;                     ///< is checked
};

}  // namespace warpscope::ui
