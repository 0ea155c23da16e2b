// Source: CUDA Runtime API, "Execution Control", "Occupancy".
#include <cstring>

#include "programs/gpu/device_attributes.h"
#include "programs/runtime_api/runtime.h"

namespace warpscope::programs {

void launch(Gpu& gpu, const void* host, Dim grid, Dim block, void** arguments, std::size_t shared,
            Stream& stream, const LaunchForm& form) {
    Function& function = function_of(host);
    const std::size_t count = function.kernel ? function.kernel->parameters.size() : 0;
    gpu.launch(function,
               {{grid.x, grid.y, grid.z},
                {block.x, block.y, block.z},
                std::uint32_t(shared),
                form.cooperative,
                {form.cluster.x, form.cluster.y, form.cluster.z}},
               {arguments, count}, stream);
}

}  // namespace warpscope::programs

using namespace warpscope::programs;

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
WARPSCOPE_RUNTIME(cudaLaunchHostFunc, StreamHandle stream, HostFunction function, void* data) {
    return runtime_call(
        __func__, [&](Gpu& gpu) { gpu.call_host(stream_of(stream), [=] { function(data); }); });
}
WARPSCOPE_RUNTIME(cudaGetFuncBySymbol, Function** function, const void* host) {
    return runtime_call(__func__, [&](Gpu&) { *function = &function_of(host); });
}
WARPSCOPE_RUNTIME(cudaGetKernel, Function** function, const void* host) {
    return runtime_call(__func__, [&](Gpu&) { *function = &function_of(host); });
}
WARPSCOPE_RUNTIME(cudaFuncGetAttributes, FunctionAttributes* to, const void* host) {
    return runtime_call(__func__, [&](Gpu&) {
        const Function& function = function_of(host);
        *to = {};
        to->shared_bytes = function.static_shared_bytes();
        to->local_bytes = function.kernel ? function.kernel->local_bytes : 0;
        to->most_threads = int(function.most_threads());
        to->registers = 32;
        // CUB compares it with what the program was compiled for.
        to->ptx_version = int(function.module->architecture());
        to->binary_version = compute_capability();
        to->most_dynamic_shared_bytes = int(function.most_dynamic_shared_bytes);
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
