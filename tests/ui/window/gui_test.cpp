#include "ui/window/gui.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <new>

#include "gl/context.h"

namespace warpscope::ui {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(GuiTest, MemoryThatDearImGuiDoesNotGetIsAnException) {
    const gl::OffscreenContext context;
    const Gui gui(nullptr);
    EXPECT_THROW(ImGui::MemAlloc(std::size_t(1) << 60), std::bad_alloc);
}
#endif

}  // namespace
}  // namespace warpscope::ui
