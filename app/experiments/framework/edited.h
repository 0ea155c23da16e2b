#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/emulated/emulated_device.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Whether a person's text stands in for kernels/`file`.cu on this device.
bool edited(const compute::Device& device, std::string_view file);

/// An emulator with the settings and the kernels of this device; launches of edited ones have
/// limits.
std::unique_ptr<compute::EmulatedDevice> emulator_like(
    const compute::Device& device, std::string reason,
    std::size_t memory_bytes = compute::usual_emulator_memory());

/// Of a result that is held against something known: a wrong one of an edited kernel is a finding,
/// of the build's own a failure.
Verdict judged(const compute::Device& device, std::string_view file, bool right);

/// The lines, from 1, of the barriers in a CUDA source: of all of them, or of those in the body of
/// `function`. Barriers in comments do not count. Empty if there is no barrier or no such function.
std::vector<int> barrier_lines(std::string_view source, std::string_view function = {});

/// "ripple.cu:71", "dot.cu:30 and 38"; "dot.cu" where there is no line.
std::string place(std::string_view file, const std::vector<int>& lines);

}  // namespace warpscope::experiments
