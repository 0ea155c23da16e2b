#include "ui/window/window_input.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <limits>

namespace warpscope::ui {
namespace {

using Kind = InputEvent::Kind;

/// Dear ImGui's place of a mouse that is not over the window.
constexpr float nowhere = -std::numeric_limits<float>::max();

WindowInput& input_of(GLFWwindow* window) {
    return *static_cast<WindowInput*>(glfwGetWindowUserPointer(window));
}

}  // namespace

WindowInput::WindowInput(GLFWwindow* window) {
    glfwSetWindowUserPointer(window, this);
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) {
        input_of(w).push({.kind = Kind::move, .x = float(x), .y = float(y)});
    });
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
        if (!entered) input_of(w).push({.kind = Kind::move, .x = nowhere, .y = nowhere});
    });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
        input_of(w).push({.kind = Kind::button, .code = button, .down = action == GLFW_PRESS});
    });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double x, double y) {
        input_of(w).push({.kind = Kind::wheel, .x = float(x), .y = float(y)});
    });
    glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int modifiers) {
        input_of(w).push({.kind = Kind::key,
                          .code = key,
                          .down = action != GLFW_RELEASE,
                          .repeats = action == GLFW_REPEAT,
                          .modifiers = modifiers});
    });
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned character) {
        input_of(w).push({.kind = Kind::character, .character = character});
    });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
        input_of(w).dropped_.insert(input_of(w).dropped_.end(), paths, paths + count);
        input_of(w).stirred_ = true;
    });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int focused) {
        if (!focused) input_of(w).queue_.release_all();
        input_of(w).stirred_ = true;
    });
}

void WindowInput::push(const InputEvent& event) {
    queue_.push(event);
    stirred_ = true;
}

void WindowInput::simulate(const InputEvent& event) {
    push(event);
#if IMGUI_VERSION_NUM >= 18700
    ImGuiIO& io = ImGui::GetIO();
    if (event.kind == Kind::move) io.AddMousePosEvent(event.x, event.y);
    if (event.kind == Kind::button) io.AddMouseButtonEvent(event.code, event.down);
#endif
}

std::vector<InputEvent> WindowInput::take(const std::function<void(int, int)>& press) {
    std::vector<InputEvent> events = queue_.take();
    for (const InputEvent& event : events)
        if (event.kind == Kind::key && event.down) press(event.code, event.modifiers);
    return events;
}

}  // namespace warpscope::ui
