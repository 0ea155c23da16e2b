#pragma once

#include <cstdint>
#include <deque>
#include <vector>

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
    unsigned character = 0;
};

/// Input in the order in which it happened. A frame takes as much of it as it can show; an event
/// that would hide an earlier event of the frame waits for the next frame. A button that was
/// pressed and released between two frames is therefore seen as pressed, at the place where the
/// mouse was then, and typed text and keys such as Backspace keep their order. Dear ImGui has a
/// queue of this kind since 1.87.
class InputQueue {
  public:
    /// Adds an event. A move joins the move before it.
    void push(const InputEvent& event);
    /// Releases every key and button that is down, because the window has lost the keyboard.
    void release_all();
    /// Returns the events of the next frame.
    std::vector<InputEvent> take();
    bool empty() const { return events_.empty(); }

  private:
    std::deque<InputEvent> events_;
    std::vector<InputEvent> held_;  ///< keys and buttons that are down, once everything is taken
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

}  // namespace warpscope::ui
