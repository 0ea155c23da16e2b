#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ui/window/input_queue.h"

struct GLFWwindow;

namespace warpscope::ui {

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

}  // namespace warpscope::ui
