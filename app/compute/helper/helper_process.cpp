#include "compute/helper/helper_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "compute/confinement/confinement.h"
#include "compute/device/device.h"
#include "compute/helper/spawn.h"

extern char** environ;

namespace warpscope::compute {
namespace {

constexpr int helper_socket = 3, helper_memory = 4;  // file descriptors in the helper process

[[noreturn]] void can_not_start(std::string_view what, int error) {
    throw DeviceError(
        fmt::format("a helper process can't be started: {}: {}", what, std::strerror(error)));
}

int checked(int result, std::string_view what) {
    if (result < 0) can_not_start(what, errno);
    return result;
}

Descriptor memory_file(const char* name, unsigned flags = 0) {
    return Descriptor(checked(::memfd_create(name, MFD_CLOEXEC | flags), "memory"));
}

/// Duplicates a file descriptor to a number above those of the helper process.
Descriptor high(int fd) {
    return Descriptor(
        checked(::fcntl(fd, F_DUPFD_CLOEXEC, helper_memory + 1), "a file descriptor"));
}

pid_t spawn(const std::filesystem::path& program, char* const* environment,
            const Descriptor& socket, const Descriptor& memory, const Descriptor& output,
            const Descriptor& errors) {
    const Descriptor ends[]{high(output.get()), high(errors.get()), high(socket.get()),
                            high(memory.get())};
    SpawnFiles files;
    files.give_null(0, O_RDONLY);
    files.give(ends[0].get(), 1);
    files.give(ends[1].get(), 2);
    files.give(ends[2].get(), helper_socket);
    files.give(ends[3].get(), helper_memory);
    files.close_from(helper_memory + 1);
    const SpawnAttributes attributes;
    std::string name = "warpscope", option = "--helper", fd = std::to_string(helper_socket);
    char* const arguments[]{name.data(), option.data(), fd.data(), nullptr};
    pid_t id = -1;
    const int error =
        ::posix_spawn(&id, program.c_str(), files.get(), attributes.get(), arguments, environment);
    if (error) can_not_start(program.string(), error);
    return id;
}

/// Waits for the end of a killed process, so that it does not stay as a zombie. A GPU's driver may
/// delay the end, so a thread waits instead of the caller.
void reap(pid_t id) {
    if (::waitpid(id, nullptr, WNOHANG) != 0) return;
    std::thread([id] { ::waitpid(id, nullptr, 0); }).detach();
}

std::string status_text(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("it was killed by signal {} ({})", WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    return fmt::format("it ended with exit code {}", WEXITSTATUS(status));
}

std::string read_end(int fd, std::size_t most) {
    struct stat facts {};
    if (::fstat(fd, &facts) != 0 || facts.st_size <= 0) return {};
    const auto size = std::size_t(facts.st_size), bytes = std::min(size, most);
    std::string text(bytes, '\0');
    const ssize_t got = ::pread(fd, text.data(), bytes, off_t(size - bytes));
    text.resize(got > 0 ? std::size_t(got) : 0);
    return text;
}

}  // namespace

TransferMemory::TransferMemory(const Descriptor& file, std::size_t bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category());
    bytes_ = {static_cast<std::byte*>(at), bytes};
}

TransferMemory::~TransferMemory() {
    ::munmap(bytes_.data(), bytes_.size());
}

HelperProcess::HelperProcess(const std::filesystem::path& program, Environment environment) {
    std::array<int, 2> ends{};
    checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "a socket");
    socket_ = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]);
    // With O_APPEND each write goes to the end, even after take_output() has truncated the file.
    output_ = memory_file("output");
    errors_ = memory_file("errors");
    for (const Descriptor* file : {&output_, &errors_})
        checked(::fcntl(file->get(), F_SETFL, O_APPEND), "memory");

    const Descriptor memory = memory_file("transfer", MFD_ALLOW_SEALING);
    checked(::ftruncate(memory.get(), off_t(transfer_bytes)), "memory");
    // The size is sealed, because this process would crash at an access if the file had shrunk.
    checked(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "memory");
    try {
        transfer_memory_.emplace(memory, transfer_bytes);
    } catch (const std::system_error& error) {
        can_not_start("memory", error.code().value());
    }
    std::vector<std::string> few = compiler_environment();
    const std::vector<char*> variables = pointers_to(few);
    id_ = spawn(program, environment == Environment::whole ? environ : variables.data(), theirs,
                memory, output_, errors_);
}

HelperProcess::~HelperProcess() {
    kill();
}

void HelperProcess::kill() noexcept {
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    reap(std::exchange(id_, -1));
}

/// Waits up to half a second for the exit status of a process that has closed its socket.
HelperLost HelperProcess::how_it_ended() {
    for (int attempt = 0; id_ >= 0 && attempt < 100; ++attempt) {
        int status = 0;
        if (::waitpid(id_, &status, WNOHANG) == id_) {
            id_ = -1;
            const bool spent = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
            return {spent ? HelperEnd::used_up_cpu_time : HelperEnd::closed, status_text(status)};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {HelperEnd::closed, "it closed its socket"};
}

void HelperProcess::give_up(const HelperLost& lost) {
    const HelperLost end = lost.how == HelperEnd::closed ? how_it_ended() : lost;
    kill();
    throw end;
}

void HelperProcess::send(WireWriter& request, const Patience& patience) {
    if (id_ < 0) throw HelperLost(HelperEnd::closed, "it has ended before");
    try {
        send_frame(socket_.get(), request, patience);
    } catch (const HelperLost& lost) {
        give_up(lost);
    }
}

WireReader HelperProcess::receive(const Patience& patience) {
    if (id_ < 0) throw HelperLost(HelperEnd::closed, "it has ended before");
    try {
        if (!said_hello_) expect_hello(patience);
        return receive_frame(socket_.get(), patience);
    } catch (const HelperLost& lost) {
        give_up(lost);
    } catch (const WireError& error) {
        kill();
        throw HelperLost(HelperEnd::closed,
                         fmt::format("it sent an invalid answer: {}", error.what()));
    }
}

void HelperProcess::expect_hello(const Patience& patience) {
    WireReader hello = receive_frame(socket_.get(), patience);
    if (hello.word() != std::uint32_t(HelperAnswer::hello) || hello.number() != protocol_version)
        throw WireError("it comes from another version of the program");
    said_hello_ = true;
}

std::string HelperProcess::take_output() {
    constexpr std::size_t most = std::size_t(64) << 10;
    std::string text = read_end(output_.get(), most);
    if (text.empty()) return text;
    if (::ftruncate(output_.get(), 0) != 0) return text;
    if (text.size() == most) text.erase(0, text.find('\n') + 1);
    return text;
}

std::string HelperProcess::complaint() const {
    std::array<char, 512> start{};
    const ssize_t got = ::pread(errors_.get(), start.data(), start.size(), 0);
    if (got <= 0) return {};
    const std::string_view text(start.data(), std::size_t(got));
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace warpscope::compute
