#include "ui/window/input_queue.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpscope::ui {
namespace {

using Kind = InputEvent::Kind;

/// True for keys that write no character: their order among typed characters matters.
bool is_control(int key) {
    return key >= GLFW_KEY_ESCAPE;
}

/// Ctrl, Shift and so on, which change what the other keys mean.
bool is_modifier(int key) {
    return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

/// What a frame has seen so far.
struct Seen {
    bool button = false, wheel = false, control = false, character = false, pressed = false;
    std::vector<std::pair<Kind, int>> changed;  ///< keys and buttons

    bool has(const InputEvent& event) const {
        return std::find(changed.begin(), changed.end(), std::pair(event.kind, event.code)) !=
               changed.end();
    }
    /// Whether the event would hide one that the frame has seen, or be seen before it.
    bool collides(const InputEvent& event) const {
        switch (event.kind) {
            case Kind::move:
                return button || wheel;
            case Kind::button:
                return has(event) || wheel || character || control;
            case Kind::wheel:
                return button;
            case Kind::key:
                return (!event.repeats && has(event)) || button ||
                       (is_control(event.code) && event.down && character) ||
                       (is_modifier(event.code) && (pressed || wheel));
            case Kind::character:
                return button || control;
        }
        return false;
    }
    void add(const InputEvent& event) {
        button |= event.kind == Kind::button;
        wheel |= event.kind == Kind::wheel;
        character |= event.kind == Kind::character;
        const bool down = event.kind == Kind::key && event.down;
        control |= down && is_control(event.code);
        pressed |= down && !is_modifier(event.code);
        if (event.kind == Kind::key || event.kind == Kind::button)
            changed.emplace_back(event.kind, event.code);
    }
};

}  // namespace

void InputQueue::push(const InputEvent& event) {
    if (event.kind == Kind::move && !events_.empty() && events_.back().kind == Kind::move)
        events_.pop_back();
    events_.push_back(event);
    if (event.kind != Kind::key && event.kind != Kind::button) return;
    std::erase_if(held_, [&](const InputEvent& held) {
        return held.kind == event.kind && held.code == event.code;
    });
    if (event.down) held_.push_back(event);
}

void InputQueue::release_all() {
    for (InputEvent event : std::exchange(held_, {})) {
        event.down = event.repeats = false;
        events_.push_back(event);
    }
}

std::vector<InputEvent> InputQueue::take() {
    Seen seen;
    auto end = events_.begin();
    for (; end != events_.end() && !seen.collides(*end); ++end) seen.add(*end);
    std::vector<InputEvent> taken(events_.begin(), end);
    events_.erase(events_.begin(), end);
    return taken;
}

#if IMGUI_VERSION_NUM >= 18700
void InputState::apply(const std::vector<InputEvent>&) {}
#else
void InputState::apply(const std::vector<InputEvent>& events) {
    ImGuiIO& io = ImGui::GetIO();
    for (const InputEvent& event : events) {
        switch (event.kind) {
            case Kind::move:
                x_ = event.x;
                y_ = event.y;
                break;
            case Kind::button:
                if (event.code >= 0 && event.code < int(std::size(buttons_)))
                    buttons_[event.code] = event.down;
                break;
            case Kind::wheel:
                io.MouseWheelH += event.x;
                io.MouseWheel += event.y;
                break;
            case Kind::key:
                if (event.code >= 0 && event.code < int(std::size(io.KeysDown)))
                    io.KeysDown[event.code] = event.down;
                break;
            case Kind::character:
                io.AddInputCharacter(event.character);
                break;
        }
    }
    io.MousePos = {x_, y_};
    std::copy(std::begin(buttons_), std::end(buttons_), io.MouseDown);
    const auto either = [&](int left, int right) {
        return io.KeysDown[left] || io.KeysDown[right];
    };
    io.KeyCtrl = either(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
    io.KeyShift = either(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
    io.KeyAlt = either(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
    io.KeySuper = either(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
}
#endif

}  // namespace warpscope::ui
