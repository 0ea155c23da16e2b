#pragma once

#include <future>
#include <memory>
#include <optional>
#include <stop_token>

#include "experiments/replicas/specimen.h"

namespace warpscope::ui {

/// Searches, on a thread of its own, for the order in which a race spoils a result, in a copy of
/// the launch that a check has run.
class WitnessFinder {
  public:
    using Checked = std::shared_ptr<const experiments::LaunchState>;

    WitnessFinder() = default;
    WitnessFinder(const WitnessFinder&) = delete;
    WitnessFinder& operator=(const WitnessFinder&) = delete;
    ~WitnessFinder() { cancel(); }

    void look(Checked checked, emulator::Finding finding);
    void cancel() { stop_.request_stop(); }
    bool works() const { return work_.valid(); }
    /// The share of its time that the search has taken, 0 to 1.
    double progress() const;
    /// The finding with its witness, and the launch in that order; once, when the search has ended.
    struct Found {
        emulator::Finding finding;
        Checked launch;  ///< null: there is no such order
    };
    std::optional<Found> take();

  private:
    std::future<Found> work_;
    std::stop_source stop_;
    std::shared_ptr<compute::LaunchProgress> progress_;
};

}  // namespace warpscope::ui
