#pragma once

struct GLFWwindow;
struct ImGuiContext;

namespace warpscope::ui {

/// An ImGui context with its OpenGL renderer, current as long as it lives; the one before is
/// current again afterwards. With a window, input comes from there.
class Gui {
  public:
    explicit Gui(GLFWwindow* window = nullptr);
    ~Gui();
    Gui(const Gui&) = delete;
    Gui& operator=(const Gui&) = delete;

    /// Begins a frame of a window.
    void begin_frame();
    /// Begins a frame of this many pixels without a window.
    void begin_frame(int width, int height);
    /// Ends the frame and draws it into the bound framebuffer of this many pixels.
    void render(int width, int height);
    /// The fonts were made anew.
    void fonts_changed();

  private:
    GLFWwindow* window_;
    ImGuiContext* before_;
    ImGuiContext* context_;
};

}  // namespace warpscope::ui
