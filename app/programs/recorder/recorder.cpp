#include "programs/recorder/recorder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "programs/gpu/loaded_module.h"

namespace warpscope::programs {
namespace {

struct Replacement {
    void* ours;
    void** real;
};

std::map<std::string, Replacement, std::less<>>& replacements() {
    static auto* const all = new std::map<std::string, Replacement, std::less<>>;
    return *all;
}

using Find = void*(void*, const char*);
Find* real_dlsym() {
    static auto* const find = [] {
        void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!found) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        return reinterpret_cast<Find*>(found);
    }();
    return find;
}

template <class F>
void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(driver_function(symbol));
}

}  // namespace

Recorded::Recorded(const char* symbol, void* ours, void** real) {
    replacements()[symbol] = {ours, real};
}

void* driver_function(const char* symbol) {
    static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? real_dlsym()(library, symbol) : nullptr;
}

void* recorded(const char* symbol, void* found) {
    const auto replacement = replacements().find(std::string_view(symbol));
    if (!found || replacement == replacements().end()) return found;
    if (found != replacement->second.ours) *replacement->second.real = found;
    return replacement->second.ours;
}

const Driver& driver() {
    static const Driver one = [] {
        Driver made;
        find(made.synchronize, "cuCtxSynchronize");
        find(made.address_range, "cuMemGetAddressRange_v2");
        find(made.copy_to_host, "cuMemcpyDtoH_v2");
        find(made.module_variable, "cuModuleGetGlobal_v2");
        find(made.library_variable, "cuLibraryGetGlobal");
        find(made.is_capturing, "cuStreamIsCapturing");
        return made;
    }();
    return one;
}

namespace {

double now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
}

}  // namespace

std::optional<MemoryBlock> GpuMemory::find(std::uint64_t address) const {
    MemoryBlock block;
    if (!address || driver().address_range(&block.begin, &block.bytes, address) != Status::success)
        return {};
    return block;
}

std::optional<MemoryBlock> GpuMemory::find_variable(
    const emulator::Kernel&, const emulator::Module::GlobalVariable& variable) const {
    auto* const find = is_library ? driver().library_variable : driver().module_variable;
    MemoryBlock block;
    if (!find || find(&block.begin, &block.bytes, module, variable.name.c_str()) != Status::success)
        return {};
    return block;
}

std::span<const std::byte> GpuMemory::read(std::uint64_t begin, std::size_t bytes) {
    copy_.resize(bytes);
    if (driver().copy_to_host(copy_.data(), begin, bytes) != Status::success)
        throw std::runtime_error(
            fmt::format("{} bytes of the GPU at {:#x} cannot be copied", bytes, begin));
    return copy_;
}

bool Recorder::becomes_node(Handle stream) {
    int answer = 0;  // CU_STREAM_CAPTURE_STATUS_NONE
    return driver().is_capturing && driver().is_capturing(stream, &answer) == Status::success &&
           answer;
}

void Recorder::on_load(Handle module, const void* data, bool is_library) {
    auto made = std::make_shared<Module>();
    made->handle = module;
    made->is_library = is_library;
    try {
        made->images = read_images(data);
    } catch (const CallError& error) {
        made->problem = error.what();
    }
    const std::scoped_lock lock(mutex_);
    modules_[module] = std::move(made);
}

void Recorder::on_alias(Handle made, Handle from) {
    const std::scoped_lock lock(mutex_);
    if (const auto module = modules_.find(from); module != modules_.end())
        modules_[made] = module->second;
    if (const auto function = functions_.find(from); function != functions_.end())
        functions_[made] = function->second;
}

void Recorder::on_function(Handle function, Handle module, const char* name) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = modules_.find(module); found != modules_.end())
        functions_[function] = {found->second, name};
}

const emulator::Kernel& Recorder::kernel(const Known& known) {
    Module& module = *known.module;
    if (!module.problem.empty()) throw CallError(Status::invalid_ptx, module.problem);
    if (!module.loaded)
        module.loaded = std::make_unique<LoadedModule>(module.images, "the program");
    Function* const function = module.loaded->find(known.name);
    demand(function, Status::not_found, "its PTX is not there");
    const emulator::Kernel* const kernel = function->kernel();
    demand(kernel, Status::invalid_ptx, function->problem().c_str());
    return *kernel;
}

std::unique_lock<std::mutex> Recorder::begin(std::uint64_t number, Handle function,
                                             const emulator::LaunchShape& shape, void** arguments,
                                             void** extra) {
    std::unique_lock lock(mutex_);
    const auto known = functions_.find(function);
    if (known == functions_.end() || !capture_.wants(number, known->second.name)) return {};
    try {
        const emulator::Kernel& launched = kernel(known->second);
        memory_.module = known->second.module->handle;
        memory_.is_library = known->second.module->is_library;
        // Work in other streams must not change memory while it is copied.
        driver().synchronize();
        capture_.before(number, launched, shape, values_of(launched, arguments, extra));
        kernel_ = launched.name;
        began_ = now();
        return lock;
    } catch (const CallError& error) {
        problems_.insert(
            fmt::format("a launch of {} is not captured: {}", known->second.name, error.what()));
        return {};
    }
}

bool Recorder::wants_any(const std::vector<Handle>& kernels, const std::string& problem) {
    const std::scoped_lock lock(mutex_);
    std::uint64_t number = launches_;
    bool wants = false;
    for (const Handle kernel : kernels) {
        const auto known = functions_.find(kernel);
        ++number;
        if (known == functions_.end() || !capture_.wants(number, known->second.name)) continue;
        wants = problem.empty();
        if (!wants)
            problems_.insert(
                fmt::format("a launch of {} is not captured: {}", known->second.name, problem));
    }
    if (!wants) launches_ += kernels.size();
    return wants;
}

void Recorder::end() {
    // After a failure the memory is unknown, and the program gets the error from its own call.
    if (driver().synchronize() != Status::success) return;
    const double seconds = now() - began_;
    capture_.after(seconds);
    KernelLaunches& launches = report_.kernels[kernel_];
    ++launches.launches;
    launches.seconds += seconds;
}

void Recorder::finish() {
    const std::scoped_lock lock(mutex_);
    if (!launches_) return;
    report_.command = command_line();
    report_.has_ended = true;
    capture_.finish(report_);
    problems_.insert(capture_.problems().begin(), capture_.problems().end());
    report_.notes.assign(problems_.begin(), problems_.end());
    try {
        if (!reports_.empty()) return write_report(report_, new_report_file(reports_));
    } catch (const std::exception& error) {
        problems_.insert(error.what());
    }
    for (const std::string& line : problems_) std::fprintf(stderr, "warpscope: %s\n", line.c_str());
}

Recorder& recorder() {
    static auto* const one = new Recorder(ProgramSettings::from_environment());
    return *one;
}

namespace {

__attribute__((destructor)) void finish() {
    recorder().finish();
}

}  // namespace
}  // namespace warpscope::programs

// The CUDA runtime, and programs that load the driver, ask for its functions here.
extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
    using namespace warpscope::programs;
    auto* const find = real_dlsym();
    const bool depends_on_caller = handle == RTLD_NEXT || handle == RTLD_DEFAULT;
    if (!depends_on_caller && name[0] == 'c' && name[1] == 'u')
        return recorded(name, find(handle, name));
    return find(handle, name);  // a jump, so that glibc sees the caller
}
