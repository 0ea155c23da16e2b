#include "compute/emulated/emulated_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "compute/device/kernel_images.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/splitmix64.h"
#include "emulator/program/error.h"

namespace warpscope::compute {
namespace {

using emulator::splitmix64;

/// More warp instructions than any experiment's launch takes, and over within a minute.
constexpr std::uint64_t instruction_budget = 20'000'000'000;

emulator::BarrierPolicy policy_of(BarrierPolicy policy) {
    switch (policy) {
        case BarrierPolicy::before_volta:
            return emulator::BarrierPolicy::before_volta;
        case BarrierPolicy::strict:
            return emulator::BarrierPolicy::strict;
        case BarrierPolicy::volta:
            break;
    }
    return emulator::BarrierPolicy::volta;
}

emulator::Schedule schedule_of(Schedule schedule) {
    switch (schedule) {
        case Schedule::run_to_barrier:
            return emulator::Schedule::run_to_barrier;
        case Schedule::reverse:
            return emulator::Schedule::reverse;
        case Schedule::random:
            break;
    }
    return emulator::Schedule::random_quantum;
}

struct EmulatedKernel : LoadedKernel {
    const emulator::Kernel* kernel = nullptr;

    void check_arguments(std::span<const std::size_t> bytes) const override {
        std::vector<std::size_t> expected;
        for (const emulator::Parameter& parameter : kernel->parameters)
            expected.push_back(parameter.size);
        check_each_argument(expected, bytes);
    }
};

template <class F>
auto translated(F work) {
    try {
        return work();
    } catch (const emulator::Error& error) {
        throw DeviceError(error.what());
    }
}

/// A kernel file of the build, parsed once for all devices; null where it has variables, whose
/// values are a device's own.
std::shared_ptr<const emulator::Module> shipped_module(const std::string& file, Math math) {
    static std::mutex mutex;
    static std::map<std::pair<std::string, Math>, std::shared_ptr<const emulator::Module>> parsed;
    const std::scoped_lock lock(mutex);
    auto& module = parsed[{file, math}];
    if (!module)
        module = emulator::Module::parse(kernel_image(file, math, "ptx"),
                                         fmt::format("kernels/{}.cu", file));
    return module->variables().empty() ? module : nullptr;
}

class Emulation : public EmulatedDevice {
  public:
    Emulation(std::string reason, std::size_t memory_bytes) {
        info_ = {.kind = DeviceKind::emulator,
                 .name = "SIMT emulator",
                 .reason = std::move(reason),
                 .multiprocessors = int(machine_.virtual_sms()),
                 .memory_bytes = memory_bytes,
                 .max_shared_bytes = emulator::Machine::max_shared_bytes};
    }

    std::uint64_t allocate(std::size_t bytes) override {
        if (machine_.memory().used_bytes() + bytes > info_.memory_bytes)
            throw OutOfMemory(fmt::format(
                "{:.2f} GiB asked for, {:.2f} GiB free in the emulator: choose a smaller size",
                double(bytes) / (1 << 30),
                double(info_.memory_bytes - machine_.memory().used_bytes()) / (1 << 30)));
        const auto address = translated(
            [&] { return reinterpret_cast<std::uint64_t>(machine_.memory().allocate(bytes)); });
        if (observer_) observer_->on_allocate(address, bytes);
        return address;
    }
    void release(std::uint64_t address) noexcept override {
        if (observer_) observer_->on_free(address);
        machine_.memory().free(reinterpret_cast<void*>(address));
    }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
        if (bytes) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
        if (observer_) observer_->on_host_write(to, bytes);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        if (bytes) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    }
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        std::memset(reinterpret_cast<void*>(to), value, bytes);
        if (observer_) observer_->on_host_write(to, bytes);
    }
    void synchronize() override {}

    std::uint64_t attach(void* host, std::size_t bytes) override {
        machine_.memory().attach(host, bytes);
        return reinterpret_cast<std::uint64_t>(host);
    }
    void detach(std::uint64_t address) noexcept override {
        machine_.memory().detach(reinterpret_cast<void*>(address));
    }
    void set_launch_limits(const LaunchLimits& limits) override { limits_ = limits; }
    std::string take_output() override { return machine_.take_output(); }
    void begin_frame(std::uint64_t frame) override {
        frame_ = frame;
        launch_in_frame_ = 0;
    }
    void time_as(std::string_view name, const Work& work,
                 const std::function<void()>& queue) override {
        const auto start = std::chrono::steady_clock::now();
        timed_apart_ = false;
        try {
            queue();
        } catch (...) {
            timed_apart_ = true;
            throw;
        }
        timed_apart_ = true;
        timings_.record(name, {}, {}, 0, work, milliseconds_since(start));
    }
    emulator::Observer* observe(emulator::Observer* observer) override {
        return std::exchange(observer_, observer);
    }
    emulator::Machine& machine() override { return machine_; }
    emulator::FrozenLaunch freeze_last(const std::function<void()>& launches) override {
        holds_ = true;
        held_.reset();
        try {
            launches();
        } catch (...) {
            holds_ = false;
            throw;
        }
        holds_ = false;
        if (!held_) throw DeviceError("no kernel was launched, so none can be looked at");
        return std::move(*held_);
    }

  protected:
    const LoadedKernel& load(std::string_view file, std::string_view name,
                             const KernelEdit* edit) override {
        auto& module = images_[{std::string(file), settings_.math, edit}];
        if (!module && !edit)
            if (auto shared =
                    translated([&] { return shipped_module(std::string(file), settings_.math); }))
                module = modules_.emplace_back(std::move(shared)).get();
        if (!module)
            module = &parse(edit ? edit->ptx : kernel_image(file, settings_.math, "ptx"),
                            fmt::format("kernels/{}.cu", file));
        return find(*module, name);
    }

    const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) override {
        return find(parse(ptx, "PTX text"), name);
    }

    void launch_packed(const LoadedKernel& loaded, const Shape& shape, const Work& work,
                       std::span<void* const> arguments) override {
        const emulator::Kernel& kernel = *static_cast<const EmulatedKernel&>(loaded).kernel;
        const auto dim = [](Dim3 d) { return emulator::Dim3{d.x, d.y, d.z}; };
        const emulator::Launch launch{dim(shape.grid), dim(shape.block), shape.shared_bytes};
        const emulator::Options options{
            .schedule = schedule_of(settings_.schedule),
            .barriers = policy_of(settings_.barriers),
            .seed =
                splitmix64(settings_.seed ^ splitmix64(frame_ ^ splitmix64(launch_in_frame_++))),
            .instruction_budget = instruction_budget,
            .time_limit = limits_.time,
            .stop = limits_.stop};
        const std::vector<const void*> values(arguments.begin(), arguments.end());
        const auto frozen =
            translated([&] { return emulator::Machine::freeze(kernel, launch, values, options); });
        if (holds_) {
            if (held_) run(*held_);
            held_ = frozen;
            return;
        }
        const auto start = std::chrono::steady_clock::now();
        run(frozen);
        if (timed_apart_)
            timings_.record(loaded.name, shape.grid, shape.block,
                            kernel.shared_bytes + shape.shared_bytes, work,
                            milliseconds_since(start));
    }

  private:
    static float milliseconds_since(std::chrono::steady_clock::time_point start) {
        return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start)
            .count();
    }

    void run(const emulator::FrozenLaunch& launch) {
        translated([&] { return machine_.run(launch, observer_); });
    }

    const emulator::Module& parse(std::string_view ptx, std::string name) {
        return *modules_.emplace_back(
            translated([&] { return emulator::Module::parse(ptx, std::move(name)); }));
    }

    const LoadedKernel& find(const emulator::Module& module, std::string_view name) {
        const emulator::Kernel* kernel = module.find(name);
        if (!kernel) throw DeviceError(fmt::format("{} has no kernel {}", module.name(), name));
        EmulatedKernel& loaded = kernels_[kernel];
        if (!loaded.kernel) {
            loaded.kernel = kernel;
            loaded.name = name;
        }
        return loaded;
    }

    emulator::Machine machine_;
    std::vector<std::shared_ptr<const emulator::Module>> modules_;
    std::map<std::tuple<std::string, Math, const KernelEdit*>, const emulator::Module*> images_;
    std::map<const emulator::Kernel*, EmulatedKernel> kernels_;
    emulator::Observer* observer_ = nullptr;
    LaunchLimits limits_;
    bool timed_apart_ = true;  // but for launches within time_as
    bool holds_ = false;
    std::optional<emulator::FrozenLaunch> held_;  // the newest launch, while they are held back
    std::uint64_t frame_ = 0;
    std::uint64_t launch_in_frame_ = 0;
};

}  // namespace

std::size_t usual_emulator_memory() {
    return std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE)) / 2;
}

std::unique_ptr<EmulatedDevice> make_emulated_device(std::string reason, std::size_t memory_bytes) {
    return std::make_unique<Emulation>(std::move(reason), memory_bytes);
}

std::unique_ptr<EmulatedDevice> make_emulated_device(EmulatorSetup setup) {
    auto device = make_emulated_device(std::move(setup.reason), setup.memory_bytes);
    device->set(setup.settings);
    device->set_edits(std::move(setup.edits));
    device->set_launch_limits(setup.limits);
    return device;
}

}  // namespace warpscope::compute
