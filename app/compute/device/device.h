#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

#include "compute/device/exchange.h"
#include "compute/device/kernel_files.h"
#include "compute/device/kernel_timings.h"
#include "emulator/program/launch.h"
#include "emulator/program/launch_progress.h"
#include "emulator/warp/textures.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::compute {

/// A call on a device failed. The message names the call or the kernel and gives the reason, in the
/// words of the driver or of the emulator.
struct DeviceError : files::SentenceError {
    using SentenceError::SentenceError;
};

/// An allocation needs more memory than the device has free.
struct OutOfMemory : DeviceError {
    using DeviceError::DeviceError;
};

/// A block of a launch failed in the emulator: a deadlock, an invalid access, an endless loop.
struct BlockError : DeviceError {
    BlockError(files::Sentence words, emulator::Dim3 block, std::uint64_t memory = 0)
        : DeviceError(std::move(words)), block(block), memory(memory) {}
    emulator::Dim3 block;  ///< its index in the grid
    /// The address of the memory that an access is next to and should be in; 0: it is near none.
    std::uint64_t memory;
    /// LaunchLimits::time was over: that is no fault of the block.
    bool timed_out = false;
};

/// The device can't be used any more, because its GPU or its helper process has failed. The
/// contents of its memory are lost, and releasing that memory does nothing.
struct DeviceLost : DeviceError {
    using DeviceError::DeviceError;
};

/// The stop token of the launch limits has ended a launch or refused to begin it. What the launch
/// writes is then undefined. With other limits the device can be used again.
struct Cancelled : DeviceError {
    using DeviceError::DeviceError;
};

/// Throws Cancelled if the stop was requested. Long work on the host calls this at least every 50
/// ms; `work` names it in the message.
inline void throw_if_stopped(const std::stop_token& stop, std::string_view work) {
    if (stop.stop_requested()) throw Cancelled(std::string(work) + " was stopped before its end");
}

enum class DeviceKind { cuda, emulator };

using emulator::BarrierPolicy;
using emulator::Execution;
using emulator::Landing;
using emulator::LaunchProgress;
using emulator::LaunchShape;
using emulator::Schedule;

/// How kernels run. A GPU ignores all but the math.
struct RunSettings {
    Math math = Math::precise;
    Schedule schedule = Schedule::random;  ///< any but Schedule::manual
    std::uint64_t seed = 1;                ///< the seed of Schedule::random
    BarrierPolicy barriers = BarrierPolicy::volta;
    Landing landing = Landing::random;  ///< of asynchronous copies
    bool waits_for_compiler = false;    ///< if Execution is automatic: see WaitForCompiler
    /// The turns of the warps of one block, in place of `schedule`; the other blocks run to their
    /// barriers. Null: there are none. Never sent to a helper process.
    std::shared_ptr<const emulator::ScheduleFile> turns{};
    /// The emulator runs blocks in the order of the seed where it can be seen. Never sent to a
    /// helper process.
    bool blocks_by_seed = false;
    bool operator==(const RunSettings&) const = default;
};

struct DeviceInfo {
    DeviceKind kind = DeviceKind::emulator;
    std::string name;              ///< "NVIDIA H200", "SIMT emulator"
    std::string reason;            ///< why this device was chosen, as a clause
    int ordinal = -1;              ///< CUDA device ordinal; -1 for the emulator
    bool in_helper = false;        ///< in a helper process: CUDA can't use its addresses here
    std::string pci_bus_id{};      ///< "0000:3b:00.0"; empty for the emulator
    int compute_capability = 0;    ///< 90 for 9.0; 0 for the emulator
    int multiprocessors = 0;       ///< SMs of a GPU, virtual SMs of the emulator
    std::size_t cache_bytes = 0;   ///< L2 cache; 0 if unknown
    std::size_t memory_bytes = 0;  ///< the largest sum of all allocations
    unsigned max_block_threads = 1024;
    std::size_t max_shared_bytes = std::size_t(48) << 10;  ///< static and dynamic, of one block
};

/// Address of T[] in a device's memory; passed to kernels as a 64-bit pointer.
template <class T>
struct DevicePointer {
    std::uint64_t address = 0;
    DevicePointer operator+(std::size_t elements) const { return {address + elements * sizeof(T)}; }
};

/// A __device__ or __constant__ variable of a loaded kernel file.
struct DeviceVariable {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
};

/// A kernel of one loaded image; owned by its device.
class LoadedKernel {
  public:
    std::string name;
    virtual ~LoadedKernel() = default;
    /// Throws DeviceError if the kernel's parameters have other sizes, if the device knows them.
    virtual void check_arguments(std::span<const std::size_t> bytes) const = 0;

  protected:
    void check_sizes(std::span<const std::size_t> expected,
                     std::span<const std::size_t> given) const;
};

/// Handle to a kernel that takes exactly Args...; valid as long as its device.
template <class... Args>
struct Kernel {
    const LoadedKernel* loaded = nullptr;
};

/// When to end a launch that does not end by itself.
struct LaunchLimits {
    /// Limit of the time of one launch; 0: no limit. A longer launch throws DeviceError; if the
    /// device can't be used afterwards, DeviceLost. A GPU of this process ignores this limit.
    std::chrono::milliseconds time{0};
    /// Ends the current launch and refuses later ones: they throw Cancelled. A GPU of this process
    /// only refuses. A GPU in a helper process ends a long launch with its process: DeviceLost.
    std::stop_token stop{};
    /// In the emulator: `time` is a limit of the time in which no block ends.
    bool of_block = false;
};

/// A texture or a surface object. Both kinds have numbers of their own.
struct TextureHandle {
    std::uint64_t number = 0;  ///< what kernels get
    bool is_surface = false;
    auto operator<=>(const TextureHandle&) const = default;
};

/// Runs kernels and owns their memory. Work is queued and done in order; `download` and
/// `synchronize` wait until the queue is empty. A device is used by one thread. Every failure
/// throws DeviceError.
class Device {
  public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    const DeviceInfo& info() const { return info_; }
    /// The times of all launches that have ended. Never waits.
    virtual KernelTimings& timings() { return timings_; }

    const RunSettings& settings() const { return settings_; }
    /// Math applies to kernels that are found from now on, other settings to later launches.
    void set(const RunSettings& settings) { settings_ = settings; }

    /// Kernels found from now on come from these edits instead of the built-in files. To find a
    /// kernel of an edit that was compiled for another math than settings() throws DeviceError.
    virtual void set_edits(KernelEdits edits);
    const KernelEdits& edits() const { return edits_; }
    /// The files of all kernels that were found so far.
    const std::set<std::string, std::less<>>& files() const { return files_; }
    /// The kernel source of a file, edited or built in. `file` is a name as in the line information
    /// of PTX, "kernels/ripple.cu"; an unknown name gives an empty text.
    std::string_view source(std::string_view file) const;

    /// Sets the limits of later launches.
    void set_launch_limits(const LaunchLimits& limits) { limits_ = limits; }
    const LaunchLimits& launch_limits() const { return limits_; }
    /// Throws Cancelled if the stop of the limits was requested.
    void check_stop(std::string_view work) const { throw_if_stopped(limits_.stop, work); }
    /// Later launches report to `progress`; null: to nobody.
    void set_progress(std::shared_ptr<LaunchProgress> progress) { progress_ = std::move(progress); }
    const std::shared_ptr<LaunchProgress>& progress() const { return progress_; }

    /// The ranks that this device computes with; the device is the first rank of this process.
    /// Null: it computes alone.
    Exchange* exchange() const { return exchange_.get(); }
    /// Called by the exchange of this device: the device's name and reason then name the exchange
    /// too, and its memory is that of the rank with the least.
    void set_exchange(std::shared_ptr<Exchange> exchange);

    virtual std::uint64_t allocate(std::size_t bytes) = 0;
    virtual void release(std::uint64_t address) noexcept = 0;
    virtual void upload(std::uint64_t to, const void* from, std::size_t bytes) = 0;
    virtual void download(void* to, std::uint64_t from, std::size_t bytes) = 0;
    /// Sets every byte, in queue order.
    virtual void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) = 0;
    /// Copies within the memory of the device, in queue order. The ranges do not overlap.
    virtual void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) = 0;
    virtual void synchronize() = 0;

    /// Lets kernels access host memory. Only the emulator of this process can.
    virtual std::uint64_t attach(void* host, std::size_t bytes) = 0;
    virtual void detach(std::uint64_t address) noexcept = 0;
    /// Makes an object by whose handle kernels read a buffer. Throws DeviceError where the device
    /// has none of this kind.
    virtual TextureHandle make_texture(const emulator::Texture& texture, bool is_surface);
    virtual void release_texture(TextureHandle) noexcept {}
    /// Called before a launch that gets the handle, and behind it for a surface: a GPU copies the
    /// buffer into an array, and back. In the emulator, kernels access the buffer.
    virtual void load_texture(TextureHandle) {}
    virtual void store_surface(TextureHandle) {}
    /// The CUstream of this device's launches, which is a cudaStream_t too; null if it has none in
    /// this process.
    virtual void* native_stream() const { return nullptr; }
    /// The schedules of later launches depend only on the seed, this number and their order.
    virtual void begin_frame(std::uint64_t frame) { (void)frame; }

    /// Finds `name` in kernels/`file`.cu or its edit. Args must have the sizes of its parameters.
    template <class... Args>
    Kernel<Args...> kernel(std::string_view file, std::string_view name) {
        return checked<Args...>(load(file, name, edit_of(file)));
    }
    /// Finds `name` in the built-in kernels/`file`.cu, even if the file has an edit.
    template <class... Args>
    Kernel<Args...> shipped_kernel(std::string_view file, std::string_view name) {
        return checked<Args...>(load(file, name, nullptr));
    }
    /// Finds `name` as kernel() does, for arguments whose sizes in bytes are known only at run
    /// time.
    const LoadedKernel& kernel_of_sizes(std::string_view file, std::string_view name,
                                        std::span<const std::size_t> bytes);
    /// Finds the variable of this name in the PTX of kernels/`file`.cu or its edit; upload() and
    /// download() reach it. Throws DeviceError.
    DeviceVariable variable(std::string_view file, const std::string& name) {
        return find_variable(file, name, edit_of(file));
    }
    /// Gives the variables of an edit of kernels/`file`.cu the values that they had at the first
    /// call, which is made when a kernel of the edit is loaded and before its first launch. Does
    /// nothing for a file without an edit.
    void reset_variables(std::string_view file);
    /// Finds `name` in a PTX text. Throws DeviceError with the assembler's message.
    template <class... Args>
    Kernel<Args...> kernel_from_ptx(std::string_view ptx, std::string_view name) {
        return checked<Args...>(load_ptx(ptx, name));
    }

    /// Queues a launch and times it. `work` is the work of this launch. Throws Cancelled.
    template <class... Args>
    void launch(Kernel<Args...> kernel, const LaunchShape& shape, const Work& work,
                std::type_identity_t<Args>... args) {
        std::array<void*, sizeof...(Args)> pointers{static_cast<void*>(&args)...};
        check_stop(kernel.loaded->name);
        launch_packed(*kernel.loaded, shape, work, pointers);
    }

    /// Launches a kernel of kernel_of_sizes(). `arguments` point at the values.
    void launch(const LoadedKernel& kernel, const LaunchShape& shape, const Work& work,
                std::span<void* const> arguments);

    /// Returns and clears the lines that kernels have printed, the last ones if there are very
    /// many. A GPU of this process prints to standard output instead.
    virtual std::string take_output() { return {}; }

    /// Switches the timing of later launches and groups. It costs a GPU a microsecond a launch.
    void time_launches(bool on) { times_each_launch_ = on; }

    /// Calls `queue` and times all work that it queues as one launch called `name`. The launches in
    /// it get no times of their own. Throws Cancelled. Work of libraries on native_stream() is
    /// included. A call within another has no time of its own.
    void time_as(std::string_view name, const Work& work, const std::function<void()>& queue);

  protected:
    /// `edit` replaces the built-in image of the file; null: none does.
    virtual const LoadedKernel& load(std::string_view file, std::string_view name,
                                     const KernelEdit* edit) = 0;
    virtual const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) = 0;
    virtual DeviceVariable find_variable(std::string_view file, const std::string& name,
                                         const KernelEdit* edit) = 0;
    /// `arguments` point at the values, which live until the call returns.
    virtual void launch_packed(const LoadedKernel& kernel, const LaunchShape& shape,
                               const Work& work, std::span<void* const> arguments) = 0;

    /// False while time_as() calls its function.
    bool times_each_launch() const { return times_each_launch_; }
    /// Starts the clock of time_as().
    virtual void begin_group() {}
    /// Stops the clock and records the time. Not called if a launch of the group has failed.
    virtual void end_group(std::string_view name, const Work& work) { (void)name, (void)work; }

    DeviceInfo info_;
    RunSettings settings_;
    LaunchLimits limits_;
    KernelTimings timings_;
    std::shared_ptr<LaunchProgress> progress_;
    std::shared_ptr<Exchange> exchange_;

  private:
    template <class... Args>
    static Kernel<Args...> checked(const LoadedKernel& found) {
        found.check_arguments(std::array<std::size_t, sizeof...(Args)>{sizeof(Args)...});
        return {&found};
    }
    const KernelEdit* edit_of(std::string_view file);
    struct FirstValue {
        DeviceVariable variable;
        std::vector<std::byte> bytes;  ///< one byte: all are equal
    };
    FirstValue first_value(const DeviceVariable& variable);
    friend class HelperServer;  // loads kernels by name, without the types of their arguments

    KernelEdits edits_;
    /// Keeps the edits of loaded kernels, which refer to them.
    std::vector<std::shared_ptr<const KernelEdit>> used_;
    std::map<const KernelEdit*, std::vector<FirstValue>> first_values_;
    std::set<std::string, std::less<>> files_;
    bool times_each_launch_ = true;
};

/// T[count] in a device's memory, released with the object. Its first contents are undefined.
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

/// While it exists, a stop request does not end the work of a device: other ranks would wait for
/// it.
class Uninterrupted {
  public:
    explicit Uninterrupted(Device& device) : device_(device), limits_(device.launch_limits()) {
        device.set_launch_limits({limits_.time, {}});
    }
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;
    ~Uninterrupted() { device_.set_launch_limits(limits_); }

  private:
    Device& device_;
    const LaunchLimits limits_;
};

}  // namespace warpscope::compute
