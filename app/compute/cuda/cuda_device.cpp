#include "compute/cuda/cuda_device.h"

#include <array>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "compute/cuda/cuda_check.h"
#include "compute/device/kernel_images.h"
#include "compute/device/kernel_source.h"
#include "compute/device/ptx_entry.h"

namespace warpscope::compute {
namespace {

struct Event {
    cudaEvent_t handle = nullptr;
    Event() { cuda_check(cudaEventCreate(&handle), "creating a timing event"); }
    Event(Event&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        std::swap(handle, other.handle);
        return *this;
    }
    ~Event() {
        if (handle) cuda_ignore(cudaEventDestroy(handle));
    }
};

struct Library {
    cudaLibrary_t handle = nullptr;
    std::string ptx;  ///< PTX text; of a fatbin, the text that it was built from
    /// `what` names the image in errors.
    Library(std::string_view what, std::string text) : ptx(std::move(text)) {
        load(what, ptx.c_str());
    }
    Library(std::string_view what, const char* fatbin, std::string_view text) : ptx(text) {
        load(what, fatbin);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() { cuda_ignore(cudaLibraryUnload(handle)); }

  private:
    void load(std::string_view what, const char* image) {
        std::array<char, 4096> log{};
        cudaJitOption options[]{cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
        void* values[]{log.data(), reinterpret_cast<void*>(log.size())};
        const cudaError_t status =
            cudaLibraryLoadData(&handle, image, options, values, 2, nullptr, nullptr, 0);
        cuda_check(status, log[0] ? fmt::format("loading {}: {}", what, log.data())
                                  : fmt::format("loading {}", what));
    }
};

struct CudaKernel : LoadedKernel {
    cudaKernel_t handle = nullptr;  ///< null until `waiting` is assembled
    unsigned static_shared_bytes = 0;
    /// PTX of a kernel of an edit, assembled at its first launch: an edited file has many kernels,
    /// and most of them are never launched.
    std::string waiting;
    /// Read from the PTX text: the CUDA runtime knows the sizes only since CUDA 13.
    std::optional<std::vector<std::size_t>> parameter_bytes;

    const void* function() const { return static_cast<const void*>(handle); }

    void check_arguments(std::span<const std::size_t> bytes) const override {
        if (parameter_bytes) check_sizes(*parameter_bytes, bytes);
    }
};

/// A launch, or a group of launches, that may still be running.
struct Pending {
    std::string name;
    LaunchShape shape;  ///< dynamic_shared_bytes includes the static ones
    Work work;
    Event start, stop;
};

std::string bus_id_of(int ordinal) {
    std::array<char, 32> text{};
    cuda_check(cudaDeviceGetPCIBusId(text.data(), int(text.size()), ordinal),
               "asking for the GPU's PCI bus id");
    return text.data();
}

class CudaDevice : public Device {
  public:
    CudaDevice(int ordinal, std::string reason) {
        cuda_check(cudaSetDevice(ordinal), fmt::format("using GPU {}", ordinal));
        cudaDeviceProp properties{};
        cuda_check(cudaGetDeviceProperties(&properties, ordinal),
                   "asking for the GPU's properties");
        info_ = {.kind = DeviceKind::cuda,
                 .name = properties.name,
                 .reason = std::move(reason),
                 .ordinal = ordinal,
                 .pci_bus_id = bus_id_of(ordinal),
                 .compute_capability = 10 * properties.major + properties.minor,
                 .multiprocessors = properties.multiProcessorCount,
                 .cache_bytes = std::size_t(properties.l2CacheSize),
                 .memory_bytes = properties.totalGlobalMem,
                 .max_block_threads = unsigned(properties.maxThreadsPerBlock),
                 .max_shared_bytes = properties.sharedMemPerBlockOptin};
        cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    }

    ~CudaDevice() override {
        cuda_ignore(cudaStreamSynchronize(stream_));
        cuda_ignore(cudaStreamDestroy(stream_));
    }

    KernelTimings& timings() override {
        collect();
        return timings_;
    }

    std::uint64_t allocate(std::size_t bytes) override {
        void* memory = nullptr;
        const cudaError_t status = cudaMalloc(&memory, bytes);
        if (status == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            std::size_t free = 0, total = 0;
            cuda_ignore(cudaMemGetInfo(&free, &total));
            throw OutOfMemory(
                fmt::format("{:.2f} GiB needed, {:.2f} GiB free on {}: choose a smaller size",
                            double(bytes) / (1 << 30), double(free) / (1 << 30), info_.name));
        }
        check(status, "allocating memory");
        return reinterpret_cast<std::uint64_t>(memory);
    }
    void release(std::uint64_t address) noexcept override {
        cuda_ignore(cudaFree(reinterpret_cast<void*>(address)));
    }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
        copy(reinterpret_cast<void*>(to), from, bytes, cudaMemcpyHostToDevice);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        copy(to, reinterpret_cast<const void*>(from), bytes, cudaMemcpyDeviceToHost);
    }
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        check(cudaMemsetAsync(reinterpret_cast<void*>(to), value, bytes, stream_),
              "filling memory");
    }
    void synchronize() override {
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        collect();
    }

    std::uint64_t attach(void*, std::size_t) override {
        throw DeviceError("host memory can't be attached to a GPU: use a buffer");
    }
    void detach(std::uint64_t) noexcept override {}
    void* native_stream() const override { return stream_; }

  protected:
    const LoadedKernel& load(std::string_view file, std::string_view name,
                             const KernelEdit* edit) override;
    const LoadedKernel& load_ptx(std::string_view ptx, std::string_view name) override;
    void launch_packed(const LoadedKernel& kernel, const LaunchShape& shape, const Work& work,
                       std::span<void* const> arguments) override;
    void begin_group() override {
        collect();
        group_.emplace(Pending{{}, {}, {}, spare_event(), spare_event()});
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
    const LoadedKernel& find(const Library& library, std::string_view name);
    const CudaKernel* find_alone(const KernelEdit& edit, const std::string& name);
    void assemble(CudaKernel& kernel);

    void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying memory");
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
    }

    void record(const Event& event) {
        check(cudaEventRecord(event.handle, stream_), "timing a launch");
    }

    /// cuda_check() that names the kernels that may have failed if the GPU is lost: CUDA reports
    /// the failure of a kernel at a later call.
    void check(cudaError_t status, std::string_view what, int line = __builtin_LINE()) {
        const auto kernels = cuda_is_lost(status) ? running() : std::string();
        cuda_check(status, kernels.empty() ? what : kernels, __builtin_FILE(), line);
    }
    std::string running() const;

    /// Reads the times of launches that have ended. Never waits.
    void collect() {
        while (!pending_.empty() && cudaEventQuery(pending_.front().stop.handle) == cudaSuccess) {
            Pending& done = pending_.front();
            float ms = 0;
            cuda_check(cudaEventElapsedTime(&ms, done.start.handle, done.stop.handle),
                       "reading a kernel's time");
            timings_.record(done.name, done.shape.grid, done.shape.block,
                            done.shape.dynamic_shared_bytes, done.work, ms);
            spare_.push_back(std::move(done.start));
            spare_.push_back(std::move(done.stop));
            pending_.pop_front();
        }
    }

    Event spare_event() {
        if (spare_.empty()) return {};
        Event event = std::move(spare_.back());
        spare_.pop_back();
        return event;
    }

    cudaStream_t stream_ = nullptr;
    std::list<Library> libraries_;
    std::map<std::tuple<std::string, Math, const KernelEdit*>, const Library*> images_;
    std::map<cudaKernel_t, CudaKernel> kernels_;
    std::map<std::pair<const KernelEdit*, std::string>, CudaKernel, std::less<>> edited_;
    std::deque<Pending> pending_;
    std::optional<Pending> group_;  ///< of the time_as() that is running
    std::vector<Event> spare_;
};

const LoadedKernel& CudaDevice::load(std::string_view file, std::string_view name,
                                     const KernelEdit* edit) {
    if (edit)
        if (const CudaKernel* kernel = find_alone(*edit, std::string(name))) return *kernel;
    auto& library = images_[{std::string(file), settings_.math, edit}];
    if (!library) {
        const auto what = kernel_path(file);
        library = edit ? &libraries_.emplace_back(what, edit->ptx)
                       : &libraries_.emplace_back(
                             what, kernel_image(file, settings_.math, "fatbin").data(),
                             kernel_image(file, settings_.math, "ptx"));
    }
    return find(*library, name);
}

const LoadedKernel& CudaDevice::load_ptx(std::string_view ptx, std::string_view name) {
    return find(libraries_.emplace_back("PTX text", std::string(ptx)), name);
}

cudaKernel_t handle_of(const Library& library, const std::string& name) {
    cudaKernel_t handle = nullptr;
    cuda_check(cudaLibraryGetKernel(&handle, library.handle, name.c_str()),
               fmt::format("kernel {}", name));
    return handle;
}

void take_handle(CudaKernel& kernel, cudaKernel_t handle) {
    kernel.handle = handle;
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel.function()),
               fmt::format("attributes of kernel {}", kernel.name));
    kernel.static_shared_bytes = unsigned(attributes.sharedSizeBytes);
}

const LoadedKernel& CudaDevice::find(const Library& library, std::string_view name) {
    const std::string text(name);
    const cudaKernel_t handle = handle_of(library, text);
    CudaKernel& kernel = kernels_[handle];
    if (!kernel.handle) {
        kernel.name = text;
        kernel.parameter_bytes = ptx_parameter_bytes(library.ptx, name);
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
    const Library& library =
        libraries_.emplace_back(fmt::format("kernel {}", kernel.name), std::move(kernel.waiting));
    take_handle(kernel, handle_of(library, kernel.name));
}

void CudaDevice::launch_packed(const LoadedKernel& loaded, const LaunchShape& shape,
                               const Work& work, std::span<void* const> arguments) {
    const auto& kernel = static_cast<const CudaKernel&>(loaded);
    if (progress_) progress_->begin(0);
    collect();
    // This device made the kernel; its users see a const kernel that does not change for them.
    if (!kernel.handle) assemble(const_cast<CudaKernel&>(kernel));
    constexpr unsigned default_shared_bytes = 48 * 1024;  // more needs an attribute
    if (shape.dynamic_shared_bytes > default_shared_bytes)
        cuda_check(
            cudaFuncSetAttribute(kernel.function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(shape.dynamic_shared_bytes)),
            fmt::format("{} bytes of shared memory for {}", shape.dynamic_shared_bytes,
                        kernel.name));
    std::optional<Pending> pending;
    if (times_each_launch()) {
        pending.emplace(Pending{kernel.name, shape, work, spare_event(), spare_event()});
        pending->shape.dynamic_shared_bytes += kernel.static_shared_bytes;
        record(pending->start);
    }
    const auto dim = [](Dim3 d) { return dim3{d.x, d.y, d.z}; };
    check(
        cudaLaunchKernel(kernel.function(), dim(shape.grid), dim(shape.block),
                         const_cast<void**>(arguments.data()), shape.dynamic_shared_bytes, stream_),
        fmt::format("launching {} with grid {}x{}x{}, block {}x{}x{}", kernel.name, shape.grid.x,
                    shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z));
    if (!pending) return;
    record(pending->stop);
    pending_.push_back(std::move(*pending));
}

/// "kernel ripple_txty": the launches that may still be running; empty if there are none.
std::string CudaDevice::running() const {
    std::set<std::string> names;
    for (const Pending& pending : pending_) names.insert(pending.name);
    if (names.empty()) return {};
    return fmt::format("{} {}", names.size() == 1 ? "kernel" : "one of the kernels",
                       fmt::join(names, ", "));
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

CudaSurvey survey() {
    int driver = 0, runtime = 0, devices = 0;
    cuda_ignore(cudaDriverGetVersion(&driver));
    cuda_ignore(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) return {0, "no NVIDIA driver is installed"};
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaSuccess && devices > 0) return {devices, {}};
    (void)cudaGetLastError();
    if (status == cudaErrorInsufficientDriver)
        return {0, fmt::format("the driver supports CUDA {}, this build needs {}",
                               version_text(driver), version_text(runtime))};
    if (status == cudaErrorNoDevice || status == cudaSuccess)
        return {0, "the NVIDIA driver shows no GPU"};
    return {0, fmt::format("the NVIDIA driver reports: {}", cudaGetErrorString(status))};
}

}  // namespace

const CudaSurvey& survey_cuda() {
    static const CudaSurvey result = survey();
    return result;
}

std::unique_ptr<Device> make_cuda_device(int ordinal, std::string reason) {
    return std::make_unique<CudaDevice>(ordinal, std::move(reason));
}

void pin_host_memory(void* memory, std::size_t bytes) noexcept {
    cuda_ignore(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
}

}  // namespace warpscope::compute
