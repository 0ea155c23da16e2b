#include "gl/offscreen_context.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glad/gl.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gl/error.h"

namespace warpscope::gl {
namespace {

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
    return reinterpret_cast<Function>(eglGetProcAddress(name));
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
    const char* client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
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
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr))
        throw Error(fmt::format("EGL error {:#x}", eglGetError()));
    if (!has_word(eglQueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context"))
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
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, config_wish, &config, 1, &count) ||
        count < 1)
        throw Error("no OpenGL configuration");
    EGLContext context = eglCreateContext(display, config, shared, context_wish);
    if (context == EGL_NO_CONTEXT)
        throw Error(fmt::format("no OpenGL 3.3 core context (EGL error {:#x})", eglGetError()));
    return context;
}

/// Opens a display and makes a new context current: {display, context}. Throws Error.
std::pair<EGLDisplay, EGLContext> open_candidate(const Candidate& candidate) {
    EGLDisplay display = open_display(candidate);
    EGLContext context = create_context(display);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        const EGLint error = eglGetError();
        eglDestroyContext(display, context);
        throw Error(fmt::format("can't make a context current (EGL error {:#x})", error));
    }
    if (gladLoadGL(eglGetProcAddress) == 0) {
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(display, context);
        throw Error("OpenGL has no 3.3 entry points");
    }
    return {display, context};
}

}  // namespace

OffscreenContext::OffscreenContext(std::optional<int> cuda_ordinal) {
    std::vector<std::string> failures;
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
    if (eglGetCurrentContext() == context_)
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
}

void OffscreenContext::make_current() {
    if (eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) return;
    throw Error(
        fmt::format("can't make the offscreen context current (EGL error {:#x})", eglGetError()));
}

void OffscreenContext::release_current() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

}  // namespace warpscope::gl
