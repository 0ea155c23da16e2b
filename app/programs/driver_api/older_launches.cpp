// Source: CUDA Driver API, "Execution Control [DEPRECATED]": launches whose configuration and
// arguments are set one after the other, as PyCUDA makes them.
#include <cstring>
#include <map>

#include "programs/driver_api/driver.h"

using namespace warpscope::programs;

extern "C" Status cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, StreamHandle stream,
                                 void** arguments, void** extra);

namespace {

/// What was set for the launches of a kernel.
struct Configuration {
    Dim block{1, 1, 1};
    unsigned shared = 0;
    std::vector<char> arguments;  ///< at their offsets
};

Configuration& configuration_of(const Function* function) {
    static auto* const all = new std::map<const Function*, Configuration>;
    return (*all)[function];
}

/// Sets something for the launches of a kernel.
template <class Set>
Status configure(const char* call, const Function* function, Set set) {
    return driver_call(call, [&](Gpu&) {
        demand(function, Status::invalid_handle, "the kernel is null");
        set(configuration_of(function));
    });
}

Status set_argument(const char* call, const Function* function, int offset, const void* value,
                    std::size_t bytes) {
    return configure(call, function, [&](Configuration& configuration) {
        constexpr std::size_t most_bytes = 32764;
        demand(offset >= 0 && std::size_t(offset) + bytes <= most_bytes, Status::invalid_value,
               "the argument lies beyond the largest parameters");
        auto& all = configuration.arguments;
        all.resize(std::max(all.size(), std::size_t(offset) + bytes));
        std::memcpy(all.data() + offset, value, bytes);
    });
}

Status launch(Function* function, int width, int height, StreamHandle stream) {
    Configuration c;
    {
        const Call held;
        c = configuration_of(function);
    }
    // A kernel may have more parameters than were set.
    if (function && function->kernel)
        c.arguments.resize(
            std::max(c.arguments.size(), std::size_t(function->kernel->parameter_bytes)));
    std::size_t bytes = c.arguments.size();
    void* extra[] = {reinterpret_cast<void*>(1), c.arguments.data(), reinterpret_cast<void*>(2),
                     &bytes, nullptr};
    return cuLaunchKernel(function, unsigned(width), unsigned(height), 1, c.block.x, c.block.y,
                          c.block.z, c.shared, stream, nullptr, extra);
}

}  // namespace

WARPSCOPE_DRIVER(cuFuncSetBlockShape, cuFuncSetBlockShape, Function* function, int x, int y,
                 int z) {
    return configure(__func__, function, [&](auto& c) {
        c.block = {unsigned(x), unsigned(y), unsigned(z)};
    });
}
WARPSCOPE_DRIVER(cuFuncSetSharedSize, cuFuncSetSharedSize, Function* function, unsigned bytes) {
    return configure(__func__, function, [&](auto& c) { c.shared = bytes; });
}
WARPSCOPE_DRIVER(cuParamSetSize, cuParamSetSize, Function* function, unsigned bytes) {
    return configure(__func__, function, [&](auto& c) { c.arguments.resize(bytes); });
}
WARPSCOPE_DRIVER(cuParamSetv, cuParamSetv, Function* function, int offset, const void* value,
                 unsigned bytes) {
    return set_argument(__func__, function, offset, value, bytes);
}
WARPSCOPE_DRIVER(cuParamSeti, cuParamSeti, Function* function, int offset, unsigned value) {
    return set_argument(__func__, function, offset, &value, sizeof value);
}
WARPSCOPE_DRIVER(cuParamSetf, cuParamSetf, Function* function, int offset, float value) {
    return set_argument(__func__, function, offset, &value, sizeof value);
}
WARPSCOPE_DRIVER(cuLaunch, cuLaunch, Function* function) {
    return launch(function, 1, 1, nullptr);
}
WARPSCOPE_DRIVER(cuLaunchGrid, cuLaunchGrid, Function* function, int width, int height) {
    return launch(function, width, height, nullptr);
}
WARPSCOPE_DRIVER(cuLaunchGridAsync, cuLaunchGridAsync, Function* function, int width, int height,
                 StreamHandle stream) {
    return launch(function, width, height, stream);
}
