#pragma once

#include <vector>

#include "ui/window/input_queue.h"

struct GLFWwindow;
struct ImGuiContext;

namespace warpscope::ui {

/// An ImGui context with its OpenGL renderer. It is current while the object lives; then the
/// previous context is current again. With a window, input comes from the window.
class Gui {
  public:
    explicit Gui(GLFWwindow* window = nullptr);
    ~Gui();
    Gui(const Gui&) = delete;
    Gui& operator=(const Gui&) = delete;

    /// Begins a frame of the window with this input. Where Dear ImGui has a queue of its own, it
    /// takes the input from the window itself.
    void begin_frame(const std::vector<InputEvent>& input);
    /// Begins a frame of `width` × `height` pixels without a window.
    void begin_frame(int width, int height);
    /// Ends the frame and draws it into the bound framebuffer of `width` × `height` pixels.
    void render(int width, int height);
    /// Ends the frame without drawing it.
    void hide();
    /// Must be called after the fonts were loaded again.
    void fonts_changed();

  private:
    GLFWwindow* window_;
    InputState input_;
    ImGuiContext* before_;
    ImGuiContext* context_;
};

}  // namespace warpscope::ui
