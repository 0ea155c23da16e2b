#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/framework/experiment.h"
#include "gl/context.h"
#include "gl/texture.h"
#include "ui/window/gui.h"
#include "ui/window/window_view.h"

namespace warpscope::ui {

/// The window's view of a real experiment on the emulator, with a mouse and keys.
class ViewFixture : public testing::Test {
  protected:
    void show(const std::string& experiment, std::vector<experiments::Assignment> assignments) {
        Stage::Start start;
        start.device_wish = "emulator";
        start.experiment = experiment;
        start.assignments = std::move(assignments);
        show(start);
    }
    void show(const Stage::Start& start) {
        stage_ = std::make_unique<Stage>(start);
        stage_->pause(true);
        view_ = std::make_unique<WindowView>(*stage_, ViewOptions(), 1.F, 1.F);
        settle();
    }
    void frames(int count = 1) {
        for (int i = 0; i < count; ++i) {
            view_->run_requests();
            view_->place({width, height});
            stage_->advance(view_->picture_size());
            gui_.begin_frame(int(width), int(height));
            view_->draw({width, height});
            framebuffer_.bind();
            gui_.render(int(width), int(height));
        }
    }
    /// Until the checks have ended.
    void settle() {
        frames(3);
        stage_->wait_for_checks();
        frames(3);
    }
    /// Until the edits that are wanted have been tried.
    void finish_edits() {
        frames(2);
        do {
            stage_->wait_for_edits();
            frames(2);
        } while (stage_->trying());
        settle();
    }
    void set(const std::string& id, const std::string& text) {
        const experiments::Assignment one{id, text};
        ASSERT_TRUE(stage_->assign({&one, 1}));
        settle();
    }
    /// Moves the mouse.
    void point(float x, float y) {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddMousePosEvent(x, y);
#else
        ImGui::GetIO().MousePos = {x, y};
#endif
        frames();
    }
    void hold(int button, bool down) {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddMouseButtonEvent(button, down);
#else
        ImGui::GetIO().MouseDown[button] = down;
#endif
        frames(2);
    }
    void press(float x, float y, int button = 0) {
        point(x, y);
        hold(button, true);
        hold(button, false);
        frames(3);
    }
    /// Turns the wheel where the mouse is.
    void turn_wheel(float notches) {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddMouseWheelEvent(0, notches);
#else
        ImGui::GetIO().MouseWheel = notches;
#endif
        frames(2);
    }
    void click(const std::string& id, int button = 0) {
        const Widget* widget = view_->widgets().find(id);
        ASSERT_NE(widget, nullptr) << id;
        ASSERT_TRUE(widget->visible) << id;
        press(float(widget->x + widget->w / 2), float(widget->y + widget->h / 2), button);
    }
    std::string value(const std::string& id) {
        const Widget* widget = view_->widgets().find(id);
        return widget ? widget->value : "(no such widget)";
    }
    bool enabled(const std::string& id) {
        const Widget* widget = view_->widgets().find(id);
        return widget && widget->enabled;
    }
    void type(const std::string& id, const std::string& text) {
        click(id);
        for (const char c : text) ImGui::GetIO().AddInputCharacter(unsigned(c));
        frames(int(text.size()) + 2);
        press_enter();
    }
    void press_key(ImGuiKey key) {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddKeyEvent(key, true);
        frames();
        ImGui::GetIO().AddKeyEvent(key, false);
#else
        const int usual = std::exchange(ImGui::GetIO().KeyMap[key], 2);
        ImGui::GetIO().KeysDown[2] = true;
        frames();
        ImGui::GetIO().KeysDown[2] = false;
        frames();
        ImGui::GetIO().KeyMap[key] = usual;
#endif
        frames(3);
    }
    void press_enter() {
        press_key(ImGuiKey_Enter);
    }

    static constexpr float width = 1280, height = 720;
    gl::OffscreenContext context_;
    // Nobody looks at the pixels, which cost software GL most of a test's time.
    gl::Framebuffer framebuffer_{1, 1};
    Gui gui_;
    std::unique_ptr<Stage> stage_;
    std::unique_ptr<WindowView> view_;
};

}  // namespace warpscope::ui
