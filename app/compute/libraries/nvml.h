#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpscope::compute {

/// Clocks, power and temperature of a GPU now, from NVIDIA's management library (NVML); 0 if
/// unknown.
struct GpuState {
    unsigned sm_clock_mhz = 0;
    unsigned max_sm_clock_mhz = 0;
    unsigned memory_clock_mhz = 0;
    double power_w = 0;
    unsigned temperature_c = 0;
    /// Why the clocks are lower than they could be: "power cap", "heat"; empty if they are not.
    std::vector<std::string> throttled_by{};
};

/// The state of the GPU with this PCI bus id ("0000:3b:00.0"); empty if NVML is not installed or
/// does not know the GPU. Takes milliseconds, the first call tens of milliseconds. Thread-safe.
std::optional<GpuState> gpu_state(const std::string& pci_bus_id,
                                  const std::string& library = "libnvidia-ml.so.1");

/// Whether two GPUs can read each other's memory over NVLink; false if NVML does not know.
bool linked_by_nvlink(const std::string& pci_bus_id, const std::string& other_pci_bus_id,
                      const std::string& library = "libnvidia-ml.so.1");

/// "1980 MHz of 1980, 470 W, 61 °C, not throttled"; unknown values are left out.
std::string words(const GpuState& state);

}  // namespace warpscope::compute
