#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "compute/helper/helper_codec.h"
#include "compute/helper/helper_process.h"
#include "compute/helper/helper_server.h"
#include "fuzz.h"

// The protocol between the app and its helper processes. The first byte of an input says who sends
// the rest: 'a' answers of a helper process to the app, everything else requests of the app.
namespace {

using namespace warpscope::compute;
namespace compiler = warpscope::compiler;

/// Answers wait in the socket until all requests are sent. So many bytes of requests have answers
/// that the socket has room for.
constexpr std::size_t most_bytes = 1600;

struct AnyKernel : LoadedKernel {
    void check_arguments(std::span<const std::size_t> bytes) const override {
        if (bytes.size() > 4) throw DeviceError("a kernel has at most 4 parameters");
    }
};

/// A device that checks addresses, as a GPU does, and only reads the arguments of its launches.
class CheckedDevice : public Device {
  public:
    std::uint64_t allocate(std::size_t bytes) override {
        if (bytes > 4096) throw OutOfMemory("there are 4 KiB");
        const std::uint64_t address = next_;
        memory_[address].resize(bytes);
        next_ += 8192;
        return address;
    }
    void release(std::uint64_t address) noexcept override { memory_.erase(address); }
    void upload(std::uint64_t to, const void* from, std::size_t bytes) override {
        if (std::byte* const at = find(to, bytes)) std::memcpy(at, from, bytes);
    }
    void download(void* to, std::uint64_t from, std::size_t bytes) override {
        if (const std::byte* const at = find(from, bytes)) std::memcpy(to, at, bytes);
    }
    void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) override {
        if (std::byte* const at = find(to, bytes)) std::memset(at, value, bytes);
    }
    void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
        std::byte* const at = find(to, bytes);
        const std::byte* const source = find(from, bytes);
        if (at && source) std::memmove(at, source, bytes);
    }
    void synchronize() override {}
    std::uint64_t attach(void*, std::size_t) override { return 0; }
    void detach(std::uint64_t) noexcept override {}

  protected:
    const LoadedKernel& load(std::string_view, std::string_view, const KernelEdit*) override {
        return kernel_;
    }
    const LoadedKernel& load_ptx(std::string_view, std::string_view) override { return kernel_; }
    DeviceVariable find_variable(std::string_view, const std::string&, const KernelEdit*) override {
        return {};
    }
    void launch_packed(const LoadedKernel&, const LaunchShape&, const Work&,
                       std::span<void* const> arguments) override {
        for (const void* argument : arguments)
            sum_ += *static_cast<const volatile unsigned char*>(argument);
    }

  private:
    /// Null: nothing is there to copy.
    std::byte* find(std::uint64_t address, std::size_t bytes) {
        if (bytes == 0) return nullptr;
        const auto after = memory_.upper_bound(address);
        if (after == memory_.begin()) throw DeviceError("no allocation is there");
        auto& [begin, held] = *std::prev(after);
        const std::size_t offset = address - begin;
        if (offset > held.size() || bytes > held.size() - offset)
            throw DeviceError("the allocation ends before");
        return held.data() + offset;
    }

    AnyKernel kernel_;
    std::map<std::uint64_t, std::vector<std::byte>> memory_;
    std::uint64_t next_ = 1 << 20;
    unsigned sum_ = 0;
};

/// A socket whose other end has sent these bytes and sends no more.
struct Connection {
    Descriptor sender, receiver;

    explicit Connection(std::string_view bytes) {
        int ends[2];
        warpscope::tests::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
                                  "a pair of sockets can be made");
        sender = Descriptor(ends[0]);
        receiver = Descriptor(ends[1]);
        const ssize_t sent = ::send(sender.get(), bytes.data(), bytes.size(), 0);
        warpscope::tests::require(sent == ssize_t(bytes.size()), "a socket has room for an input");
        ::shutdown(sender.get(), SHUT_WR);
    }
};

/// The frames before the first one that asks for the compiler, which belongs to NVIDIA.
std::string_view without_compiler(std::string_view frames) {
    std::size_t at = 0;
    std::uint32_t words[2];
    while (frames.size() - at >= sizeof words) {
        std::memcpy(words, frames.data() + at, sizeof words);
        if (words[1] <= std::uint32_t(HelperRequest::compile)) break;
        const std::size_t frame = sizeof(std::uint32_t) + std::size_t(words[0]);
        if (words[0] < sizeof(std::uint32_t) || frame > frames.size() - at) return frames;
        at += frame;
    }
    return frames.size() - at >= sizeof words ? frames.substr(0, at) : frames;
}

/// Reads an answer as the app does; `kind` stands for the request that it answers. The last kind is
/// a request for the compiler, as the helper process reads it.
void read_answer(WireReader& answer, std::size_t kind) {
    throw_if_failed(answer);
    switch (kind % 6) {
        case 0:
            get<DeviceInfo>(answer);
            return;
        case 1:
            compiled(answer);
            return;
        case 2:
            get<std::uint64_t>(answer);
            return answer.end();
        case 3:
            get<RunSettings>(answer);
            return;
        case 4:
            get<LaunchShape>(answer);
            return;
        default:
            compile_request(answer);
    }
}

void read_answers(int fd) {
    for (std::size_t kind = 0;; ++kind) {
        try {
            WireReader answer = receive_frame(fd);
            read_answer(answer, kind);
        } catch (const HelperLost&) {
            return;  // no more bytes
        } catch (const WireError&) {
            return;  // the app gives the helper process up
        } catch (const DeviceError&) {
            continue;
        } catch (const compiler::CompileError&) {
            continue;
        } catch (const compiler::NoCompiler&) {
            continue;
        }
    }
}

void answer_requests(std::string_view requests) {
    static std::vector<std::byte> transfer_memory(4096);
    const Connection connection(requests);
    try {
        serve_requests(connection.receiver.get(), transfer_memory,
                       [](std::string_view) { return std::make_unique<CheckedDevice>(); });
    } catch (const HelperLost&) {
        ::shutdown(connection.receiver.get(), SHUT_WR);
    } catch (const WireError&) {
        ::shutdown(connection.receiver.get(), SHUT_WR);
    }
    read_answers(connection.sender.get());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view rest =
        warpscope::tests::text_of(data, std::min(size, most_bytes)).substr(1);
    if (data[0] == 'a')
        read_answers(Connection(rest).receiver.get());
    else
        answer_requests(without_compiler(rest));
    return 0;
}
