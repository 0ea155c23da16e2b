#include "gl/context.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

namespace warpscope::gl {
namespace {

std::string word(std::uint32_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string message(std::uint32_t object, std::uint32_t opcode, const std::string& arguments) {
    const auto size = static_cast<std::uint32_t>(8 + arguments.size());
    return word(object) + word(size << 16 | opcode) + arguments;
}

/// wl_registry.global of version 1. Strings end with 0 and fill words.
std::string global(std::uint32_t number, std::string interface) {
    interface += '\0';
    const auto length = static_cast<std::uint32_t>(interface.size());
    interface.resize((length + 3) / 4 * 4);
    return message(2, 0, word(number) + word(length) + interface + word(1));
}

/// wl_callback.done, which follows the last global.
const std::string done = message(3, 0, word(0));

/// lacks_seat() for a compositor that answers with these bytes and goes away.
bool lacks_seat_after(const std::string& answer) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    EXPECT_EQ(write(ends[1], answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    shutdown(ends[1], SHUT_WR);
    const bool lacks = lacks_seat(ends[0]);
    std::array<std::uint32_t, 7> asked{};
    EXPECT_EQ(read(ends[1], asked.data(), sizeof asked), 24);
    EXPECT_EQ(asked, (std::array<std::uint32_t, 7>{1, 0x000c0001, 2, 1, 0x000c0000, 3, 0}));
    for (int end : ends) close(end);
    return lacks;
}

TEST(WaylandSeat, IsAmongTheGlobalsThatTheCompositorLists) {
    EXPECT_FALSE(lacks_seat_after(global(1, "wl_shm") + global(2, "wl_seat") + done));
    EXPECT_TRUE(lacks_seat_after(global(1, "wl_shm") + global(2, "wl_compositor") + done));
    EXPECT_TRUE(lacks_seat_after(global(1, "wl_seats") + global(2, "wl") + done));
    EXPECT_TRUE(lacks_seat_after(done));
}

TEST(WaylandSeat, IsNotMissedWhereTheListIsCutOrNotWayland) {
    EXPECT_FALSE(lacks_seat_after(global(1, "wl_shm")));
    EXPECT_FALSE(lacks_seat_after(global(1, "wl_shm").substr(0, 20)));
    EXPECT_FALSE(lacks_seat_after(message(1, 0, word(1) + word(0) + word(0)) + done));
    EXPECT_FALSE(lacks_seat_after(word(2) + word(4 << 16) + done));
    EXPECT_FALSE(lacks_seat_after("HTTP/1.1 400 Bad Request\r\n\r\n"));
    EXPECT_FALSE(lacks_seat_after(""));
}

/// A compositor in a folder of its own, which the environment names.
class WaylandDisplay : public testing::Test {
  protected:
    WaylandDisplay() : folder_(testing::TempDir() + "warpscope-" + std::to_string(getpid())) {
        for (auto& [name, value] : before_) {
            if (const char* now = std::getenv(name)) value = now;
            unsetenv(name);
        }
        std::filesystem::create_directories(folder_);
        setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    }
    ~WaylandDisplay() override {
        for (const auto& [name, value] : before_) {
            value ? setenv(name, value->c_str(), 1) : unsetenv(name);
        }
        std::filesystem::remove_all(folder_);
    }

    /// wayland_lacks_seat() while a compositor without a seat listens at `name`.
    bool lacks_seat_at(const std::string& name) const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        (folder_ / name).string().copy(address.sun_path, sizeof address.sun_path - 1);
        const int server = socket(AF_UNIX, SOCK_STREAM, 0);
        EXPECT_EQ(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(server, 1), 0);
        std::thread compositor([server] {
            const int client = accept(server, nullptr, nullptr);
            if (client < 0) return;
            EXPECT_EQ(write(client, done.data(), done.size()), static_cast<ssize_t>(done.size()));
            std::array<char, 24> asked{};
            EXPECT_EQ(recv(client, asked.data(), asked.size(), MSG_WAITALL), 24);
            close(client);
        });
        const bool lacks = wayland_lacks_seat();
        shutdown(server, SHUT_RDWR);  // ends accept() where nobody asked
        compositor.join();
        close(server);
        return lacks;
    }

    std::filesystem::path folder_;

  private:
    std::map<const char*, std::optional<std::string>> before_{
        {"XDG_RUNTIME_DIR", {}}, {"WAYLAND_DISPLAY", {}}, {"WAYLAND_SOCKET", {}}};
};

TEST_F(WaylandDisplay, OfTheEnvironmentIsAsked) {
    EXPECT_FALSE(wayland_lacks_seat()) << "nobody listens";
    EXPECT_TRUE(lacks_seat_at("wayland-0"));
    setenv("WAYLAND_DISPLAY", "other", 1);
    EXPECT_TRUE(lacks_seat_at("other"));
    setenv("WAYLAND_DISPLAY", (folder_ / "absolute").c_str(), 1);
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    EXPECT_TRUE(lacks_seat_at("absolute"));
    setenv("WAYLAND_DISPLAY", std::string(200, 'x').c_str(), 1);
    EXPECT_FALSE(wayland_lacks_seat()) << "longer than an address";
}

}  // namespace
}  // namespace warpscope::gl
