#include "compute/libraries/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

namespace warpscope::compute {
namespace {

// Declarations of nvml.h, which is not part of the driver, as far as they are used here. Source:
// NVML API Reference Guide, "Device Queries" and "Clocks event reasons".
using NvmlDevice = struct NvmlDeviceHandle*;
constexpr int nvml_success = 0;
constexpr int clock_sm = 1, clock_memory = 2;  // nvmlClockType_t
constexpr int temperature_gpu = 0;             // nvmlTemperatureSensors_t
constexpr int over_nvlink = 2;                 // nvmlGpuP2PCapsIndex_t

/// nvmlClocksEventReason*. The reasons "idle" (0x1) and "clock settings" (0x2, 0x100) are not
/// throttling.
constexpr std::pair<unsigned long long, const char*> reasons[] = {
    {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
    {0x20, "heat"},     {0x40, "hardware heat"},    {0x80, "power brake"}};

struct Nvml {
    int (*init)() = nullptr;
    int (*device)(const char*, NvmlDevice*) = nullptr;
    int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
    int (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
    int (*clock_reasons)(NvmlDevice, unsigned long long*) = nullptr;
    int (*power)(NvmlDevice, unsigned*) = nullptr;
    int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
    int (*peer_status)(NvmlDevice, NvmlDevice, int, int*) = nullptr;
    bool ready = false;

    explicit Nvml(const std::string& library) {
        // The library is never unloaded, because it may have threads.
        void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) return;
        find(handle, init, "nvmlInit_v2");
        find(handle, device, "nvmlDeviceGetHandleByPciBusId_v2");
        find(handle, clock, "nvmlDeviceGetClockInfo");
        find(handle, max_clock, "nvmlDeviceGetMaxClockInfo");
        find(handle, clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
        // Drivers before 535 have the function under its old name.
        if (!clock_reasons)
            find(handle, clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
        find(handle, power, "nvmlDeviceGetPowerUsage");
        find(handle, temperature, "nvmlDeviceGetTemperature");
        find(handle, peer_status, "nvmlDeviceGetP2PStatus");
        ready = init && device && clock && init() == nvml_success;
    }

    template <class Function>
    static void find(void* handle, Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
    }
};

/// Returns what a function of NVML answers; 0 if the library or the GPU does not know the value.
template <class Function, class... Args>
unsigned asked(Function function, Args... args) {
    unsigned value = 0;
    return function && function(args..., &value) == nvml_success ? value : 0;
}

const Nvml& nvml_of(const std::string& library) {
    static std::mutex mutex;
    static std::map<std::string, Nvml> loaded;
    const std::scoped_lock lock(mutex);
    return loaded.try_emplace(library, library).first->second;
}

}  // namespace

std::optional<GpuState> gpu_state(const std::string& pci_bus_id, const std::string& library) {
    if (pci_bus_id.empty()) return {};
    const Nvml& nvml = nvml_of(library);
    NvmlDevice device = nullptr;
    if (!nvml.ready || nvml.device(pci_bus_id.c_str(), &device) != nvml_success) return {};
    GpuState state{.sm_clock_mhz = asked(nvml.clock, device, clock_sm),
                   .max_sm_clock_mhz = asked(nvml.max_clock, device, clock_sm),
                   .memory_clock_mhz = asked(nvml.clock, device, clock_memory),
                   .power_w = asked(nvml.power, device) / 1000.0,
                   .temperature_c = asked(nvml.temperature, device, temperature_gpu)};
    unsigned long long bits = 0;
    if (nvml.clock_reasons && nvml.clock_reasons(device, &bits) == nvml_success)
        for (const auto& [bit, name] : reasons)
            if (bits & bit) state.throttled_by.emplace_back(name);
    return state;
}

bool linked_by_nvlink(const std::string& pci_bus_id, const std::string& other_pci_bus_id,
                      const std::string& library) {
    const Nvml& nvml = nvml_of(library);
    NvmlDevice device = nullptr, other = nullptr;
    constexpr int ok = 0;  // NVML_P2P_STATUS_OK
    int status = -1;
    return nvml.ready && nvml.peer_status &&
           nvml.device(pci_bus_id.c_str(), &device) == nvml_success &&
           nvml.device(other_pci_bus_id.c_str(), &other) == nvml_success &&
           nvml.peer_status(device, other, over_nvlink, &status) == nvml_success && status == ok;
}

std::string words(const GpuState& state) {
    std::string text = fmt::format("{} MHz", state.sm_clock_mhz);
    if (state.max_sm_clock_mhz > 0) text += fmt::format(" of {}", state.max_sm_clock_mhz);
    if (state.power_w > 0) text += fmt::format(", {:.0f} W", state.power_w);
    if (state.temperature_c > 0) text += fmt::format(", {} °C", state.temperature_c);
    if (state.throttled_by.empty()) return text + ", not throttled";
    return text + fmt::format(", throttled by {}", fmt::join(state.throttled_by, " and "));
}

}  // namespace warpscope::compute
