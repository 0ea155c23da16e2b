#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compute/device/device.h"
#include "emulator/judge.h"
#include "emulator/launcher.h"
#include "emulator/observe/observer_list.h"

namespace warpscope::compute {

/// Half of the machine's memory: with more, the machine would begin to swap.
std::size_t usual_emulator_memory();

/// The SIMT emulator as a device: launches run at once, on the CPU, from the built-in PTX.
class EmulatedDevice final : public Device {
  public:
    /// `reason` and `memory_bytes` as in DeviceInfo.
    EmulatedDevice(std::string reason, std::size_t memory_bytes);

    /// Shows later launches and allocations to `observer` (null: nobody). Returns the previous one.
    emulator::Observer* observe(emulator::Observer* observer) {
        return std::exchange(observer_, observer);
    }
    /// Has `judge`, whose launcher is launcher(), run later launches (null: nobody judges them).
    /// Returns the previous one.
    emulator::Judge* judge(emulator::Judge* judge) { return std::exchange(judge_, judge); }
    emulator::Launcher& launcher() { return launcher_; }
    emulator::Machine& machine() { return launcher_.machine(); }
    /// For the bench and tests.
    void set(const emulator::FastPaths& paths) { launcher_.set(paths); }
    using Device::set;
    /// Runs all launches that `launches` makes except the last one, which is returned; with the
    /// name of a kernel, those before its first launch. Throws DeviceError if there is no launch.
    emulator::FrozenLaunch freeze_last(const std::function<void()>& launches,
                                       std::string_view kernel = {});

    std::uint64_t allocate(std::size_t bytes) override;
    void release(std::uint64_t address) noexcept override;
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override;
    void download(void* to, std::uint64_t from, std::size_t bytes) override;
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override;
    void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) override;
    void synchronize() override {}
    std::uint64_t attach(void* host, std::size_t bytes) override;
    TextureHandle make_texture(const emulator::Texture& texture, bool is_surface) override;
    void release_texture(TextureHandle handle) noexcept override;
    void detach(std::uint64_t address) noexcept override;
    std::string take_output() override { return launcher_.machine().take_output(); }
    void begin_frame(std::uint64_t frame) override;

  protected:
    const LoadedKernel& load(std::string_view file, std::string_view name,
                             const KernelEdit* edit) override;
    const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) override;
    DeviceVariable find_variable(std::string_view file, const std::string& name,
                                 const KernelEdit* edit) override;
    void launch_packed(const LoadedKernel& loaded, const LaunchShape& shape, const Work& work,
                       std::span<void* const> arguments) override;
    void begin_group() override { group_start_ = Clock::now(); }
    void end_group(std::string_view name, const Work& work) override;

  private:
    using Clock = std::chrono::steady_clock;

    struct EmulatedKernel : LoadedKernel {
        const emulator::Kernel* kernel = nullptr;
        const emulator::Kernel* unoptimized = nullptr;  ///< null: its PTX is not known
        bool built_in = false;
        void check_arguments(std::span<const std::size_t> bytes) const override;
    };

    /// Returns how the launch has run.
    emulator::Judge::Ran run(const emulator::FrozenLaunch& launch);
    template <typename F>
    void tell(const F& event);  ///< those who observe
    const std::shared_ptr<const emulator::Module>& module_of(std::string_view file,
                                                             const KernelEdit* edit);
    const std::shared_ptr<const emulator::Module>& parse(std::string_view ptx, std::string name);
    EmulatedKernel& find(const std::shared_ptr<const emulator::Module>& module,
                         std::string_view name);
    /// The kernel without optimization; null: the emulator cannot run it.
    const emulator::Kernel* find_unoptimized(const KernelEdit& edit, std::string_view name);
    emulator::LaunchSettings next_settings(const EmulatedKernel& kernel);

    emulator::Launcher launcher_;
    std::vector<std::shared_ptr<const emulator::Module>> modules_;
    std::map<std::tuple<std::string, Math, const KernelEdit*>,
             std::shared_ptr<const emulator::Module>>
        images_;
    std::map<const KernelEdit*, std::shared_ptr<const emulator::Module>> unoptimized_;
    std::map<const emulator::Kernel*, EmulatedKernel> kernels_;
    emulator::Observer* observer_ = nullptr;
    emulator::Judge* judge_ = nullptr;
    Clock::time_point group_start_;
    Engine engine_ = Engine::interpreted;           ///< the engine of the newest launch
    bool freezes_ = false;                          ///< true within freeze_last()
    std::string freezes_kernel_;                    ///< the kernel of freeze_last(); empty: any
    std::optional<emulator::FrozenLaunch> frozen_;  ///< the newest launch within freeze_last()
    std::uint64_t frame_ = 0;
    std::uint64_t launch_in_frame_ = 0;
};

std::unique_ptr<EmulatedDevice> make_emulated_device(
    std::string reason, std::size_t memory_bytes = usual_emulator_memory());

/// An emulator that is like another device: with that device's settings and kernels.
struct EmulatorSetup {
    std::string reason;  ///< DeviceInfo::reason
    std::size_t memory_bytes = usual_emulator_memory();
    RunSettings settings{};
    KernelEdits edits{};
    LaunchLimits limits{};
    std::shared_ptr<LaunchProgress> progress{};
};
std::unique_ptr<EmulatedDevice> make_emulated_device(EmulatorSetup setup);

/// While it exists, a device has an observer beside the one that observes it already.
class Observing {
  public:
    Observing(EmulatedDevice& device, emulator::Observer& observer)
        : device_(device), before_(device.observe(&observer)) {
        if (!before_) return;
        both_.add(*before_);
        both_.add(observer);
        device_.observe(&both_);
    }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;
    ~Observing() { device_.observe(before_); }

  private:
    EmulatedDevice& device_;
    emulator::Observer* before_;
    emulator::ObserverList both_;
};

}  // namespace warpscope::compute
