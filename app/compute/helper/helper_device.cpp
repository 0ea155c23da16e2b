#include "compute/helper/helper_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "compute/helper/helper_codec.h"

namespace warpscope::compute {
namespace {

using std::chrono::milliseconds;

/// The limit of every request except a launch. The slowest one assembles a large PTX text.
constexpr milliseconds usual_patience = std::chrono::seconds(60);
/// How long a launch may go on after a stop request. Ending it earlier would end its helper
/// process, and starting another one takes longer.
constexpr milliseconds grace_of_launch{50};

std::string seconds_text(milliseconds time) {
    return fmt::format("{:g} s", double(time.count()) / 1000);
}

class HelperDevice;

struct HelperKernel : LoadedKernel {
    HelperDevice* device = nullptr;
    std::uint32_t index = 0;  ///< number of the kernel in the helper process
    mutable std::vector<std::size_t> argument_bytes;

    void check_arguments(std::span<const std::size_t> bytes) const override;
};

class HelperDevice : public Device {
    /// Sends a request and returns the values of its answer. `doing` names it in errors.
    template <class... Values>
    auto ask(WireWriter request, std::string_view doing,
             const Patience& patience = {usual_patience}) {
        if (!process_) throw DeviceLost(lost_);
        try {
            process_->send(request, patience);
            WireReader answer = process_->receive(patience);
            throw_if_failed(answer);
            if constexpr (sizeof...(Values) > 0) return get<Values...>(answer);
        } catch (const HelperLost& end) {
            lose(doing, end, patience.time);
        } catch (const DeviceLost& error) {
            const std::string complaint = process_->complaint();  // a failed assert() reports there
            lose(complaint.empty() ? error.what() : fmt::format("{}: {}", error.what(), complaint));
        } catch (const WireError& error) {
            lose(fmt::format("{}: the helper process sent an invalid answer: {}", doing,
                             error.what()));
        }
    }

  public:
    HelperDevice(std::unique_ptr<HelperProcess> process, DeviceInfo info, GiveBack give_back)
        : process_(std::move(process)), give_back_(std::move(give_back)) {
        info_ = std::move(info);
        info_.in_helper = true;
    }
    ~HelperDevice() override {
        if (give_back_) give_back_(std::move(process_));
    }

    void set_edits(KernelEdits edits) override;

    std::uint64_t allocate(std::size_t bytes) override {
        return ask<std::uint64_t>(frame_of(HelperRequest::allocate, bytes), "allocating memory");
    }
    void release(std::uint64_t address) noexcept override {
        if (!process_ || address == 0) return;
        try {
            ask(frame_of(HelperRequest::release, address), "releasing memory");
        } catch (const std::exception&) {
            // The next call that can throw reports it.
        }
    }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override;
    void download(void* to, std::uint64_t from, std::size_t bytes) override;
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        ask(frame_of(HelperRequest::fill, to, value, bytes), "filling memory");
    }
    void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
        ask(frame_of(HelperRequest::copy, to, from, bytes), "copying memory");
    }
    void synchronize() override {
        if (!process_) throw DeviceLost(lost_);
    }
    std::uint64_t attach(void*, std::size_t) override {
        if (!process_) throw DeviceLost(lost_);
        throw DeviceError("host memory can't be attached to another process: use a buffer");
    }
    void detach(std::uint64_t) noexcept override {}
    TextureHandle make_texture(const emulator::Texture& texture, bool is_surface) override {
        return {ask<std::uint64_t>(frame_of(HelperRequest::make_texture, texture, is_surface),
                                   "making a texture"),
                is_surface};
    }
    void release_texture(TextureHandle handle) noexcept override {
        if (!process_) return;
        try {
            ask_about(handle, HelperRequest::release_texture, "releasing a texture");
        } catch (const std::exception&) {
            // The next call that can throw reports it.
        }
    }
    void load_texture(TextureHandle handle) override {
        ask_about(handle, HelperRequest::load_texture, "copying a texture");
    }
    void store_surface(TextureHandle handle) override {
        ask_about(handle, HelperRequest::store_surface, "copying a surface");
    }
    void begin_frame(std::uint64_t frame) override {
        if (info_.kind == DeviceKind::cuda) return;
        ask(frame_of(HelperRequest::begin_frame, frame), "beginning a frame");
    }
    std::string take_output() override { return std::exchange(output_, {}); }

    void check(const HelperKernel& kernel, std::span<const std::size_t> bytes);

  protected:
    const LoadedKernel& load(std::string_view file, std::string_view name,
                             const KernelEdit* edit) override;
    const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) override;
    DeviceVariable find_variable(std::string_view file, const std::string& name,
                                 const KernelEdit* edit) override;
    void launch_packed(const LoadedKernel& kernel, const LaunchShape& shape, const Work& work,
                       std::span<void* const> arguments) override;
    void begin_group() override { group_ms_ = 0; }
    void end_group(std::string_view name, const Work& work) override {
        timings_.record(name, {}, {}, {}, work, group_ms_);
    }

  private:
    void ask_about(TextureHandle handle, HelperRequest what, std::string_view doing) {
        ask(frame_of(what, handle.number, handle.is_surface), doing);
    }
    [[noreturn]] void lose(const std::string& words);
    [[noreturn]] void lose(std::string_view doing, const HelperLost& end, milliseconds time);
    void send_settings();
    const HelperKernel& kernel_of(WireWriter request, std::string_view name);
    void keep_output();

    std::unique_ptr<HelperProcess> process_;  ///< null: the helper process was lost
    std::string lost_;                        ///< why it was lost
    GiveBack give_back_;
    std::optional<RunSettings> sent_;
    std::vector<std::unique_ptr<HelperKernel>> kernels_;
    std::map<std::tuple<std::string, std::string, Math, const KernelEdit*>, const HelperKernel*>
        of_files_;
    float group_ms_ = 0;  ///< sum of the launches within time_as()
    std::string output_;
};

void HelperKernel::check_arguments(std::span<const std::size_t> bytes) const {
    if (std::ranges::equal(bytes, argument_bytes) && !bytes.empty()) return;
    device->check(*this, bytes);
    argument_bytes.assign(bytes.begin(), bytes.end());
}

void HelperDevice::lose(const std::string& words) {
    process_.reset();
    lost_ = words;
    throw DeviceLost(words);
}

void HelperDevice::lose(std::string_view doing, const HelperLost& end, milliseconds time) {
    switch (end.how) {
        case HelperEnd::timed_out:
            lose(
                fmt::format("{} did not end within {}: an endless loop, or threads that wait at a "
                            "barrier that other threads never reach",
                            doing, seconds_text(time)));
        case HelperEnd::stopped:
            lose(fmt::format("{} was stopped", doing));
        case HelperEnd::used_up_cpu_time:
        case HelperEnd::closed:
            break;
    }
    lose(fmt::format("{} ended its helper process: {}", doing, end.what()));
}

void HelperDevice::set_edits(KernelEdits edits) {
    WireWriter request(HelperRequest::edits);
    put(request, edits);
    ask(std::move(request), "loading kernels");
    Device::set_edits(std::move(edits));
}

void HelperDevice::upload(std::uint64_t to, const void* from, std::size_t bytes) {
    if (!process_) throw DeviceLost(lost_);
    const auto* source = static_cast<const std::byte*>(from);
    for (std::size_t at = 0; at < bytes;) {
        const std::size_t part = std::min(bytes - at, process_->transfer_memory().size());
        std::memcpy(process_->transfer_memory().data(), source + at, part);
        ask(frame_of(HelperRequest::upload, to + at, part), "copying memory");
        at += part;
    }
}

void HelperDevice::download(void* to, std::uint64_t from, std::size_t bytes) {
    if (!process_) throw DeviceLost(lost_);
    auto* target = static_cast<std::byte*>(to);
    for (std::size_t at = 0; at < bytes;) {
        const std::size_t part = std::min(bytes - at, process_->transfer_memory().size());
        ask(frame_of(HelperRequest::download, from + at, part), "copying memory");
        std::memcpy(target + at, process_->transfer_memory().data(), part);
        at += part;
    }
}

void HelperDevice::send_settings() {
    if (sent_ == settings_) return;
    ask(frame_of(HelperRequest::settings, settings_), "setting up the device");
    sent_ = settings_;
}

const HelperKernel& HelperDevice::kernel_of(WireWriter request, std::string_view name) {
    auto kernel = std::make_unique<HelperKernel>();
    kernel->name = name;
    kernel->device = this;
    kernel->index = ask<std::uint32_t>(std::move(request), fmt::format("loading kernel {}", name));
    return *kernels_.emplace_back(std::move(kernel));
}

const LoadedKernel& HelperDevice::load(std::string_view file, std::string_view name,
                                       const KernelEdit* edit) {
    auto& known = of_files_[{std::string(file), std::string(name), settings_.math, edit}];
    if (known) return *known;
    send_settings();
    known = &kernel_of(frame_of(HelperRequest::load, file, name, edit != nullptr), name);
    return *known;
}

const LoadedKernel& HelperDevice::load_ptx(std::string_view ptx, std::string_view name) {
    WireWriter request(HelperRequest::load_ptx);
    request.text(ptx).text(name);
    return kernel_of(std::move(request), name);
}

DeviceVariable HelperDevice::find_variable(std::string_view file, const std::string& name,
                                           const KernelEdit* edit) {
    send_settings();
    const auto [address, bytes] = ask<std::uint64_t, std::size_t>(
        frame_of(HelperRequest::variable, file, name, edit != nullptr),
        fmt::format("finding the variable {}", name));
    return {address, bytes};
}

void HelperDevice::check(const HelperKernel& kernel, std::span<const std::size_t> bytes) {
    ask(frame_of(HelperRequest::check, kernel.index, std::vector(bytes.begin(), bytes.end())),
        fmt::format("checking the arguments of kernel {}", kernel.name));
}

void HelperDevice::launch_packed(const LoadedKernel& loaded, const LaunchShape& shape,
                                 const Work& work, std::span<void* const> arguments) {
    const auto& kernel = static_cast<const HelperKernel&>(loaded);
    if (progress_) progress_->begin(0);
    send_settings();
    std::string packed;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        packed.append(static_cast<const char*>(arguments[i]), kernel.argument_bytes[i]);
    WireWriter request = frame_of(HelperRequest::launch, kernel.index, shape);
    request.text(packed);
    const auto [milliseconds, shared_bytes, registers] =
        ask<float, unsigned, unsigned>(std::move(request), fmt::format("kernel {}", kernel.name),
                                       {limits_.time, limits_.stop, grace_of_launch});
    keep_output();
    if (times_each_launch())
        timings_.record(kernel.name, shape.grid, shape.block, {shared_bytes, registers}, work,
                        milliseconds);
    else
        group_ms_ += milliseconds;
}

void HelperDevice::keep_output() {
    constexpr std::size_t most = std::size_t(64) << 10;
    output_ += process_->take_output();
    if (output_.size() > most) output_.erase(0, output_.find('\n', output_.size() - most) + 1);
}

}  // namespace

void ask_for_device(HelperProcess& process, std::string_view wish) {
    WireWriter request(HelperRequest::open);
    process.send(request.text(wish), {usual_patience});
}

DeviceInfo opened_device(HelperProcess& process, const Patience& patience) {
    try {
        WireReader answer = process.receive(patience);
        throw_if_failed(answer);
        return get<DeviceInfo>(answer);
    } catch (const HelperLost& end) {
        throw DeviceLost(fmt::format("a helper process did not open its device: {}", end.what()));
    } catch (const WireError& error) {
        throw DeviceLost(fmt::format("a helper process sent an invalid answer: {}", error.what()));
    }
}

std::unique_ptr<Device> make_helper_device(std::unique_ptr<HelperProcess> process, DeviceInfo info,
                                           GiveBack give_back) {
    return std::make_unique<HelperDevice>(std::move(process), std::move(info),
                                          std::move(give_back));
}

}  // namespace warpscope::compute
