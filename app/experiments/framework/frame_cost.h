#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// Estimates how long frames take, from frames that were measured before.
class FrameCosts {
  public:
    /// A frame of an experiment with this ParameterSet::work() has taken `seconds` on `device`.
    void measured(std::string_view experiment, const compute::DeviceInfo& device, double work,
                  double seconds);
    /// The seconds that a frame with these values will take, at the rate of the largest frame that
    /// was measured for the experiment on this device. If there was none, or if its work was less
    /// than a hundredth: at the rate of a usual machine, which can be wrong by a factor of 3. 0 if
    /// the work is not known.
    double seconds(std::string_view experiment, const compute::DeviceInfo& device,
                   double work) const;

  private:
    struct Measured {
        double work = 0, seconds = 0;
    };
    std::map<std::pair<std::string, int>, Measured, std::less<>> largest_;  ///< by device ordinal
};

/// The checks and the counters slow the emulator down by this factor at most, as the bench demands.
inline constexpr double watched_factor = 1.6;

/// For people: "310 µs", "41.2 ms", "13.1 s", "12 min", "7 h", "3 days".
std::string duration_words(double seconds);

}  // namespace warpscope::experiments
