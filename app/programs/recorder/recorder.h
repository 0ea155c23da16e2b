#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/program/launch.h"
#include "programs/gpu/capture.h"
#include "programs/gpu/loaded_module.h"
#include "programs/images/status.h"

namespace warpscope::programs {

// The CUDA driver behind the recorder: functions that it calls itself, and those that it stands in
// front of.

using Handle = void*;  // CUmodule, CUlibrary, CUfunction, CUkernel, CUstream

/// Functions of the driver, found once. Those of newer drivers may be null.
struct Driver {
    Status (*synchronize)() = nullptr;  // cuCtxSynchronize
    Status (*address_range)(std::uint64_t* base, std::size_t* bytes, std::uint64_t) = nullptr;
    Status (*copy_to_host)(void* to, std::uint64_t from, std::size_t bytes) = nullptr;
    Status (*module_variable)(std::uint64_t*, std::size_t*, Handle, const char* name) = nullptr;
    Status (*library_variable)(std::uint64_t*, std::size_t*, Handle, const char* name) = nullptr;
    Status (*is_capturing)(Handle stream, int* answer) = nullptr;  // cuStreamIsCapturing
};
const Driver& driver();

/// A function of the driver in whose place programs get one of ours.
struct Recorded {
    /// `real` becomes the driver's function when a program asks for it.
    Recorded(const char* symbol, void* ours, void** real);
};
/// Returns the driver's function with this name.
void* driver_function(const char* symbol);
/// Returns our function in place of the driver's: `found` itself if there is none.
void* recorded(const char* symbol, void* found);

/// Memory of a GPU.
class GpuMemory : public CapturedMemory {
  public:
    std::optional<MemoryBlock> find(std::uint64_t address) const override;
    std::optional<MemoryBlock> find_variable(
        const emulator::Kernel& kernel,
        const emulator::Module::GlobalVariable& variable) const override;
    std::span<const std::byte> read(std::uint64_t begin, std::size_t bytes) override;

    Handle module = nullptr;  ///< of the launch that is recorded
    bool is_library = false;  ///< it is a CUlibrary

  private:
    std::vector<std::byte> copy_;
};

/// Records the launches that a program makes on a GPU. Its functions may be called from several
/// threads.
class Recorder {
  public:
    explicit Recorder(const ProgramSettings& settings)
        : reports_(settings.reports), capture_(settings, memory_) {
        report_.emulated = false;
    }

    /// The driver has made a module or a library of what is at `data`.
    void on_load(Handle module, const void* data, bool is_library);
    /// The driver has made one handle of another: a module of a library, a function of a kernel.
    void on_alias(Handle made, Handle from);
    /// The driver has found a kernel of a module or library.
    void on_function(Handle function, Handle module, const char* name);

    /// What is added to the stream becomes a node of a graph.
    static bool becomes_node(Handle stream);
    /// Does a launch by `launch`, and records it if it is wanted.
    template <class Launch>
    Status run(Handle function, const emulator::LaunchShape& shape, Handle stream, void** arguments,
               void** extra, Launch launch) {
        if (becomes_node(stream)) return launch();  // its graph is launched later
        const std::uint64_t number = ++launches_;
        const std::unique_lock lock = begin(number, function, shape, arguments, extra);
        const Status status = launch();
        if (lock && status == Status::success) end();
        return status;
    }

    /// Whether one of the next launches, of these kernels in this order, is to be recorded. If none
    /// is, or for `problem`, the launches are counted.
    bool wants_any(const std::vector<Handle>& kernels, const std::string& problem);

    void finish();  ///< the program ends

  private:
    struct Module {
        Handle handle = nullptr;
        bool is_library = false;
        std::vector<Image> images;
        std::unique_ptr<LoadedModule> loaded;  ///< made for the first launch that is recorded
        std::string problem;                   ///< why it cannot be made
    };
    struct Known {
        std::shared_ptr<Module> module;
        std::string name;
    };

    /// Keeps what the launch begins with. The lock is held while it is recorded.
    std::unique_lock<std::mutex> begin(std::uint64_t number, Handle function,
                                       const emulator::LaunchShape& shape, void** arguments,
                                       void** extra);
    void end();
    /// Throws CallError.
    const emulator::Kernel& kernel(const Known& known);

    std::mutex mutex_;
    const std::filesystem::path reports_;  ///< empty: what is left out is printed
    ProgramReport report_;
    GpuMemory memory_;
    Capture capture_;
    std::atomic<std::uint64_t> launches_ = 0;
    std::map<Handle, std::shared_ptr<Module>> modules_;
    std::map<Handle, Known> functions_;
    std::set<std::string> problems_;
    std::string kernel_;  ///< of the launch that is recorded
    double began_ = 0;    ///< seconds
};

Recorder& recorder();

}  // namespace warpscope::programs

/// Defines a function that programs get in place of the driver's, which real_NAME is.
#define WARPSCOPE_RECORDED(symbol, ...)                                                      \
    static warpscope::programs::Status (*real_##symbol)(__VA_ARGS__);                        \
    extern "C" __attribute__((visibility("default")))                                        \
    warpscope::programs::Status symbol(__VA_ARGS__);                                         \
    static const warpscope::programs::Recorded recorded_##symbol{                            \
        #symbol, reinterpret_cast<void*>(symbol), reinterpret_cast<void**>(&real_##symbol)}; \
    extern "C" warpscope::programs::Status symbol(__VA_ARGS__)

/// Finds the driver's function for a program that was linked with the driver, and so did not ask.
#define WARPSCOPE_FIND_REAL(symbol) \
    if (!real_##symbol)             \
    real_##symbol =                 \
        reinterpret_cast<decltype(real_##symbol)>(warpscope::programs::driver_function(#symbol))
