#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/device/kernel_edit.h"
#include "compute/device/kernel_timings.h"

namespace warpscope::compute {

/// What went wrong on a device: the call or kernel, where, and the driver's or emulator's words.
struct DeviceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// More memory than the device has left.
struct OutOfMemory : DeviceError {
    using DeviceError::DeviceError;
};

/// The device is gone for this process or with its helper process: nothing that it held can be used
/// or read any more, and releasing it does nothing.
struct DeviceLost : DeviceError {
    using DeviceError::DeviceError;
};

enum class DeviceKind { cuda, emulator };

/// The order in which the emulator runs a block's warps; a GPU has its own.
enum class Schedule { random, run_to_barrier, reverse };

/// What a barrier of the emulator waits for: see emulator::BarrierPolicy. A GPU has its own.
enum class BarrierPolicy { volta, before_volta, strict };

struct RunSettings {
    Math math = Math::precise;
    Schedule schedule = Schedule::random;
    std::uint64_t seed = 1;                         ///< of the random schedule
    BarrierPolicy barriers = BarrierPolicy::volta;  ///< of the emulator
    bool operator==(const RunSettings&) const = default;
};

struct DeviceInfo {
    DeviceKind kind = DeviceKind::emulator;
    std::string name;              ///< "NVIDIA H200", "SIMT emulator"
    std::string reason;            ///< why this device and no other, a sentence
    int ordinal = -1;              ///< CUDA ordinal; -1 for the emulator
    bool in_helper = false;        ///< in a helper process: its addresses mean nothing to CUDA here
    std::string pci_bus_id{};      ///< "0000:3b:00.0"; empty for the emulator
    int compute_capability = 0;    ///< 90 for 9.0; 0 for the emulator
    int multiprocessors = 0;       ///< SMs, virtual ones on the emulator
    std::size_t cache_bytes = 0;   ///< L2; 0 where that isn't known
    std::size_t memory_bytes = 0;  ///< what allocations may take in all
    unsigned max_block_threads = 1024;
    std::size_t max_shared_bytes = std::size_t(48)
                                   << 10;  ///< a block's shared memory, static and dynamic
};

/// Address of T[] in a device's memory; passed to kernels as a 64-bit pointer.
template <class T>
struct DevicePointer {
    std::uint64_t address = 0;
    DevicePointer operator+(std::size_t elements) const { return {address + elements * sizeof(T)}; }
};

/// A kernel of one loaded image; owned by its device.
struct LoadedKernel {
    std::string name;
    virtual ~LoadedKernel() = default;
    /// Throws DeviceError where the parameters have not these sizes, as far as the device tells.
    virtual void check_arguments(std::span<const std::size_t> bytes) const = 0;

  protected:
    void check_argument(std::size_t index, std::size_t expected, std::size_t given) const;
    void check_each_argument(std::span<const std::size_t> expected,
                             std::span<const std::size_t> given) const;
};

/// Handle to a kernel that takes exactly Args...; valid as long as its device.
template <class... Args>
struct Kernel {
    const LoadedKernel* loaded = nullptr;
};

struct Shape {
    Dim3 grid;
    Dim3 block;
    unsigned shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// What ends a launch that does not end by itself: it then is a DeviceError, or a DeviceLost.
struct LaunchLimits {
    std::chrono::milliseconds time{0};  ///< of one launch; 0: no limit
    std::stop_token stop{};             ///< ends the launch that runs, and all that follow
};

/// Runs kernels and owns their memory. One in-order queue; `download` and `synchronize` wait for
/// it. Used from one thread. Every failure is a DeviceError.
class Device {
  public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    const DeviceInfo& info() const { return info_; }
    /// Complete up to launches that have not ended yet; never waits.
    virtual KernelTimings& timings() { return timings_; }

    const RunSettings& settings() const { return settings_; }
    /// Kernel handles taken before keep their math; experiments take theirs when they are made.
    void set(const RunSettings& settings) { settings_ = settings; }

    /// Kernels taken from now on come from these edits where one has their file; edits of another
    /// math than settings() are an error then.
    virtual void set_edits(KernelEdits edits);
    const KernelEdits& edits() const { return edits_; }
    /// Files that kernels were taken from so far.
    const std::set<std::string, std::less<>>& files() const { return files_; }
    /// Text of "kernels/ripple.cu", a name as PTX line information has it: of the edit, else of the
    /// build; empty for an unknown one.
    std::string_view source(std::string_view file) const;

    /// Of the launches that follow, where the device can keep them.
    virtual void set_launch_limits(const LaunchLimits& limits) { (void)limits; }

    virtual std::uint64_t allocate(std::size_t bytes) = 0;
    virtual void release(std::uint64_t address) noexcept = 0;
    virtual void upload(std::uint64_t to, const void* from, std::size_t bytes) = 0;
    virtual void download(void* to, std::uint64_t from, std::size_t bytes) = 0;
    /// Sets every byte, in queue order.
    virtual void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) = 0;
    virtual void synchronize() = 0;

    /// Makes host memory addressable by kernels: only where kernels run on the host (emulator).
    virtual std::uint64_t attach(void* host, std::size_t bytes) = 0;
    virtual void detach(std::uint64_t address) noexcept = 0;
    /// The cudaStream_t that launches go to; null on the emulator.
    virtual void* native_stream() const { return nullptr; }
    /// Schedules and seeds of the launches that follow depend on this number and their order alone.
    virtual void begin_frame(std::uint64_t frame) { (void)frame; }

    /// Finds `name` in kernels/`file`.cu; the argument sizes must match Args.
    template <class... Args>
    Kernel<Args...> kernel(std::string_view file, std::string_view name) {
        return checked<Args...>(load(file, name, edit_of(file)));
    }
    /// The same, always as the build has it: what edited kernels are held against.
    template <class... Args>
    Kernel<Args...> shipped_kernel(std::string_view file, std::string_view name) {
        return checked<Args...>(load(file, name, nullptr));
    }

    /// The same from PTX text. Throws DeviceError with the assembler's words.
    template <class... Args>
    Kernel<Args...> kernel_from_ptx(std::string_view ptx, std::string_view name) {
        return checked<Args...>(load_ptx(ptx, name));
    }

    /// Queues a launch and times it; `work` is what one launch does, for the rates on show.
    template <class... Args>
    void launch(Kernel<Args...> kernel, const Shape& shape, const Work& work,
                std::type_identity_t<Args>... args) {
        std::array<void*, sizeof...(Args)> pointers{static_cast<void*>(&args)...};
        launch_packed(*kernel.loaded, shape, work, pointers);
    }

    /// What kernels have printed since the last call, where the device hears of it: whole lines,
    /// the last ones of very many.
    virtual std::string take_output() { return {}; }

    /// Calls `queue` and times all that it queues as one launch called `name`: launches, which then
    /// have no times of their own, or what a library puts on native_stream(). Not to be nested.
    virtual void time_as(std::string_view name, const Work& work,
                         const std::function<void()>& queue) {
        (void)name, (void)work, queue();
    }

  protected:
    /// `edit`: in place of the build's image of the file; null: that one.
    virtual const LoadedKernel& load(std::string_view file, std::string_view name,
                                     const KernelEdit* edit) = 0;
    virtual const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) = 0;
    /// `arguments` point at the values, which live until the call returns.
    virtual void launch_packed(const LoadedKernel& kernel, const Shape& shape, const Work& work,
                               std::span<void* const> arguments) = 0;

    DeviceInfo info_;
    RunSettings settings_;
    KernelTimings timings_;

  private:
    template <class... Args>
    static Kernel<Args...> checked(const LoadedKernel& found) {
        found.check_arguments(std::array<std::size_t, sizeof...(Args)>{sizeof(Args)...});
        return {&found};
    }
    const KernelEdit* edit_of(std::string_view file);
    friend class HelperServer;  // serves kernels whose signatures only its client knows

    KernelEdits edits_;
    std::vector<std::shared_ptr<const KernelEdit>> used_;  ///< loaded kernels may be of any of them
    std::set<std::string, std::less<>> files_;
};

/// T[count] in a device's memory, released with the object. Fresh contents are undefined.
template <class T>
class Buffer {
  public:
    Buffer() = default;
    Buffer(Device& device, std::size_t count)
        : device_(&device), count_(count), address_(device.allocate(count * sizeof(T))) {}
    Buffer(Device& device, std::span<const T> values) : Buffer(device, values.size()) {
        upload(values);
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() {
        if (device_) device_->release(address_);
    }

    std::size_t size() const { return count_; }
    DevicePointer<T> pointer() const { return {address_}; }
    void upload(std::span<const T> values) {
        device_->upload(address_, values.data(), values.size_bytes());
    }
    void fill(std::uint8_t value) { device_->fill(address_, value, count_ * sizeof(T)); }
    std::vector<T> download() const {
        std::vector<T> values(count_);
        device_->download(values.data(), address_, count_ * sizeof(T));
        return values;
    }

  private:
    void swap(Buffer& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(count_, other.count_);
        std::swap(address_, other.address_);
    }

    Device* device_ = nullptr;
    std::size_t count_ = 0;
    std::uint64_t address_ = 0;
};

/// What `--device` says: "auto", "cuda", "cuda:N" or "emulator".
/// auto takes the first GPU that the driver can use and else the emulator; info().reason says why.
/// Throws DeviceError where the device asked for is not there, std::invalid_argument for other
/// words.
std::unique_ptr<Device> pick_device(std::string_view wish);

/// Every choice that pick_device accepts on this machine now, "auto" first: for lists in the UI.
std::vector<std::string> device_choices();

}  // namespace warpscope::compute
