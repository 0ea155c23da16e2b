// Source: CUDA Driver API, "Module Management", "Library Management", "Execution Control",
// "Occupancy".
// Source: CUDA Driver API, "Execution Control [DEPRECATED]": launches whose configuration and
// arguments are set one after the other, as PyCUDA makes them.
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "emulator/program/lanes.h"
#include "programs/driver_api/driver.h"
#include "programs/gpu/device_attributes.h"
#include "programs/images/ptx_link.h"

using namespace warpscope::programs;

namespace {

Status load(const char* call, LoadedModule** module, const void* data) {
    return driver_call(call, [&](Gpu& gpu) { *module = gpu.load(data); });
}

Status get_function(const char* call, Function** function, LoadedModule* module, const char* name) {
    return driver_call(call, [&](Gpu&) {
        *function = module->find(name);
        demand(*function, Status::not_found, "the module has no kernel with this name");
    });
}

Status get_variable(const char* call, Address* address, std::size_t* bytes, LoadedModule* module,
                    const char* name) {
    return driver_call(call, [&](Gpu&) {
        const auto* variable = module->find_variable(name);
        demand(variable, Status::not_found, "the module has no variable with this name");
        if (address) *address = reinterpret_cast<Address>(variable->data);
        if (bytes) *bytes = variable->bytes;
    });
}

enum FunctionAttribute {  // CUfunction_attribute
    most_threads = 0,
    shared_size = 1,
    local_size = 3,
    registers = 4,
    ptx_version = 5,
    binary_version = 6,
    most_dynamic_shared = 8,
};

int attribute_of(Function& function, int attribute) {
    switch (attribute) {
        case most_threads:
            return int(function.most_threads());
        case shared_size:
            return int(function.static_shared_bytes());
        case local_size:
            return function.kernel() ? int(function.kernel()->local_bytes) : 0;
        case registers:
            return 32;
        case ptx_version:
            return int(function.module->architecture());
        case binary_version:
            return compute_capability();
        case most_dynamic_shared:
            return int(function.most_dynamic_shared_bytes());
        default:
            return 0;
    }
}

void set_attribute(Function& function, int attribute, int value) {
    if (attribute != most_dynamic_shared) return;
    function.set_most_dynamic_shared(value);
}

struct LaunchConfiguration {  // CUlaunchConfig
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    StreamHandle stream;
    const LaunchAttribute* attributes;
    unsigned count;
};
void launch(Gpu& gpu, Function* function, const warpscope::emulator::LaunchShape& shape,
            StreamHandle stream, void** arguments, void** extra) {
    demand(function, Status::invalid_handle, "the kernel is null");
    std::vector<const void*> values;
    if (function->kernel()) values = values_of(*function->kernel(), arguments, extra);
    gpu.launch(*function, shape, values, stream_of(stream));
}

/// Writes what a program may read of the options of a compilation: a time, and empty messages.
void write_messages(unsigned count, const int* options, void** values) {
    enum Option {
        wall_time = 2,
        info_buffer = 3,
        info_bytes = 4,
        error_buffer = 5,
        error_bytes = 6
    };
    for (unsigned i = 0; i < count; ++i) {
        const int option = options[i];
        if ((option == info_buffer || option == error_buffer) && values[i])
            *static_cast<char*>(values[i]) = '\0';
        if (option == wall_time || option == info_bytes || option == error_bytes)
            values[i] = nullptr;  // it holds the number 0
    }
}

/// CUlinkState: PTX texts that become one module.
struct Link {
    std::vector<std::string> texts;
    std::string linked;
};

}  // namespace

WARPSCOPE_DRIVER(cuModuleLoadData, cuModuleLoadData, LoadedModule** module, const void* data) {
    return load(__func__, module, data);
}
WARPSCOPE_DRIVER(cuModuleLoadDataEx, cuModuleLoadDataEx, LoadedModule** module, const void* data,
                 unsigned count, int* options, void** values) {
    write_messages(count, options, values);
    return load(__func__, module, data);
}
WARPSCOPE_DRIVER(cuModuleLoadFatBinary, cuModuleLoadFatBinary, LoadedModule** module,
                 const void* data) {
    return load(__func__, module, data);
}
WARPSCOPE_DRIVER(cuModuleLoad, cuModuleLoad, LoadedModule** module, const char* file) {
    std::ifstream from(file, std::ios::binary);
    if (!from) return Status::file_not_found;
    std::string bytes((std::istreambuf_iterator<char>(from)), {});
    return load(__func__, module, bytes.c_str());
}
WARPSCOPE_DRIVER(cuModuleUnload, cuModuleUnload, LoadedModule* module) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.unload(module); });
}
WARPSCOPE_DRIVER(cuModuleGetFunction, cuModuleGetFunction, Function** function,
                 LoadedModule* module, const char* name) {
    return get_function(__func__, function, module, name);
}
WARPSCOPE_DRIVER(cuModuleGetGlobal, cuModuleGetGlobal_v2, Address* address, std::size_t* bytes,
                 LoadedModule* module, const char* name) {
    return get_variable(__func__, address, bytes, module, name);
}
WARPSCOPE_DRIVER(cuModuleGetLoadingMode, cuModuleGetLoadingMode, int* mode) {
    *mode = 2;  // CU_MODULE_LAZY_LOADING
    return Status::success;
}
WARPSCOPE_DRIVER(cuLibraryLoadData, cuLibraryLoadData, LoadedModule** library, const void* data,
                 int*, void**, unsigned, int*, void**, unsigned) {
    return load(__func__, library, data);
}
WARPSCOPE_DRIVER(cuLibraryUnload, cuLibraryUnload, LoadedModule* library) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.unload(library); });
}
WARPSCOPE_DRIVER(cuLibraryGetKernel, cuLibraryGetKernel, Function** kernel, LoadedModule* library,
                 const char* name) {
    return get_function(__func__, kernel, library, name);
}
WARPSCOPE_DRIVER(cuLibraryGetModule, cuLibraryGetModule, LoadedModule** module,
                 LoadedModule* library) {
    *module = library;
    return Status::success;
}
WARPSCOPE_DRIVER(cuLibraryGetGlobal, cuLibraryGetGlobal, Address* address, std::size_t* bytes,
                 LoadedModule* library, const char* name) {
    return get_variable(__func__, address, bytes, library, name);
}
WARPSCOPE_DRIVER(cuLibraryGetManaged, cuLibraryGetManaged, Address* address, std::size_t* bytes,
                 LoadedModule* library, const char* name) {
    return get_variable(__func__, address, bytes, library, name);
}
WARPSCOPE_DRIVER(cuLibraryGetKernelCount, cuLibraryGetKernelCount, unsigned* count,
                 LoadedModule* library) {
    *count = unsigned(library->functions().size());
    return Status::success;
}
WARPSCOPE_DRIVER(cuLibraryEnumerateKernels, cuLibraryEnumerateKernels, Function** kernels,
                 unsigned count, LoadedModule* library) {
    for (const auto& function : library->functions())
        if (count && count--) *kernels++ = function.get();
    return Status::success;
}
WARPSCOPE_DRIVER(cuKernelGetFunction, cuKernelGetFunction, Function** function, Function* kernel) {
    *function = kernel;
    return Status::success;
}
WARPSCOPE_DRIVER(cuKernelGetLibrary, cuKernelGetLibrary, LoadedModule** library, Function* kernel) {
    *library = kernel->module;
    return Status::success;
}
WARPSCOPE_DRIVER(cuFuncGetModule, cuFuncGetModule, LoadedModule** module, Function* function) {
    *module = function->module;
    return Status::success;
}
WARPSCOPE_DRIVER(cuFuncGetName, cuFuncGetName, const char** name, Function* function) {
    *name = function->name.c_str();
    return Status::success;
}
WARPSCOPE_DRIVER(cuKernelGetName, cuKernelGetName, const char** name, Function* kernel) {
    *name = kernel->name.c_str();
    return Status::success;
}
WARPSCOPE_DRIVER(cuFuncIsLoaded, cuFuncIsLoaded, int* state, Function*) {
    *state = 1;  // CU_FUNCTION_LOADING_STATE_LOADED
    return Status::success;
}
WARPSCOPE_DRIVER(cuFuncLoad, cuFuncLoad, Function*) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuFuncGetParamInfo, cuFuncGetParamInfo, Function* function, std::size_t index,
                 std::size_t* offset, std::size_t* bytes) {
    return driver_call(__func__, [&](Gpu&) {
        demand(function->kernel() && index < function->kernel()->parameters.size(),
               Status::invalid_value, "the kernel has fewer parameters");
        *offset = function->kernel()->parameters[index].offset;
        if (bytes) *bytes = function->kernel()->parameters[index].size;
    });
}
WARPSCOPE_DRIVER(cuKernelGetParamInfo, cuKernelGetParamInfo, Function* kernel, std::size_t index,
                 std::size_t* offset, std::size_t* bytes) {
    return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
WARPSCOPE_DRIVER(cuFuncGetAttribute, cuFuncGetAttribute, int* value, int attribute,
                 Function* function) {
    return driver_call(__func__, [&](Gpu&) { *value = attribute_of(*function, attribute); });
}
WARPSCOPE_DRIVER(cuKernelGetAttribute, cuKernelGetAttribute, int* value, int attribute,
                 Function* kernel, int) {
    return driver_call(__func__, [&](Gpu&) { *value = attribute_of(*kernel, attribute); });
}
WARPSCOPE_DRIVER(cuFuncSetAttribute, cuFuncSetAttribute, Function* function, int attribute,
                 int value) {
    return driver_call(__func__, [&](Gpu&) { set_attribute(*function, attribute, value); });
}
WARPSCOPE_DRIVER(cuKernelSetAttribute, cuKernelSetAttribute, int attribute, int value,
                 Function* kernel, int) {
    return driver_call(__func__, [&](Gpu&) { set_attribute(*kernel, attribute, value); });
}
WARPSCOPE_DRIVER(cuFuncSetCacheConfig, cuFuncSetCacheConfig, Function*, int) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, Function*, int) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* blocks,
                 Function* function, int threads, std::size_t shared, unsigned) {
    return driver_call(__func__, [&](Gpu&) {
        *blocks = resident_blocks(threads, function->static_shared_bytes() + shared);
    });
}
WARPSCOPE_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
                 cuOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, Function* function,
                 int threads, std::size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                0);
}
WARPSCOPE_DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags,
                 cuOccupancyMaxPotentialBlockSizeWithFlags, int* grid, int* block,
                 Function* function, std::size_t (*shared_of)(int threads), std::size_t shared,
                 int most, unsigned) {
    return driver_call(__func__, [&](Gpu&) {
        constexpr int warp = warpscope::emulator::lanes_per_warp, most_of_block = 1024;
        constexpr int multiprocessor_count = 16;
        int best = 0;
        for (int threads = most_of_block; threads >= warp; threads -= warp) {
            if (most > 0 && threads > most) continue;
            const std::size_t bytes = shared_of ? shared_of(threads) : shared;
            const int blocks = resident_blocks(threads, function->static_shared_bytes() + bytes);
            if (blocks * threads <= best) continue;
            best = blocks * threads;
            *block = threads;
            *grid = blocks * device_attribute(multiprocessor_count);
        }
        demand(best > 0, Status::invalid_value, "no block of this kernel fits a multiprocessor");
    });
}
WARPSCOPE_DRIVER(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, int* grid,
                 int* block, Function* function, std::size_t (*shared_of)(int threads),
                 std::size_t shared, int most) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, most,
                                                     0);
}
WARPSCOPE_DRIVER(cuLaunchKernel, cuLaunchKernel, Function* function, unsigned grid_x,
                 unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                 unsigned block_z, unsigned shared, StreamHandle stream, void** arguments,
                 void** extra) {
    return driver_call(__func__, [&](Gpu& gpu) {
        launch(gpu, function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared},
               stream, arguments, extra);
    });
}
WARPSCOPE_DRIVER(cuLaunchKernelEx, cuLaunchKernelEx, const LaunchConfiguration* c,
                 Function* function, void** arguments, void** extra) {
    return driver_call(__func__, [&](Gpu& gpu) {
        const LaunchForm form = form_of(c->attributes, c->count);
        launch(gpu, function,
               {{c->grid_x, c->grid_y, c->grid_z},
                {c->block_x, c->block_y, c->block_z},
                c->shared,
                form.cooperative,
                {form.cluster.x, form.cluster.y, form.cluster.z}},
               c->stream, arguments, extra);
    });
}
WARPSCOPE_DRIVER(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, Function* function,
                 unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                 unsigned block_y, unsigned block_z, unsigned shared, StreamHandle stream,
                 void** arguments) {
    return driver_call(__func__, [&](Gpu& gpu) {
        launch(gpu, function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true},
               stream, arguments, nullptr);
    });
}

// What would become machine code stays PTX.
WARPSCOPE_DRIVER(cuLinkCreate, cuLinkCreate_v2, unsigned count, int* options, void** values,
                 Link** link) {
    write_messages(count, options, values);
    *link = new Link;
    return Status::success;
}
WARPSCOPE_DRIVER(cuLinkAddData, cuLinkAddData_v2, Link* link, int kind, const void* data,
                 std::size_t bytes, const char*, unsigned, int*, void**) {
    return driver_call(__func__, [&](Gpu&) {
        constexpr int library = 4;  // CU_JIT_INPUT_LIBRARY: with_device_functions() has what it has
        if (kind == library) return;
        const std::string copy(static_cast<const char*>(data), bytes);
        const std::vector<Image> images = read_images(copy.c_str());
        demand(images.size() == 1 && !images[0].ptx.empty(), Status::not_supported,
               "only PTX can be linked");
        link->texts.push_back(images[0].ptx);
    });
}
WARPSCOPE_DRIVER(cuLinkComplete, cuLinkComplete, Link* link, void** image, std::size_t* bytes) {
    return driver_call(__func__, [&](Gpu&) {
        demand(!link->texts.empty(), Status::invalid_value, "nothing was added to be linked");
        link->linked = link_ptx(link->texts);
        *image = link->linked.data();
        if (bytes) *bytes = link->linked.size() + 1;
    });
}
WARPSCOPE_DRIVER(cuLinkDestroy, cuLinkDestroy, Link* link) {
    delete link;
    return Status::success;
}

extern "C" Status cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, StreamHandle stream,
                                 void** arguments, void** extra);

namespace {

/// The shape and the arguments that calls have set for the launches of a kernel.
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
        // A kernel may have more parameters than were set.
        if (function && function->kernel())
            c.arguments.resize(
                std::max(c.arguments.size(), std::size_t(function->kernel()->parameter_bytes)));
    }
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
