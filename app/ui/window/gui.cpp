#include "ui/window/gui.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <glad/gl.h>
#include <imgui.h>

#include <cstdlib>
#include <new>

#include "gl/error.h"
#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

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
    if (ImGui_ImplOpenGL3_Init("#version 330 core")) return;
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

void Gui::begin_frame(const std::vector<InputEvent>& input) {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    if (!imgui_has_queue) input_.apply(input);
    ImGui::NewFrame();
}

void Gui::begin_frame(int width, int height) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {float(width), float(height)};
    io.DeltaTime = 1.F / 60;
    ImGui_ImplOpenGL3_NewFrame();
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
