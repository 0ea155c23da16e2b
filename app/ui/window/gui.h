#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

struct GLFWwindow;
struct ImGuiContext;

namespace warpscope::ui {

/// One thing that a person did with the mouse or the keyboard. Keys, buttons and modifiers have
/// GLFW's numbers.
struct InputEvent {
    enum class Kind { move, button, wheel, key, character };
    Kind kind = Kind::move;
    float x = 0, y = 0;  ///< move: the place in the window; wheel: the notches
    int code = 0;        ///< number of the key or the button
    bool down = false;
    bool repeats = false;  ///< a key that is held down
    int modifiers = 0;     ///< held while a key went down
    bool writes = true;    ///< a text had the keyboard when the key went down
    unsigned character = 0;
};

/// Input in the order in which it happened. A frame takes as much of it as it can show; an event
/// that would hide an earlier event of the frame waits for the next frame. A button that was
/// pressed and released between two frames is therefore seen as pressed, at the place where the
/// mouse was then, and typed text and keys such as Backspace keep their order. Dear ImGui has a
/// queue of this kind since 1.87.
class InputQueue {
  public:
    /// Adds an event. A move joins the move before it. The characters that a held key repeats are
    /// left out unless it was pressed in a text and without Ctrl: a shortcut writes nothing, also
    /// where Ctrl is released first, or where the shortcut opens a text meanwhile.
    void push(const InputEvent& event);
    /// Releases every key and button that is down, because the window has lost the keyboard.
    void release_all();
    /// Returns the events of the next frame.
    std::vector<InputEvent> take();
    bool empty() const { return events_.empty(); }

  private:
    std::deque<InputEvent> events_;
    std::vector<InputEvent> held_;  ///< keys and buttons that are down, once everything is taken
    InputEvent pressed_;            ///< the newest key that went down, without its repetitions
    bool repeats_ = false;          ///< it has been repeated since
};

/// Hands the events of a frame to the current ImGui context, between the backend's NewFrame and
/// ImGui's. Holds the state that lasts longer than a frame. Does nothing with Dear ImGui since
/// 1.87, which has a queue.
class InputState {
  public:
    void apply(const std::vector<InputEvent>& events);

  private:
    float x_ = -1, y_ = -1;
    bool buttons_[5] = {};
};

/// The mouse and the keyboard of a window. Make it before the Gui of the window: Dear ImGui's own
/// callbacks, where it has some, call those that are set here.
class WindowInput {
  public:
    /// Takes the window's user pointer.
    explicit WindowInput(GLFWwindow* window);
    WindowInput(const WindowInput&) = delete;
    WindowInput& operator=(const WindowInput&) = delete;

    /// Returns whether something has happened since the last call.
    bool take_stir() { return std::exchange(stirred_, false); }
    /// True if input waits for further frames.
    bool waits() const { return !queue_.empty(); }
    /// Adds an event as if a person had used the mouse now. Needs an ImGui context.
    void simulate(const InputEvent& event);
    /// The paths of the files that were dropped on the window since the last call.
    std::vector<std::string> take_dropped() { return std::exchange(dropped_, {}); }
    /// Returns the input of the next frame. Calls `press` for each key that went down in it.
    std::vector<InputEvent> take(const std::function<void(int key, int modifiers)>& press);

  private:
    void push(const InputEvent& event);

    InputQueue queue_;
    std::vector<std::string> dropped_;
    bool stirred_ = false;
};

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
