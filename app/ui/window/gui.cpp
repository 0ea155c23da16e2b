#include "ui/window/gui.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <new>

#include "gl/error.h"
#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

using EventKind = InputEvent::Kind;

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
    std::vector<std::pair<EventKind, int>> changed;  ///< keys and buttons

    bool has(const InputEvent& event) const {
        return std::find(changed.begin(), changed.end(), std::pair(event.kind, event.code)) !=
               changed.end();
    }
    /// Whether the event would hide one that the frame has seen, or be seen before it.
    bool collides(const InputEvent& event) const {
        switch (event.kind) {
            case EventKind::move:
                return button || wheel;
            case EventKind::button:
                return has(event) || wheel || character || control;
            case EventKind::wheel:
                return button;
            case EventKind::key:
                return (!event.repeats && has(event)) || button ||
                       (is_control(event.code) && event.down && character) ||
                       (is_modifier(event.code) && (pressed || wheel));
            case EventKind::character:
                return button || control;
        }
        return false;
    }
    void add(const InputEvent& event) {
        button |= event.kind == EventKind::button;
        wheel |= event.kind == EventKind::wheel;
        character |= event.kind == EventKind::character;
        const bool down = event.kind == EventKind::key && event.down;
        control |= down && is_control(event.code);
        pressed |= down && !is_modifier(event.code);
        if (event.kind == EventKind::key || event.kind == EventKind::button)
            changed.emplace_back(event.kind, event.code);
    }
};

}  // namespace

void InputQueue::push(const InputEvent& event) {
    constexpr int commands = GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER;
    const bool writes = pressed_.writes && !(pressed_.modifiers & commands);
    if (event.kind == EventKind::character && repeats_ && !writes) return;
    if (event.kind == EventKind::key && event.down) {
        repeats_ = event.repeats && event.code == pressed_.code;
        if (!event.repeats) pressed_ = event;
    }
    if (event.kind == EventKind::move && !events_.empty() && events_.back().kind == EventKind::move)
        events_.pop_back();
    events_.push_back(event);
    if (event.kind != EventKind::key && event.kind != EventKind::button) return;
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
            case EventKind::move:
                x_ = event.x;
                y_ = event.y;
                break;
            case EventKind::button:
                if (event.code >= 0 && event.code < int(std::size(buttons_)))
                    buttons_[event.code] = event.down;
                break;
            case EventKind::wheel:
                io.MouseWheelH += event.x;
                io.MouseWheel += event.y;
                break;
            case EventKind::key:
                if (event.code >= 0 && event.code < int(std::size(io.KeysDown)))
                    io.KeysDown[event.code] = event.down;
                break;
            case EventKind::character:
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

namespace {

/// Dear ImGui's place of a mouse that is not over the window.
constexpr float nowhere = -std::numeric_limits<float>::max();

WindowInput& input_of(GLFWwindow* window) {
    return *static_cast<WindowInput*>(glfwGetWindowUserPointer(window));
}

}  // namespace

WindowInput::WindowInput(GLFWwindow* window) {
    glfwSetWindowUserPointer(window, this);
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) {
        input_of(w).push({.kind = EventKind::move, .x = float(x), .y = float(y)});
    });
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
        if (!entered) input_of(w).push({.kind = EventKind::move, .x = nowhere, .y = nowhere});
    });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
        input_of(w).push({.kind = EventKind::button, .code = button, .down = action == GLFW_PRESS});
    });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double x, double y) {
        input_of(w).push({.kind = EventKind::wheel, .x = float(x), .y = float(y)});
    });
    glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int modifiers) {
        input_of(w).push({.kind = EventKind::key,
                          .code = key,
                          .down = action != GLFW_RELEASE,
                          .repeats = action == GLFW_REPEAT,
                          .modifiers = modifiers,
                          .writes = ImGui::GetCurrentContext() && ImGui::GetIO().WantTextInput});
    });
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned character) {
        input_of(w).push({.kind = EventKind::character, .character = character});
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
    if (event.kind == EventKind::move) io.AddMousePosEvent(event.x, event.y);
    if (event.kind == EventKind::button) io.AddMouseButtonEvent(event.code, event.down);
#endif
}

std::vector<InputEvent> WindowInput::take(const std::function<void(int, int)>& press) {
    std::vector<InputEvent> events = queue_.take();
    for (const InputEvent& event : events)
        if (event.kind == EventKind::key && event.down) press(event.code, event.modifiers);
    return events;
}

namespace {

#ifdef IMGUI_IMPL_OPENGL_ES3
constexpr const char* glsl_version = "#version 300 es";
#else
constexpr const char* glsl_version = "#version 330 core";
#endif

constexpr bool imgui_has_queue = IMGUI_VERSION_NUM >= 18700;

/// Throws if there is no memory, because Dear ImGui uses what it gets without checking it.
void* allocate(std::size_t bytes, void*) {
    void* const memory = std::malloc(bytes);
    if (!memory && bytes > 0) throw std::bad_alloc();
    return memory;
}

void release(void* memory, void*) {
    std::free(memory);
}

ImGuiContext* create_context() {
    ImGui::SetAllocatorFunctions(allocate, release);
    return ImGui::CreateContext();
}

}  // namespace

Gui::Gui(GLFWwindow* window)
    : window_(window), before_(ImGui::GetCurrentContext()), context_(create_context()) {
    ImGui::SetCurrentContext(context_);
    ImGui::GetIO().IniFilename = nullptr;
    if (window_) ImGui_ImplGlfw_InitForOpenGL(window_, imgui_has_queue);
#if IMGUI_VERSION_NUM < 18700
    // Keyboard navigation demands a number for this key, also without a window.
    if (!window_) ImGui::GetIO().KeyMap[ImGuiKey_Space] = 0;
#endif
    if (ImGui_ImplOpenGL3_Init(glsl_version)) return;
    if (window_) ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext(context_);
    ImGui::SetCurrentContext(before_);
    throw gl::Error(
        "can't draw the interface: libGL.so.1 is missing; install your system's "
        "package of it (Debian: libgl1)");
}

Gui::~Gui() {
    ImGui::SetCurrentContext(context_);
    ImGui_ImplOpenGL3_Shutdown();
    if (window_) ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext(context_);
    ImGui::SetCurrentContext(before_);
}

namespace {

/// Before 1.87, Dear ImGui uses the widget that has the focus with the space bar alone.
void use_widgets_with_enter() {
#if IMGUI_VERSION_NUM < 18700
    ImGuiIO& io = ImGui::GetIO();
    const auto is_down = [&](ImGuiKey key) {
        const int at = io.KeyMap[key];  // negative without a window
        return at >= 0 && io.KeysDown[at];
    };
    const bool by_keyboard = io.ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard;
    if (by_keyboard && !io.WantTextInput &&
        (is_down(ImGuiKey_Enter) || is_down(ImGuiKey_KeyPadEnter)))
        io.NavInputs[ImGuiNavInput_Activate] = 1;
#endif
}

}  // namespace

void Gui::begin_frame(const std::vector<InputEvent>& input) {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    if (!imgui_has_queue) input_.apply(input);
    use_widgets_with_enter();
    ImGui::NewFrame();
}

void Gui::begin_frame(int width, int height) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {float(width), float(height)};
    io.DeltaTime = 1.F / 60;
    ImGui_ImplOpenGL3_NewFrame();
    use_widgets_with_enter();
    ImGui::NewFrame();
}

void Gui::render(int width, int height) {
    ImGui::Render();
    glViewport(0, 0, width, height);
    glDisable(GL_SCISSOR_TEST);
    // Clearing is far cheaper on software GL than the panels' backgrounds would be.
    const ImVec4 background = ImGui::ColorConvertU32ToFloat4(colour::panel);
    glClearColor(background.x, background.y, background.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Gui::hide() {
    ImGui::EndFrame();
}

void Gui::fonts_changed() {
    // From Dear ImGui 1.92 on, the renderer makes textures of the glyphs that frames use.
#if IMGUI_VERSION_NUM < 19200
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

}  // namespace warpscope::ui
