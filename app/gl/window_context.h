#pragma once

#include <string>

struct GLFWwindow;

namespace warpscope::gl {

/// A window on the desktop with an OpenGL 3.3 core context, current on the calling thread.
/// One at a time, made and used on the main thread (GLFW's rule).
class WindowContext {
  public:
    /// Width and height are those at content scale 1; the window grows with the monitor's scale
    /// and never beyond its work area. Throws Error where there is no display or no OpenGL 3.3.
    WindowContext(const std::string& title, int width, int height);
    ~WindowContext();
    WindowContext(const WindowContext&) = delete;
    WindowContext& operator=(const WindowContext&) = delete;

    GLFWwindow* window() const { return window_; }
    /// Framebuffer pixels a logical pixel: 1 on a plain monitor, 2 on most 4K ones.
    float content_scale() const;
    /// 1: a swap waits for the monitor (vsync); 0: it doesn't.
    void set_swap_interval(int interval);

  private:
    GLFWwindow* window_ = nullptr;
};

}  // namespace warpscope::gl
