#include "compute/emulated/emulated_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

#include "compute/device/kernel_files.h"
#include "emulator/program/error.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::compute {
namespace {

using emulator::splitmix64;

/// The most warp instructions of a launch of an edit or a PTX text, which may loop for ever; they
/// take less than a minute. Launches of built-in kernels end, though they may take hours.
constexpr std::uint64_t instruction_budget = 20'000'000'000;

/// Calls `work`; an error of the emulator becomes a DeviceError.
template <class F>
auto translated(F work) {
    try {
        return work();
    } catch (const emulator::Stopped& stopped) {
        throw Cancelled(stopped.words);
    } catch (const emulator::Error& error) {
        throw DeviceError(error.words);
    }
}

/// Returns a built-in kernel file, parsed once for all devices. Null if it has module variables:
/// each device has its own values of them.
std::shared_ptr<const emulator::Module> shipped_module(const std::string& file, Math math) {
    static std::mutex mutex;
    static std::map<std::pair<std::string, Math>, std::shared_ptr<const emulator::Module>> parsed;
    const std::scoped_lock lock(mutex);
    auto& module = parsed[{file, math}];
    if (!module) module = emulator::Module::parse(kernel_ptx(file, math), kernel_path(file));
    return module->variables().empty() ? module : nullptr;
}

float milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

}  // namespace

void EmulatedDevice::EmulatedKernel::check_arguments(std::span<const std::size_t> bytes) const {
    std::vector<std::size_t> expected;
    for (const emulator::Parameter& parameter : kernel->parameters)
        expected.push_back(parameter.size);
    check_sizes(expected, bytes);
}

EmulatedDevice::EmulatedDevice(std::string reason, std::size_t memory_bytes) {
    info_ = {.kind = DeviceKind::emulator,
             .name = files::sentence("SIMT emulator"),
             .reason = std::move(reason),
             .multiprocessors = int(machine().virtual_sms()),
             .memory_bytes = memory_bytes,
             .max_shared_bytes = emulator::Machine::max_shared_bytes};
}

std::uint64_t EmulatedDevice::allocate(std::size_t bytes) {
    const std::size_t used = machine().memory().used_bytes();
    if (used + bytes > info_.memory_bytes)
        throw OutOfMemory(
            fmt::format("{:.2f} GiB needed, {:.2f} GiB free in the emulator: choose a smaller size",
                        double(bytes) / (1 << 30), double(info_.memory_bytes - used) / (1 << 30)));
    const auto address = translated(
        [&] { return reinterpret_cast<std::uint64_t>(machine().memory().allocate(bytes)); });
    tell([&](emulator::Observer& o) { o.on_allocate(address, bytes); });
    return address;
}

template <typename F>
void EmulatedDevice::tell(const F& event) {
    if (judge_) event(judge_->observer());
    if (observer_) event(*observer_);
}

void EmulatedDevice::release(std::uint64_t address) noexcept {
    tell([&](emulator::Observer& o) { o.on_free(address); });
    machine().memory().free(reinterpret_cast<void*>(address));
}

void EmulatedDevice::upload(std::uint64_t to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    tell([&](emulator::Observer& o) { o.on_host_write(to, bytes); });
}

void EmulatedDevice::download(void* to, std::uint64_t from, std::size_t bytes) {
    if (bytes) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
}

void EmulatedDevice::fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    tell([&](emulator::Observer& o) { o.on_host_write(to, bytes); });
}

void EmulatedDevice::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    if (bytes) std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    tell([&](emulator::Observer& o) { o.on_host_write(to, bytes); });
}

std::uint64_t EmulatedDevice::attach(void* host, std::size_t bytes) {
    machine().memory().attach(host, bytes);
    return reinterpret_cast<std::uint64_t>(host);
}

void EmulatedDevice::detach(std::uint64_t address) noexcept {
    machine().memory().detach(reinterpret_cast<void*>(address));
}

TextureHandle EmulatedDevice::make_texture(const emulator::Texture& texture, bool is_surface) {
    return {translated([&] { return machine().memory().textures().add(texture); }), is_surface};
}

void EmulatedDevice::release_texture(TextureHandle handle) noexcept {
    machine().memory().textures().remove(handle.number);
}

void EmulatedDevice::begin_frame(std::uint64_t frame) {
    frame_ = frame;
    launch_in_frame_ = 0;
}

emulator::FrozenLaunch EmulatedDevice::freeze_last(const std::function<void()>& launches,
                                                   std::string_view kernel) {
    freezes_ = true;
    freezes_kernel_ = kernel;
    frozen_.reset();
    try {
        launches();
    } catch (...) {
        freezes_ = false;
        throw;
    }
    freezes_ = false;
    if (!frozen_) throw DeviceError("no kernel was launched, so there is no launch to inspect");
    return std::move(*frozen_);
}

const std::shared_ptr<const emulator::Module>& EmulatedDevice::module_of(std::string_view file,
                                                                         const KernelEdit* edit) {
    auto& module = images_[{std::string(file), settings_.math, edit}];
    if (!module && !edit)
        if (auto shared =
                translated([&] { return shipped_module(std::string(file), settings_.math); }))
            module = modules_.emplace_back(std::move(shared));
    if (!module)
        module = parse(edit ? edit->ptx : kernel_ptx(file, settings_.math), kernel_path(file));
    return module;
}

const emulator::Kernel* EmulatedDevice::find_unoptimized(const KernelEdit& edit,
                                                         std::string_view name) {
    const auto [module, is_new] = unoptimized_.try_emplace(&edit);
    try {
        if (is_new)
            module->second = emulator::Module::parse(edit.unoptimized, kernel_path(edit.file));
    } catch (const emulator::Error&) {
        // It may use what the emulator does not know, and the optimized code does not.
    }
    return module->second ? module->second->find(name) : nullptr;
}

const LoadedKernel& EmulatedDevice::load(std::string_view file, std::string_view name,
                                         const KernelEdit* edit) {
    EmulatedKernel& kernel = find(module_of(file, edit), name);
    kernel.built_in = !edit;
    if (judge_ && edit && !edit->unoptimized.empty() && !kernel.unoptimized)
        kernel.unoptimized = find_unoptimized(*edit, name);
    return kernel;
}

DeviceVariable EmulatedDevice::find_variable(std::string_view file, const std::string& name,
                                             const KernelEdit* edit) {
    const emulator::Module& module = *module_of(file, edit);
    for (const emulator::Module::GlobalVariable& variable : module.variables())
        if (variable.name == name)
            return {reinterpret_cast<std::uint64_t>(variable.data), variable.bytes};
    throw DeviceError(fmt::format("{} has no variable {}", module.name(), name));
}

const LoadedKernel& EmulatedDevice::load_ptx(std::string_view ptx, std::string_view name) {
    return find(parse(ptx, "PTX text"), name);
}

emulator::LaunchSettings EmulatedDevice::next_settings(const EmulatedKernel& kernel) {
    const std::uint64_t launch = splitmix64(launch_in_frame_++);
    emulator::LaunchSettings settings{
        .schedule = settings_.schedule,
        .barriers = settings_.barriers,
        .landing = settings_.landing,
        .block_order = settings_.blocks_by_seed ? emulator::GridOrder::by_seed
                       : settings_.schedule == emulator::Schedule::reverse
                           ? emulator::GridOrder::reverse
                           : emulator::GridOrder::ascending,
        .seed = splitmix64(settings_.seed ^ splitmix64(frame_ ^ launch)),
        .time_limit = limits_.time,
        .limits_time_of_block = limits_.of_block,
        .stop = limits_.stop,
        .progress = progress_};
    if (!kernel.built_in) settings.instruction_budget = instruction_budget;
    return settings;
}

void EmulatedDevice::launch_packed(const LoadedKernel& loaded, const LaunchShape& shape,
                                   const Work& work, std::span<void* const> arguments) {
    const auto& emulated = static_cast<const EmulatedKernel&>(loaded);
    const emulator::Kernel& kernel = *emulated.kernel;
    const std::vector<const void*> values(arguments.begin(), arguments.end());
    const auto frozen = translated([&] {
        emulator::LaunchSettings settings = next_settings(emulated);
        if (settings_.turns) settings_.turns->apply(kernel, shape, settings);
        emulator::FrozenLaunch launch = emulator::Machine::freeze(kernel, shape, values, settings);
        launch.unoptimized = emulated.unoptimized;
        return launch;
    });
    if (freezes_) {
        const bool stays =
            frozen_ && !freezes_kernel_.empty() && frozen_->kernel->name == freezes_kernel_;
        if (stays) return;
        if (frozen_) run(*frozen_);
        frozen_ = frozen;
        return;
    }
    const emulator::Judge::Ran ran = run(frozen);
    engine_ = ran.compiled ? Engine::compiled : Engine::interpreted;
    if (times_each_launch())
        timings_.record(loaded.name, shape.grid, shape.block,
                        {kernel.shared_bytes + shape.dynamic_shared_bytes}, work,
                        std::chrono::duration<float, std::milli>(ran.time).count(), engine_);
}

void EmulatedDevice::end_group(std::string_view name, const Work& work) {
    timings_.record(name, {}, {}, {}, work, milliseconds_since(group_start_), engine_);
}

emulator::Judge::Ran EmulatedDevice::run(const emulator::FrozenLaunch& launch) {
    return translated([&]() -> emulator::Judge::Ran {
        try {
            if (judge_) return judge_->run(launch, observer_);
            const emulator::LaunchMethod method =
                launcher_.choose(launch, observer_, settings_.waits_for_compiler && !observer_);
            const auto start = Clock::now();
            launcher_.run(launch, observer_, method);
            return {Clock::now() - start, method.code != nullptr};
        } catch (const emulator::Stopped&) {
            throw;
        } catch (const emulator::Error& error) {
            if (!error.block) throw;
            const auto* const access = dynamic_cast<const emulator::AccessError*>(&error);
            BlockError failed(error.words, emulator::index_in(launch.launch.grid, *error.block),
                              access ? access->allocation : 0);
            failed.timed_out = dynamic_cast<const emulator::TimedOut*>(&error);
            throw failed;
        }
    });
}

const std::shared_ptr<const emulator::Module>& EmulatedDevice::parse(std::string_view ptx,
                                                                     std::string name) {
    return modules_.emplace_back(
        translated([&] { return emulator::Module::parse(ptx, std::move(name)); }));
}

EmulatedDevice::EmulatedKernel& EmulatedDevice::find(
    const std::shared_ptr<const emulator::Module>& module, std::string_view name) {
    const emulator::Kernel* kernel = module->find(name);
    if (!kernel) throw DeviceError(fmt::format("{} has no kernel {}", module->name(), name));
    EmulatedKernel& loaded = kernels_[kernel];
    if (!loaded.kernel) {
        loaded.kernel = kernel;
        loaded.name = name;
    }
    return loaded;
}

std::size_t usual_emulator_memory() {
    return std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE)) / 2;
}

std::unique_ptr<EmulatedDevice> make_emulated_device(std::string reason, std::size_t memory_bytes) {
    return std::make_unique<EmulatedDevice>(std::move(reason), memory_bytes);
}

std::unique_ptr<EmulatedDevice> make_emulated_device(EmulatorSetup setup) {
    auto device = make_emulated_device(std::move(setup.reason), setup.memory_bytes);
    device->set(setup.settings);
    device->set_edits(std::move(setup.edits));
    device->set_launch_limits(setup.limits);
    device->set_progress(std::move(setup.progress));
    return device;
}

}  // namespace warpscope::compute
