#include "gl/wayland_seat.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::gl {
namespace {

// Numbers of the objects of the connection. Wayland gives the first number to wl_display; the
// client chooses the others.
constexpr std::uint32_t display = 1, registry = 2, listed = 3;

bool receive(int socket, void* bytes, std::size_t size) {
    return recv(socket, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

std::string value_of(const char* variable, const char* otherwise) {
    const char* value = std::getenv(variable);
    return value && *value ? value : otherwise;
}

}  // namespace

// A message is: the object, its size and opcode in one word, the arguments.
bool lacks_seat(int connected_socket) {
    constexpr std::uint32_t size = 12 << 16, sync = 0, get_registry = 1;
    const std::array<std::uint32_t, 6> requests{display, size | get_registry, registry,
                                                display, size | sync,         listed};
    if (send(connected_socket, requests.data(), sizeof requests, MSG_NOSIGNAL) !=
        static_cast<ssize_t>(sizeof requests)) {
        return false;
    }
    std::array<std::uint32_t, 2> head{};
    while (receive(connected_socket, head.data(), sizeof head)) {
        const std::uint32_t bytes = head[1] >> 16;
        if (head[0] == display || bytes < 12) return false;  // an error
        std::vector<char> arguments(bytes - 8);
        if (!receive(connected_socket, arguments.data(), arguments.size())) return false;
        if (head[0] == listed) return true;
        // wl_registry.global: a number, the length of the interface's name, the name, its version
        if (arguments.size() >= 16 && std::memcmp(&arguments[8], "wl_seat", 8) == 0) return false;
    }
    return false;
}

bool wayland_lacks_seat() {
    if (!value_of("WAYLAND_SOCKET", "").empty()) return false;  // a connection for one client
    const std::string path = std::filesystem::path(value_of("XDG_RUNTIME_DIR", "")) /
                             value_of("WAYLAND_DISPLAY", "wayland-0");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());

    const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return false;
    const timeval patience{2, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const bool lacks =
        connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        lacks_seat(connection);
    close(connection);
    return lacks;
}

}  // namespace warpscope::gl
