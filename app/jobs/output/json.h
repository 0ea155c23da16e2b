#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/ceilings.h"
#include "compute/device/device.h"
#include "experiments/framework/experiment.h"

namespace warpscope::jobs {

using Json = nlohmann::ordered_json;

/// How pixels reached OpenGL: path "interop", "staged", "mapped", or "none" if GL was not used.
struct Presentation {
    std::string path;
    std::string reason;
};

/// {name, kind, reason}
Json to_json(compute::Dim3 d);
Json to_json(const compute::DeviceInfo& info);
/// A number for integer and real parameters; for others the text that --set takes.
Json value_json(const experiments::Parameter& parameter, std::string_view text);
/// {"ripple.sync": value, …}: the ids of --set, in the order of declaration.
Json to_json(std::string_view experiment, const experiments::ParameterSet& parameters);
/// [{name, label, value, unit, expected, verdict, sentence, recent: [value, …]}, …]
Json to_json(const experiments::Report& report);
/// [{name, grid, block, shared_bytes, launches, last_ms, median_ms, p99_ms, …}, …]; grid and block
/// are [x, y, z]. Rates and shares of the ceilings are null if they do not apply; `note` is null if
/// there is no note.
Json to_json(const std::vector<compute::KernelTiming>& kernels, const compute::Ceilings* ceilings);
/// {bytes_per_second, read_bytes_per_second, flops_per_second, lone_launch_ms, …}; null for
/// nullptr.
Json to_json(const compute::Ceilings* ceilings);
/// {sm_clock_mhz, max_sm_clock_mhz, …, throttled_by: [word, …]}; null for nullopt.
Json to_json(const std::optional<compute::GpuState>& state);
/// {title, rate_unit, published_title, rows: [{id, label, median_ms, rate, error, …}, …]}
Json to_json(const experiments::Comparison& comparison);

/// Indented, with a newline at the end. NaN and infinity become null, bad UTF-8 is replaced.
std::string dump(const Json& json);

}  // namespace warpscope::jobs
