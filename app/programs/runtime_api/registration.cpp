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
            module = gpu().load(read_images(data));
        } catch (const CallError& problem) {
            gpu().say_error(std::string("the program cannot run its kernels: ") + problem.what());
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
    have_ptx_for(newest_architecture_with_ptx(data));
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
