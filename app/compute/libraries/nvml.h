#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpscope::compute {

/// What a GPU runs at now, as NVIDIA's management library tells; 0 where it doesn't.
struct GpuState {
    unsigned sm_clock_mhz = 0;
    unsigned max_sm_clock_mhz = 0;
    unsigned memory_clock_mhz = 0;
    double power_w = 0;
    unsigned temperature_c = 0;
    /// What holds the clocks down: "power cap", "heat"; empty where nothing does.
    std::vector<std::string> throttled_by{};
};

/// Of the GPU with this PCI bus id ("0000:3b:00.0"). Nothing where there is no such library, or it
/// doesn't know the GPU. Takes milliseconds, the first call tens of them; any thread may call.
std::optional<GpuState> gpu_state(const std::string& pci_bus_id,
                                  const std::string& library = "libnvidia-ml.so.1");

/// "1980 MHz of 1980, 470 W, 61 °C, not throttled", without what isn't known.
std::string words(const GpuState& state);

}  // namespace warpscope::compute
