#include "gl/window_context.h"

#include <glad/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "gl/assets.h"
#include "gl/error.h"
#include "gl/png.h"
#include "gl/wayland_seat.h"

namespace warpscope::gl {
namespace {

/// Returns the last error of GLFW.
Error window_error() {
    const char* words = nullptr;
    glfwGetError(&words);
    return Error(fmt::format("can't open a window: {}; use --headless to run without one",
                             words ? words : "GLFW gives no reason"));
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

bool has_wayland_socket() {
    if (is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET")) return true;
    std::error_code ignored;
    return is_set("XDG_RUNTIME_DIR") &&
           std::filesystem::exists(
               std::filesystem::path(std::getenv("XDG_RUNTIME_DIR")) / "wayland-0", ignored);
}

/// Initializes GLFW for the display that the environment names. Without a Wayland display GLFW must
/// not try Wayland, because Wayland's library then writes a line to standard error.
void initialize_glfw() {
    const bool wayland = has_wayland_socket();
    if (!wayland && !is_set("DISPLAY")) {
        throw Error(
            "can't open a window: neither DISPLAY nor WAYLAND_DISPLAY names a display; "
            "use --headless to run without one");
    }
#ifdef GLFW_PLATFORM
    const bool seatless =
        wayland && glfwPlatformSupported(GLFW_PLATFORM_WAYLAND) && wayland_lacks_seat();
    if (seatless && !is_set("DISPLAY")) {
        throw Error(
            "can't open a window: the Wayland compositor has no mouse and no keyboard (no "
            "wl_seat), without which GLFW crashes; set DISPLAY to an X11 display, or use "
            "--headless to run without one");
    }
    if (!wayland || seatless) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
    if (!glfwInit()) throw window_error();
}

void set_hints() {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // shown after its size is set
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "warpscope");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "warpscope");
}

/// Shrinks a window that the content scale has made larger than the monitor.
void fit_to_monitor(GLFWwindow* window) {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    if (!monitor) return;
    int x = 0, y = 0, room_width = 0, room_height = 0, width = 0, height = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &room_width, &room_height);
    glfwGetWindowSize(window, &width, &height);
    if (room_width < 1 || room_height < 1) return;
    if (width <= room_width && height <= room_height) return;
    glfwSetWindowSize(window, std::min(width, room_width), std::min(height, room_height));
}

void set_icon(GLFWwindow* window) {
    const std::string_view png = asset("warpscope.png");
    Image icon = decode_png({reinterpret_cast<const std::uint8_t*>(png.data()), png.size()});
    const GLFWimage image{icon.width, icon.height, icon.rgba.data()};
    glfwSetWindowIcon(window, 1, &image);
}

}  // namespace

WindowContext::WindowContext(const std::string& title, int width, int height) {
    initialize_glfw();
    try {
        set_hints();
        window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
        if (!window_) throw window_error();
        second_ = glfwCreateWindow(1, 1, "", nullptr, window_);
        if (!second_) throw window_error();
        glfwMakeContextCurrent(window_);
        if (gladLoadGL(glfwGetProcAddress) == 0) {
            throw Error("can't open a window: its OpenGL has no 3.3 entry points; use --headless");
        }
        set_icon(window_);
        fit_to_monitor(window_);
        glfwShowWindow(window_);
    } catch (...) {
        glfwTerminate();
        throw;
    }
}

WindowContext::~WindowContext() {
    glfwTerminate();
}

float WindowContext::content_scale() const {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    return std::max(x, y);
}

void WindowContext::set_swap_interval(int interval) {
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(interval);
}

void WindowContext::fill_screen(bool fills) {
    if (fills == usual_.has_value()) return;
    if (!fills) {
        const Place before = *std::exchange(usual_, std::nullopt);
        return glfwSetWindowMonitor(window_, nullptr, before.x, before.y, before.width,
                                    before.height, GLFW_DONT_CARE);
    }
    Place& place = usual_.emplace();
    glfwGetWindowPos(window_, &place.x, &place.y);
    glfwGetWindowSize(window_, &place.width, &place.height);
    GLFWmonitor* const monitor = glfwGetPrimaryMonitor();
    if (const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr)
        glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

std::pair<int, int> WindowContext::usual_size() const {
    Place place = usual_.value_or(Place());
    if (!usual_) glfwGetWindowSize(window_, &place.width, &place.height);
    return {place.width, place.height};
}

void WindowContext::make_second_current() {
    glfwMakeContextCurrent(second_);
}

void WindowContext::release_current() {
    glfwMakeContextCurrent(nullptr);
}

void WindowContext::wake() {
    glfwPostEmptyEvent();
}

}  // namespace warpscope::gl
