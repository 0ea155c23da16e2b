#include "gl/context.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>
#include <glad/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <vector>

#include "gl/error.h"
#include "gl/png.h"

namespace warpscope::gl {
namespace {

/// EGL, loaded at run time because systems without a desktop lack it; null: it is not installed.
void* egl_library() {
    static void* const library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    return library;
}

template <class Function>
Function& egl_function(const char* name) {
    return *reinterpret_cast<Function*>(dlsym(egl_library(), name));
}

/// A function of EGL, after egl_library() was not null.
#define WARPSCOPE_EGL(name) egl_function<decltype(name)>(#name)

/// A display that EGL may or may not be able to open.
struct Candidate {
    EGLenum platform = EGL_NONE;
    void* native = nullptr;
    std::string name;
    int preference = 0;  ///< lower is tried earlier
};

bool has_word(const char* words, std::string_view word) {
    std::string_view rest = words ? words : "";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, end) == word) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

template <class Function>
Function extension(const char* name) {
    return reinterpret_cast<Function>(WARPSCOPE_EGL(eglGetProcAddress)(name));
}

std::vector<EGLDeviceEXT> all_devices() {
    const auto query = extension<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
    EGLint count = 0;
    if (!query || !query(0, nullptr, &count)) return {};
    std::vector<EGLDeviceEXT> devices(std::size_t(std::max(count, 0)));
    if (devices.empty() || !query(count, devices.data(), &count)) return {};
    devices.resize(std::size_t(count));
    return devices;
}

Candidate device_candidate(EGLDeviceEXT device, std::size_t index, std::optional<int> wanted) {
    Candidate candidate{EGL_PLATFORM_DEVICE_EXT, device, fmt::format("EGL device {}", index), 1};
    const auto text = extension<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
    const auto attribute = extension<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
    const char* words = text ? text(device, EGL_EXTENSIONS) : nullptr;
    EGLAttrib ordinal = -1;
    if (has_word(words, "EGL_NV_device_cuda") && attribute &&
        attribute(device, EGL_CUDA_DEVICE_NV, &ordinal)) {
        candidate.name += fmt::format(" (CUDA device {})", ordinal);
        if (wanted && ordinal == *wanted) candidate.preference = 0;
    } else if (has_word(words, "EGL_MESA_device_software")) {
        candidate.name += " (software)";
        candidate.preference = 3;
    }
    return candidate;
}

/// All displays that need no desktop, best first.
std::vector<Candidate> candidates(std::optional<int> cuda_ordinal) {
    std::vector<Candidate> found;
    if (!egl_library()) return found;
    const char* client = WARPSCOPE_EGL(eglQueryString)(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (has_word(client, "EGL_EXT_platform_device")) {
        const std::vector<EGLDeviceEXT> devices = all_devices();
        for (std::size_t i = 0; i < devices.size(); ++i)
            found.push_back(device_candidate(devices[i], i, cuda_ordinal));
    }
    if (has_word(client, "EGL_MESA_platform_surfaceless"))
        found.push_back(
            {EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, "Mesa surfaceless", 2});
    std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
        return a.preference < b.preference;
    });
    return found;
}

/// Returns the initialized display of a candidate. The display is never terminated, because all
/// contexts of the process share it. Throws Error.
EGLDisplay open_display(const Candidate& candidate) {
    const auto get_display = extension<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
    if (!get_display) throw Error("EGL has no eglGetPlatformDisplayEXT");
    EGLDisplay display = get_display(candidate.platform, candidate.native, nullptr);
    if (display == EGL_NO_DISPLAY || !WARPSCOPE_EGL(eglInitialize)(display, nullptr, nullptr))
        throw Error(fmt::format("EGL error {:#x}", WARPSCOPE_EGL(eglGetError)()));
    if (!has_word(WARPSCOPE_EGL(eglQueryString)(display, EGL_EXTENSIONS),
                  "EGL_KHR_surfaceless_context"))
        throw Error("no EGL_KHR_surfaceless_context");
    return display;
}

EGLContext create_context(EGLDisplay display, EGLContext shared = EGL_NO_CONTEXT) {
    const EGLint config_wish[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                  EGL_OPENGL_BIT, EGL_NONE};
    const EGLint context_wish[] = {EGL_CONTEXT_MAJOR_VERSION,
                                   3,
                                   EGL_CONTEXT_MINOR_VERSION,
                                   3,
                                   EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                   EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                   EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (!WARPSCOPE_EGL(eglBindAPI)(EGL_OPENGL_API) ||
        !WARPSCOPE_EGL(eglChooseConfig)(display, config_wish, &config, 1, &count) || count < 1)
        throw Error("no OpenGL configuration");
    EGLContext context = WARPSCOPE_EGL(eglCreateContext)(display, config, shared, context_wish);
    if (context == EGL_NO_CONTEXT)
        throw Error(fmt::format("no OpenGL 3.3 core context (EGL error {:#x})",
                                WARPSCOPE_EGL(eglGetError)()));
    return context;
}

/// Opens a display and makes a new context current: {display, context}. Throws Error.
std::pair<EGLDisplay, EGLContext> open_candidate(const Candidate& candidate) {
    EGLDisplay display = open_display(candidate);
    EGLContext context = create_context(display);
    if (!WARPSCOPE_EGL(eglMakeCurrent)(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        const EGLint error = WARPSCOPE_EGL(eglGetError)();
        WARPSCOPE_EGL(eglDestroyContext)(display, context);
        throw Error(fmt::format("can't make a context current (EGL error {:#x})", error));
    }
    if (gladLoadGL(WARPSCOPE_EGL(eglGetProcAddress)) == 0) {
        WARPSCOPE_EGL(eglMakeCurrent)(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        WARPSCOPE_EGL(eglDestroyContext)(display, context);
        throw Error("OpenGL has no 3.3 entry points");
    }
    return {display, context};
}

}  // namespace

OffscreenContext::OffscreenContext(std::optional<int> cuda_ordinal) {
    std::vector<std::string> failures;
    if (!egl_library()) failures.emplace_back("libEGL.so.1 is missing");
    for (const Candidate& candidate : candidates(cuda_ordinal)) {
        try {
            std::tie(display_, context_) = open_candidate(candidate);
            where_ = candidate.name;
            return;
        } catch (const Error& error) {
            failures.push_back(fmt::format("{}: {}", candidate.name, error.what()));
        }
    }
    if (failures.empty()) failures.emplace_back("EGL offers no display");
    throw Error(fmt::format(
        "can't open OpenGL 3.3 without a display ({}): install libegl1 and libgl1-mesa-dri for "
        "software OpenGL, or the NVIDIA driver's package libnvidia-gl-… for OpenGL on the GPU",
        fmt::join(failures, "; ")));
}

OffscreenContext::OffscreenContext(const OffscreenContext& other)
    : display_(other.display_),
      context_(create_context(other.display_, other.context_)),
      where_(other.where_) {}

OffscreenContext::~OffscreenContext() {
    if (WARPSCOPE_EGL(eglGetCurrentContext)() == context_)
        WARPSCOPE_EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    WARPSCOPE_EGL(eglDestroyContext)(display_, context_);
}

void OffscreenContext::make_current() {
    if (WARPSCOPE_EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) return;
    throw Error(fmt::format("can't make the offscreen context current (EGL error {:#x})",
                            WARPSCOPE_EGL(eglGetError)()));
}

void OffscreenContext::release_current() {
    WARPSCOPE_EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

/// The bytes of assets/NAME, built into the app; empty for an unknown name.
std::string_view asset(std::string_view name);

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
