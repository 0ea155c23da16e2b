// Source: CUDA Runtime API, "Execution Control", "Occupancy".
// What nvcc's host code calls before main() and at <<<…>>>. Source: the files that `nvcc --keep`
// leaves.
#include <deque>
#include <map>

#include "programs/gpu/device_attributes.h"
#include "programs/runtime_api/runtime.h"

namespace warpscope::programs {

namespace {

/// One fat binary of the program, which is read when one of its kernels or variables is first used.
struct Binary {
    const void* data = nullptr;
    LoadedModule* module = nullptr;
    std::optional<CallError> error;  ///< why it cannot be read
    struct Managed {
        void** host;
        const char* name;
    };
    std::vector<Managed> managed;  ///< the host reads them through pointers

    LoadedModule& load() {
        if (error) throw *error;
        if (module) return *module;
        try {
            module = gpu().load(data);
        } catch (const CallError& problem) {
            error = problem;
            throw;
        }
        for (const Managed& variable : managed)
            if (const auto* range = module->find_variable(variable.name))
                *variable.host = range->data;
        return *module;
    }
};

struct Symbol {
    Binary* binary = nullptr;
    const char* name = nullptr;
    Function* function = nullptr;
};

// Made before the constructors of the program, and used until its end.
std::deque<Binary>& binaries() {
    static auto* const all = new std::deque<Binary>;
    return *all;
}
std::map<const void*, Symbol>& symbols() {
    static auto* const all = new std::map<const void*, Symbol>;
    return *all;
}

Binary& binary_of(void** handle) {
    return *reinterpret_cast<Binary*>(handle);
}

struct Configuration {
    Dim grid, block;
    std::size_t shared;
    StreamHandle stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

Function& function_of(const void* host) {
    const auto found = symbols().find(host);
    if (found == symbols().end()) {
        demand(host, Status::runtime_invalid_function, "the kernel is null");
        return *static_cast<Function*>(const_cast<void*>(host));
    }
    Symbol& symbol = found->second;
    if (!symbol.function) symbol.function = symbol.binary->load().find(symbol.name);
    demand(symbol.function, Status::runtime_invalid_function,
           "the kernel is not in the program's PTX");
    return *symbol.function;
}

const emulator::Module::GlobalVariable& variable_of(const void* host) {
    const auto found = symbols().find(host);
    demand(found != symbols().end(), Status::runtime_invalid_symbol,
           "the symbol is no variable of the device");
    const auto* variable = found->second.binary->load().find_variable(found->second.name);
    demand(variable, Status::runtime_invalid_symbol, "the variable is not in the program's PTX");
    return *variable;
}

}  // namespace warpscope::programs

using namespace warpscope::programs;

WARPSCOPE_API(void**, __cudaRegisterFatBinary, __cudaRegisterFatBinary, void* data) {
    const Call held;
    have_ptx_for(newest_architecture_with_ptx(data), data);
    return reinterpret_cast<void**>(&binaries().emplace_back(Binary{.data = data}));
}
WARPSCOPE_API(void, __cudaRegisterFatBinaryEnd, __cudaRegisterFatBinaryEnd, void**) {}
WARPSCOPE_API(void, __cudaUnregisterFatBinary, __cudaUnregisterFatBinary, void**) {}
WARPSCOPE_API(char, __cudaInitModule, __cudaInitModule, void** handle) {
    return call("__cudaInitModule", [&](Gpu&) { binary_of(handle).load(); }) == Status::success;
}
WARPSCOPE_API(void, __cudaRegisterFunction, __cudaRegisterFunction, void** handle, const char* host,
              char*, const char* name, int, void*, void*, void*, void*, int*) {
    const Call held;
    symbols()[host] = {&binary_of(handle), name};
}
WARPSCOPE_API(void, __cudaRegisterVar, __cudaRegisterVar, void** handle, char* host, char*,
              const char* name, int, std::size_t, int, int) {
    const Call held;
    symbols()[host] = {&binary_of(handle), name};
}
WARPSCOPE_API(void, __cudaRegisterManagedVar, __cudaRegisterManagedVar, void** handle, void** host,
              char*, const char* name, int, std::size_t, int, int) {
    const Call held;
    symbols()[host] = {&binary_of(handle), name};
    binary_of(handle).managed.push_back({host, name});
}
WARPSCOPE_API(unsigned, __cudaPushCallConfiguration, __cudaPushCallConfiguration, Dim grid,
              Dim block, std::size_t shared, StreamHandle stream) {
    configurations.push_back({grid, block, shared, stream});
    return 0;
}
WARPSCOPE_RUNTIME(__cudaPopCallConfiguration, Dim* grid, Dim* block, std::size_t* shared,
                  StreamHandle* stream) {
    return runtime_call(__func__, [&](Gpu&) {
        demand(!configurations.empty(), Status::runtime_missing_configuration,
               "no launch has begun");
        const Configuration c = configurations.back();
        configurations.pop_back();
        *grid = c.grid, *block = c.block, *shared = c.shared, *stream = c.stream;
    });
}
// The kernel is looked up at its launch, so that only launches fail of kernels that cannot be run.
WARPSCOPE_RUNTIME(__cudaGetKernel, const void** kernel, const void* host) {
    *kernel = host;
    return Status::success;
}

namespace warpscope::programs {

void launch(Gpu& gpu, const void* host, Dim grid, Dim block, void** arguments, std::size_t shared,
            Stream& stream, const LaunchForm& form) {
    Function& function = function_of(host);
    const std::size_t count = function.kernel() ? function.kernel()->parameters.size() : 0;
    gpu.launch(function,
               {{grid.x, grid.y, grid.z},
                {block.x, block.y, block.z},
                std::uint32_t(shared),
                form.cooperative,
                {form.cluster.x, form.cluster.y, form.cluster.z}},
               {arguments, count}, stream);
}

}  // namespace warpscope::programs

namespace {

struct LaunchConfiguration {  // cudaLaunchConfig_t
    Dim grid, block;
    std::size_t shared;
    StreamHandle stream;
    const LaunchAttribute* attributes;
    unsigned count;
};
struct FunctionAttributes {  // cudaFuncAttributes, its first members
    std::size_t shared_bytes, constant_bytes, local_bytes;
    int most_threads, registers, ptx_version, binary_version, cache_mode_ca,
        most_dynamic_shared_bytes, preferred_carveout;
};

constexpr int attribute_most_dynamic_shared = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize

}  // namespace

WARPSCOPE_RUNTIME(cudaLaunchKernel, const void* host, Dim grid, Dim block, void** arguments,
                  std::size_t shared, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        launch(gpu, host, grid, block, arguments, shared, stream_of(stream));
    });
}
WARPSCOPE_RUNTIME(__cudaLaunchKernel, const void* host, Dim grid, Dim block, void** arguments,
                  std::size_t shared, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        launch(gpu, host, grid, block, arguments, shared, stream_of(stream));
    });
}
WARPSCOPE_RUNTIME(cudaLaunchKernelExC, const LaunchConfiguration* c, const void* host,
                  void** arguments) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        launch(gpu, host, c->grid, c->block, arguments, c->shared, stream_of(c->stream),
               form_of(c->attributes, c->count));
    });
}
WARPSCOPE_RUNTIME(cudaLaunchCooperativeKernel, const void* host, Dim grid, Dim block,
                  void** arguments, std::size_t shared, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        launch(gpu, host, grid, block, arguments, shared, stream_of(stream), {.cooperative = true});
    });
}
WARPSCOPE_BOTH(cudaLaunchHostFunc, cuLaunchHostFunc, ,
               (StreamHandle stream, HostFunction function, void* data),
               gpu.call_host(stream_of(stream), [=] { function(data); }))
WARPSCOPE_RUNTIME(cudaGetFuncBySymbol, Function** function, const void* host) {
    return runtime_call(__func__, [&](Gpu&) { *function = &function_of(host); });
}
WARPSCOPE_RUNTIME(cudaGetKernel, Function** function, const void* host) {
    return runtime_call(__func__, [&](Gpu&) { *function = &function_of(host); });
}
WARPSCOPE_RUNTIME(cudaFuncGetAttributes, FunctionAttributes* to, const void* host) {
    return runtime_call(__func__, [&](Gpu&) {
        Function& function = function_of(host);
        *to = {};
        to->shared_bytes = function.static_shared_bytes();
        to->local_bytes = function.kernel() ? function.kernel()->local_bytes : 0;
        to->most_threads = int(function.most_threads());
        to->registers = 32;
        // CUB compares it with what the program was compiled for.
        to->ptx_version = int(function.module->architecture());
        to->binary_version = compute_capability();
        to->most_dynamic_shared_bytes = int(function.most_dynamic_shared_bytes());
    });
}
WARPSCOPE_RUNTIME(cudaFuncSetAttribute, const void* host, int attribute, int value) {
    return runtime_call(__func__, [&](Gpu&) {
        Function& function = function_of(host);
        if (attribute != attribute_most_dynamic_shared) return;
        function.set_most_dynamic_shared(value);
    });
}
WARPSCOPE_RUNTIME(cudaFuncSetCacheConfig, const void*, int) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* blocks,
                  const void* host, int threads, std::size_t shared, unsigned) {
    return runtime_call(__func__, [&](Gpu&) {
        *blocks = resident_blocks(threads, function_of(host).static_shared_bytes() + shared);
    });
}
WARPSCOPE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, const void* host,
                  int threads, std::size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
WARPSCOPE_RUNTIME(cudaOccupancyAvailableDynamicSMemPerBlock, std::size_t* bytes, const void* host,
                  int blocks, int) {
    return runtime_call(__func__, [&](Gpu&) {
        demand(blocks > 0, Status::invalid_value, "no blocks");
        const std::size_t each = std::size_t(shared_of_multiprocessor / blocks);
        const std::size_t taken = function_of(host).static_shared_bytes() + reserved_shared;
        *bytes = each > taken ? each - taken : 0;
    });
}
