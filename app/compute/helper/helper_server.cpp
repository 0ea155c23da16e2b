#include "compute/helper/helper_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <set>
#include <thread>

#include "compiler/nvrtc.h"
#include "compute/confinement/confinement.h"
#include "compute/cuda/cuda_device.h"
#include "compute/helper/helper_codec.h"
#include "compute/helper/helper_process.h"

namespace warpscope::compute {

/// Executes the requests of the app.
class HelperServer {
  public:
    HelperServer(std::span<std::byte> transfer_memory, const OpenDevice& open_device)
        : transfer_memory_(transfer_memory), open_device_(open_device) {}
    ~HelperServer() { close(); }
    HelperServer(const HelperServer&) = delete;
    HelperServer& operator=(const HelperServer&) = delete;

    WireWriter answer(WireReader& request);
    /// Prepares for later requests after this one is answered.
    void get_ready(const WireReader& request);

  private:
    struct Served {
        const LoadedKernel* kernel;
        std::vector<std::size_t> argument_bytes;
    };
    /// An address of the device, and the part of the transfer memory to copy to or from there.
    struct Transfer {
        std::uint64_t address;
        std::span<std::byte> data;
    };

    void perform(WireReader& request, WireWriter& answer);
    void perform_on(Device& device, WireReader& request, WireWriter& answer);
    const compiler::Nvrtc& nvrtc();
    void compile(WireReader& request, WireWriter& answer);
    void open(WireReader& request, WireWriter& answer);
    void close();
    void load(Device& device, WireReader& request, WireWriter& answer);
    void load_ptx(Device& device, WireReader& request, WireWriter& answer);
    void variable(Device& device, WireReader& request, WireWriter& answer);
    void served(const LoadedKernel& kernel, WireWriter& answer);
    Served& kernel(std::size_t index);
    void check(WireReader& request);
    void launch(Device& device, WireReader& request, WireWriter& answer);
    Transfer transfer(WireReader& request) const;

    std::span<std::byte> transfer_memory_;
    const OpenDevice& open_device_;
    std::optional<compiler::Nvrtc> nvrtc_;
    std::unique_ptr<Device> device_;
    std::set<std::uint64_t> allocated_;
    std::vector<Served> kernels_;
};

WireWriter HelperServer::answer(WireReader& request) {
    try {
        WireWriter answer(HelperAnswer::done);
        perform(request, answer);
        return answer;
    } catch (...) {
        return failed_answer();
    }
}

void HelperServer::get_ready(const WireReader& request) {
    if (request.word() != std::uint32_t(HelperRequest::compiler) || !nvrtc_) return;
    try {
        (void)nvrtc_->compile({"kernels/empty.cu", "__global__ void empty() {}"});
    } catch (const std::exception&) {
        // The request to compile will report it.
    }
}

void HelperServer::perform(WireReader& request, WireWriter& answer) {
    switch (HelperRequest(request.word())) {
        case HelperRequest::compiler:
            request.end();
            answer.text(nvrtc().version());
            return;
        case HelperRequest::compile:
            return compile(request, answer);
        case HelperRequest::open:
            return open(request, answer);
        default:
            break;
    }
    if (!device_) throw WireError("no device is open");
    perform_on(*device_, request, answer);
}

void HelperServer::perform_on(Device& device, WireReader& request, WireWriter& answer) {
    const auto handle = [&] {
        const auto [number, is_surface] = get<std::uint64_t, bool>(request);
        return TextureHandle{number, is_surface};
    };
    switch (HelperRequest(request.word())) {
        case HelperRequest::settings:
            device.set(get<RunSettings>(request));
            break;
        case HelperRequest::edits:
            device.set_edits(kernel_edits(request));
            break;
        case HelperRequest::load:
            load(device, request, answer);
            break;
        case HelperRequest::load_ptx:
            load_ptx(device, request, answer);
            break;
        case HelperRequest::variable:
            variable(device, request, answer);
            break;
        case HelperRequest::check:
            check(request);
            break;
        case HelperRequest::allocate:
            put(answer, *allocated_.insert(device.allocate(get<std::size_t>(request))).first);
            break;
        case HelperRequest::release: {
            const auto released = get<std::uint64_t>(request);
            if (allocated_.erase(released)) device.release(released);
            break;
        }
        case HelperRequest::upload: {
            const auto [to, data] = transfer(request);
            device.upload(to, data.data(), data.size());
            break;
        }
        case HelperRequest::download: {
            const auto [from, data] = transfer(request);
            device.download(data.data(), from, data.size());
            break;
        }
        case HelperRequest::fill: {
            const auto [to, value, bytes] = get<std::uint64_t, std::uint8_t, std::size_t>(request);
            device.fill(to, value, bytes);
            break;
        }
        case HelperRequest::copy: {
            const auto [to, from, bytes] = get<std::uint64_t, std::uint64_t, std::size_t>(request);
            device.copy(to, from, bytes);
            break;
        }
        case HelperRequest::make_texture: {
            const auto [texture, is_surface] = get<emulator::Texture, bool>(request);
            put(answer, device.make_texture(texture, is_surface).number);
            break;
        }
        case HelperRequest::release_texture:
            device.release_texture(handle());
            break;
        case HelperRequest::load_texture:
            device.load_texture(handle());
            break;
        case HelperRequest::store_surface:
            device.store_surface(handle());
            break;
        case HelperRequest::begin_frame:
            device.begin_frame(get<std::uint64_t>(request));
            break;
        case HelperRequest::launch:
            launch(device, request, answer);
            break;
        default:
            throw WireError("a request is unknown");
    }
    request.end();
}

HelperServer::Transfer HelperServer::transfer(WireReader& request) const {
    const auto [address, bytes] = get<std::uint64_t, std::size_t>(request);
    if (bytes > transfer_memory_.size()) throw WireError("a copy exceeds the transfer memory");
    return {address, transfer_memory_.first(bytes)};
}

/// Loads the compiler. From then on this process can do nothing but compile.
const compiler::Nvrtc& HelperServer::nvrtc() {
    if (device_) throw WireError("a process with a device does not compile");
    if (!nvrtc_) confine(nvrtc_.emplace().readable());
    return *nvrtc_;
}

void HelperServer::compile(WireReader& request, WireWriter& answer) {
    const compiler::Request text = compile_request(request);
    const std::chrono::seconds cpu_time(get<std::uint32_t>(request));
    request.end();
    const compiler::Nvrtc& compiler = nvrtc();
    limit_cpu_time(cpu_time);
    const compiler::Compiled compiled = compiler.compile(text);
    limit_cpu_time({});
    put(answer, compiled);
}

void HelperServer::open(WireReader& request, WireWriter& answer) {
    const std::string wish(request.text());
    request.end();
    if (nvrtc_) throw WireError("a process that compiles opens no device");
    close();
    device_ = open_device_(wish);
    if (device_->info().kind == DeviceKind::cuda) {
        pin_host_memory(transfer_memory_.data(), transfer_memory_.size());
        // The first use of the driver's assembler and the first launch are slower than later ones.
        constexpr std::string_view empty =
            ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n";
        device_->launch(device_->kernel_from_ptx<>(empty, "empty"), {}, {});
        device_->synchronize();
    }
    put(answer, device_->info());
}

void HelperServer::close() {
    if (!device_) return;
    kernels_.clear();
    for (const std::uint64_t address : allocated_) device_->release(address);
    allocated_.clear();
    device_.reset();
}

void HelperServer::load(Device& device, WireReader& request, WireWriter& answer) {
    const auto [file, name, edited] = get<std::string, std::string, bool>(request);
    served(device.load(file, name, edited ? device.edit_of(file) : nullptr), answer);
}

void HelperServer::load_ptx(Device& device, WireReader& request, WireWriter& answer) {
    const std::string ptx(request.text()), name(request.text());
    served(device.load_ptx(ptx, name), answer);
}

void HelperServer::variable(Device& device, WireReader& request, WireWriter& answer) {
    const auto [file, name, edited] = get<std::string, std::string, bool>(request);
    const DeviceVariable found =
        device.find_variable(file, name, edited ? device.edit_of(file) : nullptr);
    put(answer, found.address, found.bytes);
}

void HelperServer::served(const LoadedKernel& kernel, WireWriter& answer) {
    put(answer, kernels_.size());
    kernels_.push_back({&kernel, {}});
}

HelperServer::Served& HelperServer::kernel(std::size_t index) {
    if (index >= kernels_.size()) throw WireError("a kernel is not loaded");
    return kernels_[index];
}

void HelperServer::check(WireReader& request) {
    auto [index, bytes] = get<std::size_t, std::vector<std::size_t>>(request);
    Served& checked = kernel(index);
    checked.kernel->check_arguments(bytes);
    checked.argument_bytes = std::move(bytes);
}

void HelperServer::launch(Device& device, WireReader& request, WireWriter& answer) {
    const auto [index, launch_shape] = get<std::size_t, LaunchShape>(request);
    const Served& launched = kernel(index);
    std::string_view packed = request.text();
    struct alignas(16) Piece {
        std::byte bytes[16];
    };
    std::vector<std::vector<Piece>> values;
    std::vector<void*> pointers;
    for (const std::size_t bytes : launched.argument_bytes) {
        if (bytes > packed.size()) throw WireError("the arguments of a launch end too early");
        auto& value = values.emplace_back(bytes / sizeof(Piece) + 1);
        std::memcpy(value.data(), packed.data(), bytes);
        pointers.push_back(value.data());
        packed.remove_prefix(bytes);
    }
    if (!packed.empty()) throw WireError("a launch has too many arguments");
    device.launch_packed(*launched.kernel, launch_shape, {}, pointers);
    device.synchronize();
    std::fputs(device.take_output().c_str(), stdout);
    std::fflush(stdout);  // the driver prints there too
    const KernelTiming* timing = device.timings().find(launched.kernel->name);
    const BlockResources resources =
        timing ? timing->resources : BlockResources{launch_shape.dynamic_shared_bytes};
    put(answer, timing ? timing->last_ms() : 0.0F, resources.shared_bytes, resources.registers);
}

namespace {

/// Ends the process as soon as the other end of the socket is closed.
void end_with_client(int fd) {
    std::thread([fd] {
        for (;;) {
            pollfd socket{fd, POLLRDHUP, 0};
            if (::poll(&socket, 1, -1) > 0) ::_exit(0);
        }
    }).detach();
}

}  // namespace

void serve_requests(int fd, std::span<std::byte> transfer_memory, const OpenDevice& open_device) {
    HelperServer server(transfer_memory, open_device);
    WireWriter hello(HelperAnswer::hello);
    hello.number(protocol_version);
    for (bool first = true;; first = false) {
        WireReader request = receive_frame(fd);
        WireWriter answer = server.answer(request);
        if (first) send_frame(fd, hello);
        send_frame(fd, answer);
        server.get_ready(request);
    }
}

int serve_helper(int fd, const OpenDevice& open_device) {
    for (const int own : {fd, fd + 1}) ::fcntl(own, F_SETFD, FD_CLOEXEC);
    end_with_client(fd);
    try {
        const TransferMemory memory(Descriptor(fd + 1), transfer_bytes);
        serve_requests(fd, memory.bytes(), open_device);
    } catch (const HelperLost&) {
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpscope --helper: %s\n", error.what());
        return 1;
    }
}

}  // namespace warpscope::compute
