#include "compute/helper/helper_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compute/device/device.h"
#include "compute/helper/helper_device.h"
#include "hostile_ptx.h"
#include "processes.h"

extern char** environ;

namespace warpscope::compute {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// A `warpscope --helper` at the other end of a plain socket.
class RawHelper {
  public:
    RawHelper() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        const Descriptor memory(::memfd_create("shared", MFD_CLOEXEC));
        EXPECT_EQ(::ftruncate(memory.get(), off_t(transfer_bytes)), 0);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, ends[1], 50);
        posix_spawn_file_actions_adddup2(&files, memory.get(), 51);
        char* const arguments[]{const_cast<char*>("warpscope"), const_cast<char*>("--helper"),
                                const_cast<char*>("50"), nullptr};
        EXPECT_EQ(::posix_spawn(&id, WARPSCOPE, &files, nullptr, arguments, environ), 0);
        posix_spawn_file_actions_destroy(&files);
        ::close(ends[1]);
        socket = ends[0];
    }
    ~RawHelper() {
        ::close(socket);
        if (!status) wait();
    }
    void say(const std::string& bytes) {
        EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
    }
    int wait() {
        int result = 0;
        EXPECT_EQ(::waitpid(id, &result, 0), id);
        status = result;
        return result;
    }
    void hang_up() { ::shutdown(socket, SHUT_RDWR); }

    pid_t id = -1;
    int socket = -1;
    std::optional<int> status;
};

std::string little_endian(std::uint32_t number) {
    std::string bytes(4, '\0');
    std::memcpy(bytes.data(), &number, 4);
    return bytes;
}

TEST(HelperServer, ExitsWith1AfterAnInvalidFrame) {
    const std::string launch = little_endian(std::uint32_t(HelperRequest::launch));
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.1\r\n"), little_endian(0), little_endian(3) + "abc",
          little_endian(0xffffffff), little_endian(4) + little_endian(999),
          little_endian(4) + launch, little_endian(4) + little_endian(4)}) {
        RawHelper helper;
        helper.say(bytes);
        const int status = helper.wait();
        EXPECT_TRUE(WIFEXITED(status)) << status;
        EXPECT_EQ(WEXITSTATUS(status), 1);
    }
}

TEST(HelperServer, ExitsWhenItsSocketIsClosed) {
    for (const std::string& bytes : {std::string(), little_endian(100) + "a part"}) {
        RawHelper helper;
        helper.say(bytes);
        helper.hang_up();
        const int status = helper.wait();
        EXPECT_TRUE(WIFEXITED(status)) << status;
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
}

TEST(HelperServer, RefusesAFileThatIsNotASocket) {
    char arguments[] = WARPSCOPE " --helper 0 </dev/null 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(arguments)), 2);
}

/// A shell script that is started in place of warpscope.
class Impostor {
  public:
    explicit Impostor(const std::string& lines) {
        std::ofstream(path_) << "#!/bin/sh\n" << lines << "\n";
        fs::permissions(path_, fs::perms::owner_all);
    }
    ~Impostor() { fs::remove(path_); }
    /// The message of the HelperLost that a request to it throws.
    std::string answer() const {
        HelperProcess process(path_);
        try {
            ask_for_device(process, "emulator");
            (void)process.receive({500ms, {}});
        } catch (const HelperLost& lost) {
            return lost.what();
        }
        return "an answer";
    }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_ = fs::path(testing::TempDir()) / ("impostor" + std::to_string(::getpid()));
};

TEST(HelperProcess, AnInvalidAnswerIsReportedAsTheEndOfTheProcess) {
    EXPECT_HAS(Impostor("head -c 4096 /dev/zero >&3; sleep 9").answer(), "invalid length");
    EXPECT_HAS(Impostor("printf '\\377\\377\\377\\377\\377' >&3; sleep 9").answer(),
               "invalid length");
    // A frame with another word than hello, a hello of another version, and an incomplete frame.
    EXPECT_HAS(Impostor("printf '\\10\\0\\0\\0\\7\\0\\0\\0\\1\\0\\0\\0' >&3; sleep 9").answer(),
               "another version");
    EXPECT_HAS(Impostor("printf '\\10\\0\\0\\0\\0\\0\\0\\0\\77\\0\\0\\0' >&3; sleep 9").answer(),
               "another version");
    EXPECT_HAS(Impostor("printf '\\10\\0\\0' >&3; exit 7").answer(), "exit code 7");
}

TEST(HelperProcess, AProcessThatDoesNotAnswerIsKilledWhenPatienceEnds) {
    const Impostor mute("sleep 9");
    HelperProcess process(mute.path());
    const pid_t id = process.id();
    ask_for_device(process, "emulator");
    EXPECT_FALSE(process.has_answered());
    try {
        (void)process.receive({100ms, {}});
        FAIL() << "it answered";
    } catch (const HelperLost& lost) {
        EXPECT_EQ(lost.how, HelperEnd::timed_out);
    }
    EXPECT_TRUE(tests::soon([&] { return tests::has_ended(id); }));
    EXPECT_THROW(ask_for_device(process, "emulator"), HelperLost);
}

TEST(HelperProcess, AProgramThatCannotBeStartedIsNamedInTheError) {
    try {
        HelperProcess process("/no/such/program");
        FAIL() << "it was started";
    } catch (const DeviceError& error) {
        EXPECT_HAS(std::string(error.what()), "/no/such/program: No such file");
    }
}

TEST(HelperProcess, ItsOutputIsCapturedAndDoesNotReachTheTerminal) {
    const Impostor loud("echo one; echo two; echo oops >&2; echo more >&2; exit 3");
    HelperProcess process(loud.path());
    try {
        (void)process.receive({5s, {}});
    } catch (const HelperLost& lost) {
        EXPECT_HAS(std::string(lost.what()), "exit code 3");
    }
    EXPECT_EQ(process.complaint(), "oops");
    EXPECT_EQ(process.take_output(), "one\ntwo\n");
    EXPECT_EQ(process.take_output(), "");
}

TEST(HelperProcess, InheritsNoOtherFileDescriptors) {
    const int left_open = ::open("/dev/null", O_RDONLY);
    ASSERT_EQ(::dup2(left_open, 77), 77);
    HelperProcess process(WARPSCOPE);
    ask_for_device(process, "emulator");
    (void)opened_device(process, {60s, {}});
    for (const auto& entry :
         fs::directory_iterator("/proc/" + std::to_string(process.id()) + "/fd")) {
        std::error_code ignored;
        const std::string target = fs::read_symlink(entry.path(), ignored).string();
        const int fd = std::stoi(entry.path().filename().string());
        EXPECT_TRUE(fd <= 4 || target.find("/dev/nvidia") == 0 || target.find("anon_inode") == 0)
            << fd << " -> " << target;
    }
    ::close(77);
    ::close(left_open);
}

TEST(HelperProcess, EndsWithItsParentEvenDuringALaunch) {
    for (const bool busy : {false, true}) {
        int report[2];
        ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
        const pid_t parent = ::fork();
        if (parent == 0) {
            // Ends without destructors, as after a crash.
            auto process = std::make_unique<HelperProcess>(WARPSCOPE);
            const pid_t id = process->id();
            ask_for_device(*process, "emulator");
            DeviceInfo info = opened_device(*process, {60s, {}});
            const auto device = make_helper_device(std::move(process), std::move(info));
            const auto spin = device->kernel_from_ptx<std::uint64_t>(tests::hostile_ptx, "spin");
            device->launch(spin, {{1}, {32}}, {}, std::uint64_t(1));
            const long ticks = tests::ticks_of(id);
            std::thread leave([&] {
                if (busy) tests::computes_soon(id, ticks);
                [[maybe_unused]] auto written = ::write(report[1], &id, sizeof(id));
                ::_exit(0);
            });
            if (busy) device->launch(spin, {{1}, {32}}, {}, ~std::uint64_t(0));
            leave.join();
        }
        pid_t id = -1;
        ASSERT_EQ(::read(report[0], &id, sizeof(id)), ssize_t(sizeof(id)));
        ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
        EXPECT_TRUE(tests::soon([&] { return tests::has_ended(id); }));
        ::close(report[0]);
        ::close(report[1]);
    }
}

}  // namespace
}  // namespace warpscope::compute
