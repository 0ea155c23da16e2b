#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/judge.h"
#include "emulator/launcher.h"
#include "emulator/program/error.h"
#include "emulator/program/source_line.h"
#include "emulator/warp/splitmix64.h"
#include "programs/embedded/warpscope.h"
#include "programs/gpu/loaded_module.h"
#include "programs/images/fat_binary.h"
#include "programs/images/ptx_link.h"
#include "programs/memory/device_memory.h"
#include "programs/report/findings_json.h"
#include "programs/report/program_settings.h"

static_assert(WARPSCOPE_VERSION == WARPSCOPE_BUILT_VERSION, "CMakeLists.txt has another version");

namespace warpscope::programs {
namespace {

/// Of all memory of one emulator: a larger allocation is a mistake.
constexpr std::size_t most_bytes = std::size_t(1) << 40;
constexpr std::uint64_t most_heap_of_kernels = std::uint64_t(1) << 30;

void require(bool holds, const std::string& problem) {
    if (!holds) throw std::invalid_argument(problem);
}

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

/// Whether all these bytes are in memory of the process, so that an access to them does not end it.
bool is_mapped(const void* memory, std::size_t bytes) {
    const std::uint64_t page = std::uint64_t(::sysconf(_SC_PAGESIZE)), at = address_of(memory),
                        begin = at / page * page;
    return at && at + bytes >= at &&
           !::msync(reinterpret_cast<void*>(begin), at + bytes - begin, MS_ASYNC);
}

void require_mapped(const void* memory, std::size_t bytes, const char* what) {
    require(is_mapped(memory, bytes),
            fmt::format("{}: {} bytes from {:#x} on are no memory of this process", what, bytes,
                        address_of(memory)));
}

/// An emulated GPU in the process of its user, who accesses its memory without a call.
class Embedded {
  public:
    explicit Embedded(const emulator::CheckChoice& checks) : checks_(checks) {
        if (checks.any()) judge_ = std::make_unique<emulator::Judge>(checks, launcher_);
    }
    Embedded(const Embedded&) = delete;
    Embedded& operator=(const Embedded&) = delete;
    ~Embedded() { release_heap(heap_); }

    std::mutex mutex;

    LoadedModule* load(const void* ptx);
    void unload(LoadedModule* module);
    void* variable(LoadedModule* module, const char* name, std::size_t* bytes);
    void* allocate(std::size_t bytes);
    void attach(void* memory, std::size_t bytes);
    void free(void* memory);
    void copy(void* to, const void* from, std::size_t bytes);
    void launch(Function& function, const emulator::LaunchShape& shape,
                std::span<const void* const> arguments, std::chrono::milliseconds limit);
    /// The kernel with this name, or the only one.
    Function& function(LoadedModule* module, const char* name);
    const char* report();

  private:
    emulator::Memory& memory() { return launcher_.machine().memory(); }
    LoadedModule& known(LoadedModule* module);
    void require_range(const void* at, std::size_t bytes, const char* what);
    void run(const emulator::FrozenLaunch& launch);

    const emulator::CheckChoice checks_;
    emulator::Launcher launcher_;
    std::unique_ptr<emulator::Judge> judge_;  ///< null: nothing is checked
    std::map<LoadedModule*, std::unique_ptr<LoadedModule>> modules_;
    DeviceHeap* heap_ = nullptr;  ///< made for a kernel that uses it
    std::uint64_t launches_ = 0;
    std::string output_, report_;
};

LoadedModule* Embedded::load(const void* ptx) {
    require_mapped(ptx, sizeof(std::uint32_t), "the PTX");
    auto module = std::make_unique<LoadedModule>(read_images(ptx), "the PTX");
    if (const auto* variable = module->find_variable(heap_variable)) {
        if (!heap_) heap_ = make_heap(memory(), most_heap_of_kernels);
        const std::uint64_t address = address_of(heap_);
        std::memcpy(variable->data, &address, sizeof address);
    }
    LoadedModule* const loaded = module.get();
    modules_.emplace(loaded, std::move(module));
    return loaded;
}

LoadedModule& Embedded::known(LoadedModule* module) {
    require(modules_.contains(module),
            "the module is none of this emulator: warpscope_load() "
            "returns it, and warpscope_unload() ends it");
    return *module;
}

void Embedded::unload(LoadedModule* module) {
    modules_.erase(&known(module));
}

void* Embedded::variable(LoadedModule* module, const char* name, std::size_t* bytes) {
    require(name, "the name of a variable is null");
    const auto* const found = known(module).find_variable(name);
    require(found, fmt::format("the PTX has no variable {}", name));
    if (bytes) *bytes = found->bytes;
    return found->data;
}

void* Embedded::allocate(std::size_t bytes) {
    require(bytes, "an allocation of 0 bytes");
    require(bytes <= most_bytes - std::min(most_bytes, memory().used_bytes()),
            fmt::format("the emulator cannot allocate {} bytes", bytes));
    void* const allocated = memory().allocate(bytes);
    if (judge_) judge_->observer().on_allocate(address_of(allocated), bytes);
    return allocated;
}

void Embedded::attach(void* host, std::size_t bytes) {
    require(bytes, "memory of 0 bytes is not attached");
    require_mapped(host, bytes, "memory to attach");
    const std::uint64_t begin = address_of(host);
    for (const emulator::Memory::Allocation& other : memory().allocations())
        require(
            begin >= other.end || begin + bytes <= other.begin,
            fmt::format("a part of the {} bytes from {:#x} on is memory of the emulator already",
                        bytes, begin));
    memory().attach(host, bytes);
}

void Embedded::free(void* pointer) {
    if (!pointer) return;
    const auto* const found = memory().find(address_of(pointer));
    require(found && found->begin == address_of(pointer) && pointer != heap_,
            fmt::format("no memory of the emulator begins at {:#x}", address_of(pointer)));
    if (!found->owned) return memory().detach(pointer);
    if (judge_) judge_->observer().on_free(address_of(pointer));
    memory().free(pointer);
}

void Embedded::require_range(const void* at, std::size_t bytes, const char* what) {
    const auto* const found = memory().find(address_of(at));
    if (!found) return require_mapped(at, bytes, what);
    require(bytes <= found->end - address_of(at),
            fmt::format("{}: {} bytes from byte {} of an allocation of {} bytes", what, bytes,
                        address_of(at) - found->begin, found->end - found->begin));
}

void Embedded::copy(void* to, const void* from, std::size_t bytes) {
    if (!bytes) return;
    require_range(to, bytes, "the target of a copy");
    require_range(from, bytes, "the source of a copy");
    std::memmove(to, from, bytes);
    if (judge_) judge_->observer().on_host_write(address_of(to), bytes);
}

Function& Embedded::function(LoadedModule* module, const char* name) {
    auto& all = known(module).functions();
    require(name || all.size() == 1,
            fmt::format("the PTX has {} kernels, and the launch names none", all.size()));
    Function* const function = name ? module->find(name) : all.front().get();
    require(function, fmt::format("the PTX has no kernel {}", name ? name : ""));
    const bool is_known = function->kernel();  // which also sets problem()
    require(is_known,
            fmt::format("kernel {} is not launched: {}", function->name, function->problem()));
    return *function;
}

void Embedded::launch(Function& function, const emulator::LaunchShape& shape,
                      std::span<const void* const> arguments, std::chrono::milliseconds limit) {
    const auto& parameters = function.kernel()->parameters;
    require(arguments.size() == parameters.size(),
            fmt::format("kernel {} has {} parameters, and {} arguments were given", function.name,
                        parameters.size(), arguments.size()));
    for (std::size_t i = 0; i < parameters.size(); ++i)
        require_mapped(
            arguments[i], parameters[i].size,
            fmt::format("argument {} of kernel {}, a pointer to its value", i + 1, function.name)
                .c_str());
    function.set_most_dynamic_shared(int(shape.dynamic_shared_bytes));
    check_shape(function, shape);
    const emulator::LaunchSettings settings{
        .seed = emulator::splitmix64(launches_++), .time_limit = limit, .ends_where_still = true};
    try {
        run(emulator::Machine::freeze(*function.kernel(), shape, arguments, settings));
    } catch (const emulator::Error& error) {
        output_ += launcher_.machine().take_output();
        throw std::runtime_error(emulator::with_kernel_name(error.what(), function.name));
    }
    output_ += launcher_.machine().take_output();
}

void Embedded::run(const emulator::FrozenLaunch& launch) {
    if (judge_)
        judge_->run(launch);
    else
        launcher_.run(launch);
}

const char* Embedded::report() {
    using Json = nlohmann::ordered_json;
    const emulator::Verdict verdict = judge_ ? judge_->verdict() : emulator::Verdict{};
    const Json json = {
        {"checks", checks_.words()},
        {"findings", findings_json(verdict.findings)},
        {"stopped", verdict.error.empty() ? Json(nullptr) : Json(verdict.error.english())},
        {"timed_out", verdict.timed_out},
        {"not_tried", verdict.not_tried},
        {"output", std::exchange(output_, {})}};
    report_ = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return report_.c_str();
}

/// The emulators that are open. A handle is the address of one.
class Opened {
  public:
    /// It is there as long as the process: its threads may call while it ends.
    static Opened& all() {
        static Opened* const all = [] {
            std::atexit([] { emulator::Launcher::end_compiler(); });
            return new Opened;
        }();
        return *all;
    }
    warpscope_gpu* add(std::shared_ptr<Embedded> embedded) {
        const std::scoped_lock lock(mutex_);
        auto* const handle = reinterpret_cast<warpscope_gpu*>(embedded.get());
        opened_.emplace(handle, std::move(embedded));
        return handle;
    }
    std::shared_ptr<Embedded> find(warpscope_gpu* handle) {
        const std::scoped_lock lock(mutex_);
        const auto found = opened_.find(handle);
        require(found != opened_.end(),
                "the emulator is not open: warpscope_open() returns it, and "
                "warpscope_close() ends it");
        return found->second;
    }
    void remove(warpscope_gpu* handle) {
        const std::shared_ptr<Embedded> ended = find(handle);  // freed without the lock
        const std::scoped_lock lock(mutex_);
        opened_.erase(handle);
    }

  private:
    std::mutex mutex_;
    std::map<warpscope_gpu*, std::shared_ptr<Embedded>> opened_;
};

/// LLVM must not be unloaded below the thread that compiles, and it unloads in exit handlers, those
/// of what it made last first. exit() destroys what the calling thread has before them.
struct EndOfMainThread {
    ~EndOfMainThread() {
        if (::gettid() == ::getpid()) emulator::Launcher::end_compiler();
    }
};

thread_local char error_of_thread[4096] = "no call has failed";

/// Calls f(), and keeps the text of what it throws for warpscope_error().
template <class Result, class F>
Result caught(Result failed, const F& f) noexcept {
    try {
        return f();
    } catch (const std::bad_alloc&) {
        std::snprintf(error_of_thread, sizeof error_of_thread, "there is not enough memory");
    } catch (const std::exception& problem) {
        std::snprintf(error_of_thread, sizeof error_of_thread, "%s", problem.what());
    }
    return failed;
}

/// Calls f(emulator) as caught() does, while no other thread uses the emulator.
template <class Result, class F>
Result with(warpscope_gpu* handle, Result failed, const F& f) noexcept {
    return caught(failed, [&] {
        static thread_local EndOfMainThread end;
        const std::shared_ptr<Embedded> embedded = Opened::all().find(handle);
        const std::scoped_lock lock(embedded->mutex);
        return f(*embedded);
    });
}

/// For functions that return 0.
template <class F>
int done(warpscope_gpu* handle, const F& f) noexcept {
    return with(handle, 1, [&](Embedded& embedded) {
        f(embedded);
        return 0;
    });
}

LoadedModule* module_of(warpscope_module* handle) {
    return reinterpret_cast<LoadedModule*>(handle);
}

emulator::Dim3 extent(const unsigned* numbers, const char* what) {
    require_mapped(numbers, 3 * sizeof *numbers, what);
    return {numbers[0], numbers[1], numbers[2]};
}

}  // namespace
}  // namespace warpscope::programs

using namespace warpscope;
using programs::done, programs::with, programs::module_of, programs::Embedded;

unsigned warpscope_version() {
    return WARPSCOPE_VERSION;
}

const char* warpscope_error() {
    return programs::error_of_thread;
}

warpscope_gpu* warpscope_open(const char* checks) {
    return programs::caught<warpscope_gpu*>(nullptr, [&] {
        const auto choice =
            checks && *checks ? programs::read_checks(checks) : emulator::CheckChoice{};
        programs::require(!choice.needed && !choice.leaks,
                          "the library checks race, barrier and memory");
        return programs::Opened::all().add(std::make_shared<Embedded>(choice));
    });
}

int warpscope_close(warpscope_gpu* handle) {
    return programs::caught(1, [&] {
        programs::Opened::all().remove(handle);
        return 0;
    });
}

warpscope_module* warpscope_load(warpscope_gpu* handle, const void* ptx) {
    return with<warpscope_module*>(handle, nullptr, [&](Embedded& e) {
        return reinterpret_cast<warpscope_module*>(e.load(ptx));
    });
}

int warpscope_unload(warpscope_gpu* handle, warpscope_module* module) {
    return done(handle, [&](Embedded& e) { e.unload(module_of(module)); });
}

void* warpscope_variable(warpscope_gpu* handle, warpscope_module* module, const char* name,
                         size_t* bytes) {
    return with<void*>(handle, nullptr,
                       [&](Embedded& e) { return e.variable(module_of(module), name, bytes); });
}

void* warpscope_allocate(warpscope_gpu* handle, size_t bytes) {
    return with<void*>(handle, nullptr, [&](Embedded& e) { return e.allocate(bytes); });
}

int warpscope_attach(warpscope_gpu* handle, void* memory, size_t bytes) {
    return done(handle, [&](Embedded& e) { e.attach(memory, bytes); });
}

int warpscope_free(warpscope_gpu* handle, void* memory) {
    return done(handle, [&](Embedded& e) { e.free(memory); });
}

int warpscope_copy(warpscope_gpu* handle, void* to, const void* from, size_t bytes) {
    return done(handle, [&](Embedded& e) { e.copy(to, from, bytes); });
}

int warpscope_launch(warpscope_gpu* handle, warpscope_module* module, const char* kernel,
                     const unsigned grid[3], const unsigned block[3], size_t dynamic_shared_bytes,
                     const void* const* arguments, size_t count, unsigned milliseconds) {
    return done(handle, [&](Embedded& e) {
        if (count) programs::require_mapped(arguments, count * sizeof *arguments, "the arguments");
        programs::require(dynamic_shared_bytes <= emulator::Machine::max_shared_bytes,
                          "more shared memory than a block can have");
        e.launch(e.function(module_of(module), kernel),
                 {.grid = programs::extent(grid, "the grid"),
                  .block = programs::extent(block, "the block"),
                  .dynamic_shared_bytes = std::uint32_t(dynamic_shared_bytes)},
                 {arguments, count}, std::chrono::milliseconds(milliseconds));
    });
}

const char* warpscope_report(warpscope_gpu* handle) {
    return with<const char*>(handle, nullptr, [&](Embedded& e) { return e.report(); });
}
