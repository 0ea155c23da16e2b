#include "compute/cuda/cuda_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "compute/cuda/cuda_texture.h"
#include "compute/cuda/driver.h"
#include "compute/cuda/survey.h"
#include "compute/device/device.h"
#include "compute/device/kernel_files.h"
#include "compute/device/ptx_text.h"

namespace warpscope::compute {
namespace {

/// A loaded image of kernels, in the context of the thread that loads it. Both functions throw
/// DeviceError with the driver's message; `what` names the image.
class CudaLibrary {
  public:
    explicit CudaLibrary(std::string ptx) : ptx_(std::move(ptx)) {}
    ~CudaLibrary();
    CudaLibrary(const CudaLibrary&) = delete;
    CudaLibrary& operator=(const CudaLibrary&) = delete;

    /// Loads machine code that was made from the text. False if there is none for this GPU or this
    /// driver.
    bool load_binary(std::string_view what, const char* fatbin);
    /// Loads the text, which the driver compiles. `driver_version` is that of cuDriverGetVersion.
    void load_text(std::string_view what, int driver_version);

    CudaModule handle() const { return handle_; }
    /// The PTX that the kernels come from.
    const std::string& ptx() const { return ptx_; }

  private:
    std::pair<CudaStatus, std::string> try_to_load(const char* image);

    CudaModule handle_ = nullptr;
    std::string ptx_;
};

void check_loaded(CudaStatus status, std::string_view what, const std::string& log) {
    cuda_check(status, log.empty() ? fmt::format("loading {}", what)
                                   : fmt::format("loading {}: {}", what, log));
}

CudaLibrary::~CudaLibrary() {
    if (handle_) cuda().module_unload(handle_);
}

bool CudaLibrary::load_binary(std::string_view what, const char* fatbin) {
    const auto [status, log] = try_to_load(fatbin);
    if (status == CudaStatuses::no_binary_for_gpu || status == CudaStatuses::invalid_image ||
        status == CudaStatuses::unsupported_ptx_version)
        return false;
    check_loaded(status, what, log);
    return true;
}

void CudaLibrary::load_text(std::string_view what, int driver_version) {
    auto [status, log] = try_to_load(ptx_.c_str());
    if (status == CudaStatuses::unsupported_ptx_version)
        std::tie(status, log) = try_to_load(ptx_for_driver(ptx_, driver_version).c_str());
    check_loaded(status, what, log);
}

/// Loads an image. Returns the driver's status and its compiler's messages.
std::pair<CudaStatus, std::string> CudaLibrary::try_to_load(const char* image) {
    std::array<char, 4096> log{};
    int options[]{5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size in bytes
    void* values[]{log.data(), reinterpret_cast<void*>(log.size())};
    const CudaStatus status = cuda().module_load(&handle_, image, 2, options, values);
    return {status, log.data()};
}

/// While it exists, the progress says that the driver compiles kernels.
class Compiling {
  public:
    explicit Compiling(std::shared_ptr<LaunchProgress> progress) : progress_(std::move(progress)) {
        if (progress_) progress_->set_compiling(true);
    }
    Compiling(const Compiling&) = delete;
    Compiling& operator=(const Compiling&) = delete;
    ~Compiling() {
        if (progress_) progress_->set_compiling(false);
    }

  private:
    const std::shared_ptr<LaunchProgress> progress_;
};

/// A moment in the work of a stream, once it is recorded. Throws DeviceError where it can't be
/// made.
struct TimingEvent {
    CudaEvent handle = nullptr;

    TimingEvent() { cuda_check(cuda().event_create(&handle, 0), "creating a timing event"); }
    TimingEvent(TimingEvent&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    TimingEvent& operator=(TimingEvent&& other) noexcept {
        std::swap(handle, other.handle);
        return *this;
    }
    ~TimingEvent() {
        if (handle) cuda().event_destroy(handle);
    }
};

/// Launches a kernel whose blocks form clusters. Throws DeviceError where the driver has none.
CudaStatus launch_clusters(CudaFunction function, const LaunchShape& shape, CudaStream stream,
                           void** arguments) {
    const CudaDriver& driver = *cuda_driver();
    if (!driver.launch_with)
        throw DeviceError("clusters of blocks need an NVIDIA driver of CUDA 11.8 or newer");
    const Dim3 &grid = shape.grid, &block = shape.block, &cluster = shape.cluster;
    const CudaLaunchAttribute attributes[] = {
        {CudaLaunchAttribute::cluster_dimension, 0, {cluster.x, cluster.y, cluster.z}},
        {CudaLaunchAttribute::cooperative, 0, {1}}};
    const CudaLaunch launch{{grid.x, grid.y, grid.z},
                            {block.x, block.y, block.z},
                            shape.dynamic_shared_bytes,
                            stream,
                            attributes,
                            shape.cooperative ? 2u : 1u};
    return driver.launch_with(&launch, function, arguments, nullptr);
}

struct CudaKernel : LoadedKernel {
    CudaFunction handle = nullptr;  ///< null until `waiting` is assembled
    BlockResources resources;       ///< without dynamic shared memory
    /// PTX of a kernel of an edit, assembled at its first launch: an edited file has many kernels,
    /// and most of them are never launched.
    std::string waiting;
    /// Read from the PTX text: drivers know the sizes only since CUDA 12.4.
    std::optional<std::vector<std::size_t>> parameter_bytes;

    void check_arguments(std::span<const std::size_t> bytes) const override {
        if (parameter_bytes) check_sizes(*parameter_bytes, bytes);
    }
};

/// A launch, or a group of launches, that may still be running.
struct Pending {
    std::string name;
    LaunchShape shape;
    BlockResources resources;
    Work work;
    TimingEvent start, stop;
};

class CudaDevice : public Device {
  public:
    CudaDevice(int ordinal, std::string reason) : context_(ordinal) {
        info_ = cuda_info(context_.device(), ordinal, std::move(reason));
        cuda_check(cuda().version(&driver_version_), "asking for the driver's version");
        constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
        cuda_check(cuda().stream_create(&stream_, non_blocking), "creating a stream");
    }

    ~CudaDevice() override {
        exchange_.reset();  // it ends what other ranks could keep waiting on the stream
        context_.make_current();
        textures_.clear();
        cuda().stream_synchronize(stream_);
        cuda().stream_destroy(stream_);
    }

    KernelTimings& timings() override {
        context_.make_current();
        collect();
        return timings_;
    }

    std::uint64_t allocate(std::size_t bytes) override {
        if (bytes == 0) return 0;  // the driver refuses it
        context_.make_current();
        CudaAddress address = 0;
        const CudaStatus status = cuda().memory_allocate(&address, bytes);
        if (status == CudaStatuses::out_of_memory) {
            std::size_t free = 0, total = 0;
            cuda().memory_info(&free, &total);
            throw OutOfMemory(
                fmt::format("{:.2f} GiB needed, {:.2f} GiB free on {}: choose a smaller size",
                            double(bytes) / (1 << 30), double(free) / (1 << 30), info_.name));
        }
        check(status, "allocating memory");
        return address;
    }
    void release(std::uint64_t address) noexcept override {
        if (address == 0) return;
        context_.make_current();
        cuda().memory_free(address);
    }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
        if (bytes == 0) return;
        context_.make_current();
        check(cuda().copy_to_device(to, from, bytes, stream_), "copying memory");
        check(cuda().stream_synchronize(stream_), "waiting for the GPU");
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        if (bytes == 0) return;
        context_.make_current();
        check(cuda().copy_to_host(to, from, bytes, stream_), "copying memory");
        check(cuda().stream_synchronize(stream_), "waiting for the GPU");
    }
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        if (bytes == 0) return;
        context_.make_current();
        check(cuda().memory_set(to, value, bytes, stream_), "filling memory");
    }
    void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
        if (bytes == 0) return;
        context_.make_current();
        check(cuda().copy_on_device(to, from, bytes, stream_), "copying memory");
    }
    void synchronize() override {
        context_.make_current();
        check(cuda().stream_synchronize(stream_), "waiting for the GPU");
        collect();
    }

    std::uint64_t attach(void*, std::size_t) override {
        throw DeviceError("host memory can't be attached to a GPU: use a buffer");
    }
    void detach(std::uint64_t) noexcept override {}
    TextureHandle make_texture(const emulator::Texture& texture, bool is_surface) override {
        context_.make_current();
        auto image = std::make_unique<CudaTexture>(texture, is_surface);
        const TextureHandle handle{image->handle(), is_surface};
        textures_[handle] = std::move(image);
        return handle;
    }
    void release_texture(TextureHandle handle) noexcept override {
        context_.make_current();
        textures_.erase(handle);
    }
    void load_texture(TextureHandle handle) override {
        context_.make_current();
        textures_.at(handle)->load(stream_);
    }
    void store_surface(TextureHandle handle) override {
        context_.make_current();
        textures_.at(handle)->store(stream_);
    }
    void* native_stream() const override { return stream_; }

  protected:
    const LoadedKernel& load(std::string_view file, std::string_view name,
                             const KernelEdit* edit) override;
    const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) override;
    DeviceVariable find_variable(std::string_view file, const std::string& name,
                                 const KernelEdit* edit) override;
    void launch_packed(const LoadedKernel& kernel, const LaunchShape& shape, const Work& work,
                       std::span<void* const> arguments) override;
    void begin_group() override {
        context_.make_current();
        collect();
        group_.emplace(Pending{{}, {}, {}, {}, spare_event(), spare_event()});
        record(group_->start);
    }
    void end_group(std::string_view name, const Work& work) override {
        group_->name = name;
        group_->work = work;
        record(group_->stop);
        pending_.push_back(std::move(*group_));
        group_.reset();
    }

  private:
    const CudaLibrary& library_of(std::string_view file, const KernelEdit* edit);
    const CudaLibrary& add_text(std::string_view what, std::string ptx);
    const CudaLibrary& add_built_in(std::string_view file);
    const LoadedKernel& find(const CudaLibrary& library, std::string_view name);
    const CudaKernel* find_alone(const KernelEdit& edit, const std::string& name);
    void assemble(CudaKernel& kernel);

    void record(const TimingEvent& event) {
        check(cuda().event_record(event.handle, stream_), "timing a launch");
    }

    /// Does what cuda_check() does, and names the kernels that may have failed if the GPU is lost:
    /// CUDA reports the failure of a kernel at a later call.
    void check(CudaStatus status, std::string_view what, int line = __builtin_LINE()) {
        const auto kernels = cuda_is_lost(status) ? running() : std::string();
        cuda_check(status, kernels.empty() ? what : kernels, __builtin_FILE(), line);
    }
    std::string running() const;

    /// Reads the times of launches that have ended. Never waits.
    void collect() {
        while (!pending_.empty() &&
               cuda().event_query(pending_.front().stop.handle) == CudaStatuses::success) {
            Pending& done = pending_.front();
            float ms = 0;
            cuda_check(cuda().event_elapsed(&ms, done.start.handle, done.stop.handle),
                       "reading a kernel's time");
            timings_.record(done.name, done.shape.grid, done.shape.block, done.resources, done.work,
                            ms);
            spare_.push_back(std::move(done.start));
            spare_.push_back(std::move(done.stop));
            pending_.pop_front();
        }
    }

    TimingEvent spare_event() {
        if (spare_.empty()) return {};
        TimingEvent event = std::move(spare_.back());
        spare_.pop_back();
        return event;
    }

    PrimaryContext context_;
    int driver_version_ = 0;
    CudaStream stream_ = nullptr;
    std::list<CudaLibrary> libraries_;
    std::map<std::tuple<std::string, Math, const KernelEdit*>, const CudaLibrary*> images_;
    std::map<CudaFunction, CudaKernel> kernels_;
    std::map<TextureHandle, std::unique_ptr<CudaTexture>> textures_;
    std::map<std::pair<const KernelEdit*, std::string>, CudaKernel, std::less<>> edited_;
    std::deque<Pending> pending_;
    std::optional<Pending> group_;  ///< the group of the time_as() that is running
    std::vector<TimingEvent> spare_;
};

const LoadedKernel& CudaDevice::load(std::string_view file, std::string_view name,
                                     const KernelEdit* edit) {
    context_.make_current();
    if (edit)
        if (const CudaKernel* kernel = find_alone(*edit, std::string(name))) return *kernel;
    return find(library_of(file, edit), name);
}

const CudaLibrary& CudaDevice::library_of(std::string_view file, const KernelEdit* edit) {
    auto& library = images_[{std::string(file), settings_.math, edit}];
    if (!library) library = edit ? &add_text(kernel_path(file), edit->ptx) : &add_built_in(file);
    return *library;
}

DeviceVariable CudaDevice::find_variable(std::string_view file, const std::string& name,
                                         const KernelEdit* edit) {
    context_.make_current();
    DeviceVariable found;
    cuda_check(cuda().module_variable(&found.address, &found.bytes, library_of(file, edit).handle(),
                                      name.c_str()),
               fmt::format("variable {}", name));
    return found;
}

const LoadedKernel& CudaDevice::load_ptx(std::string_view ptx, std::string_view name) {
    context_.make_current();
    return find(add_text("PTX text", std::string(ptx)), name);
}

const CudaLibrary& CudaDevice::add_text(std::string_view what, std::string ptx) {
    const Compiling compiling(progress_);
    CudaLibrary& library = libraries_.emplace_back(std::move(ptx));
    try {
        library.load_text(what, driver_version_);
    } catch (...) {
        libraries_.pop_back();
        throw;
    }
    return library;
}

/// Loads the machine code that the build made, where it fits this GPU and driver; otherwise the
/// driver compiles the PTX.
const CudaLibrary& CudaDevice::add_built_in(std::string_view file) {
    const std::string what = kernel_path(file);
    const std::string_view ptx = kernel_ptx(file, settings_.math);
    const std::string_view fatbin = kernel_binary(file, settings_.math);
    if (!fatbin.empty()) {
        CudaLibrary& library = libraries_.emplace_back(std::string(ptx));
        if (library.load_binary(what, fatbin.data())) return library;
        libraries_.pop_back();
    }
    return add_text(what, std::string(ptx));
}

CudaFunction handle_of(const CudaLibrary& library, const std::string& name) {
    CudaFunction handle = nullptr;
    cuda_check(cuda().module_function(&handle, library.handle(), name.c_str()),
               fmt::format("kernel {}", name));
    return handle;
}

void take_handle(CudaKernel& kernel, CudaFunction handle) {
    kernel.handle = handle;
    const auto attribute = [&](int which) {
        int value = 0;
        cuda_check(cuda().function_attribute(&value, which, handle),
                   fmt::format("attributes of kernel {}", kernel.name));
        return unsigned(value);
    };
    kernel.resources = {attribute(CudaAttributes::function_static_shared),
                        attribute(CudaAttributes::function_registers)};
}

const LoadedKernel& CudaDevice::find(const CudaLibrary& library, std::string_view name) {
    const std::string text(name);
    const CudaFunction handle = handle_of(library, text);
    CudaKernel& kernel = kernels_[handle];
    if (!kernel.handle) {
        kernel.name = text;
        kernel.parameter_bytes = ptx_parameter_bytes(library.ptx(), name);
        take_handle(kernel, handle);
    }
    return kernel;
}

/// Prepares one kernel of an edit without the others. Null if it needs the whole file.
const CudaKernel* CudaDevice::find_alone(const KernelEdit& edit, const std::string& name) {
    const auto known = edited_.find(std::pair{&edit, name});
    if (known != edited_.end()) return &known->second;
    auto sizes = ptx_parameter_bytes(edit.ptx, name);
    auto text = ptx_of_kernel(edit.ptx, name);
    if (!sizes || !text) return nullptr;
    CudaKernel& kernel = edited_[{&edit, name}];
    kernel.name = name;
    kernel.parameter_bytes = std::move(sizes);
    kernel.waiting = std::move(*text);
    return &kernel;
}

void CudaDevice::assemble(CudaKernel& kernel) {
    const CudaLibrary& library =
        add_text(fmt::format("kernel {}", kernel.name), std::move(kernel.waiting));
    take_handle(kernel, handle_of(library, kernel.name));
}

void CudaDevice::launch_packed(const LoadedKernel& loaded, const LaunchShape& shape,
                               const Work& work, std::span<void* const> arguments) {
    const auto& kernel = static_cast<const CudaKernel&>(loaded);
    context_.make_current();
    if (progress_) progress_->begin(0);
    collect();
    // This device made the kernel; its users see a const kernel that does not change for them.
    if (!kernel.handle) assemble(const_cast<CudaKernel&>(kernel));
    constexpr unsigned default_shared_bytes = 48 * 1024;  // more needs an attribute
    if (shape.dynamic_shared_bytes > default_shared_bytes)
        cuda_check(
            cuda().function_set_attribute(kernel.handle, CudaAttributes::function_dynamic_shared,
                                          int(shape.dynamic_shared_bytes)),
            fmt::format("{} bytes of shared memory for {}", shape.dynamic_shared_bytes,
                        kernel.name));
    std::optional<Pending> pending;
    if (times_each_launch()) {
        pending.emplace(
            Pending{kernel.name, shape, kernel.resources, work, spare_event(), spare_event()});
        pending->resources.shared_bytes += shape.dynamic_shared_bytes;
        record(pending->start);
    }
    const auto launch = [&](auto function, auto... more) {
        return function(kernel.handle, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
                        shape.block.y, shape.block.z, shape.dynamic_shared_bytes, stream_,
                        const_cast<void**>(arguments.data()), more...);
    };
    check(shape.cluster.count() > 1
              ? launch_clusters(kernel.handle, shape, stream_, const_cast<void**>(arguments.data()))
          : shape.cooperative ? launch(cuda().launch_cooperative)
                              : launch(cuda().launch, nullptr),
          fmt::format("launching {} with grid {}x{}x{}, block {}x{}x{}", kernel.name, shape.grid.x,
                      shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z));
    if (!pending) return;
    record(pending->stop);
    pending_.push_back(std::move(*pending));
}

/// Names the launches that may still be running, "kernel ripple_txty"; empty if there are none.
std::string CudaDevice::running() const {
    std::set<std::string> names;
    for (const Pending& pending : pending_) names.insert(pending.name);
    if (names.empty()) return {};
    return fmt::format("{} {}", names.size() == 1 ? "kernel" : "one of the kernels",
                       fmt::join(names, ", "));
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int ordinal, std::string reason) {
    return std::make_unique<CudaDevice>(ordinal, std::move(reason));
}

void pin_host_memory(void* memory, std::size_t bytes) noexcept {
    if (cuda_driver()) cuda().memory_register(memory, bytes, 0);
}

}  // namespace warpscope::compute
