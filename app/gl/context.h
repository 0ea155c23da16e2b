#pragma once

#include <optional>
#include <string>
#include <utility>

struct GLFWwindow;

namespace warpscope::gl {

/// An OpenGL 3.3 core context without a window or display, through EGL. It is current on the
/// calling thread until it is destroyed. It has no default framebuffer: draw into a Framebuffer.
class OffscreenContext {
  public:
    /// Prefers the GPU with this CUDA ordinal, then other GPUs, then Mesa's software renderer.
    /// Throws Error if EGL offers none of them.
    explicit OffscreenContext(std::optional<int> cuda_ordinal = std::nullopt);
    /// A context that shares the objects of `other`, for another thread: it is current on no thread
    /// until make_current(). Throws Error.
    explicit OffscreenContext(const OffscreenContext& other);
    ~OffscreenContext();
    OffscreenContext& operator=(const OffscreenContext&) = delete;

    void make_current();
    /// The calling thread has no current context any more.
    void release_current();
    /// The EGL display that it uses: "EGL device 0 (CUDA device 0)", "Mesa surfaceless".
    const std::string& where() const { return where_; }

  private:
    void* display_ = nullptr;
    void* context_ = nullptr;
    std::string where_;
};

/// A window on the desktop with an OpenGL 3.3 core context, which is current on the calling thread,
/// and a second context that shares its objects, for another thread. At most one window exists at a
/// time. GLFW requires that the main thread makes every call except make_second_current().
class WindowContext {
  public:
    /// Width and height apply at content scale 1. The window is scaled with the monitor, up to its
    /// work area. Throws Error if there is no display or no OpenGL 3.3.
    WindowContext(const std::string& title, int width, int height);
    ~WindowContext();
    WindowContext(const WindowContext&) = delete;
    WindowContext& operator=(const WindowContext&) = delete;

    GLFWwindow* window() const { return window_; }
    /// Framebuffer pixels on one side of a logical pixel: 1 on most monitors, 2 on most 4K
    /// monitors.
    float content_scale() const;
    /// 1: a buffer swap waits for the monitor (V-sync). 0: it does not wait.
    void set_swap_interval(int interval);
    /// Fills the screen, without a frame; false: the window is again as it was before.
    void fill_screen(bool fills);
    /// Width and height of the window while it does not fill the screen.
    std::pair<int, int> usual_size() const;
    /// Makes the second context current on the calling thread, which must release it before the
    /// window is destroyed.
    void make_second_current();
    static void release_current();
    /// Ends a wait for events of the main thread. Any thread may call it.
    static void wake();

  private:
    GLFWwindow* window_ = nullptr;
    GLFWwindow* second_ = nullptr;  ///< never shown
    /// The place of the window before it filled the screen; nullopt: it does not.
    struct Place {
        int x = 0, y = 0, width = 1, height = 1;
    };
    std::optional<Place> usual_;
};

/// Whether the Wayland compositor that the environment names has no mouse and no keyboard (no
/// wl_seat). False also where it can't be asked. GLFW 3.4 reads address 0 without a seat.
bool wayland_lacks_seat();

/// Asks the compositor at the other end of a connected socket.
bool lacks_seat(int connected_socket);

}  // namespace warpscope::gl
