#include "ui/window/window.h"

#include <glad/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "experiments/framework/metadata.h"
#include "gl/framebuffer.h"
#include "gl/png.h"
#include "gl/window_context.h"
#include "ui/stage/edit_files.h"
#include "ui/window/gui.h"
#include "ui/window/interface.h"
#include "ui/window/screenshot.h"
#include "ui/window/window_start.h"

namespace warpscope::ui {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// The window's main loop and what it holds together.
class App {
  public:
    App(const WindowOptions& options, const LoadedSettings& loaded);
    /// True: the app is to be started anew.
    bool run();

  private:
    void watch_events();
    static void on_key(GLFWwindow* window, int key, int, int action, int modifiers);
    void press(int key, int modifiers);
    bool press_microscope(int key, int modifiers);
    void wait();
    void rest();
    void make_offers();
    void frame();
    void follow_scale();
    void hold_rate();
    void after_frame();
    void save_shot(int width, int height);
    void remember();
    ImVec2 window_size() const;
    float raster() const;

    /// ImGui needs some frames after an event to settle.
    static constexpr int settling = 4;

    const WindowOptions& options_;
    gl::WindowContext context_;
    GLFWwindow* window_;
    std::unique_ptr<Stage> stage_;
    EditFiles files_;
    std::unique_ptr<Gui> gui_;
    std::unique_ptr<Interface> ui_;
    bool again_ = false;
    int awake_ = 3;  ///< frames to draw before waiting for events again
    int interval_ = -1;
    std::uint64_t frames_ = 0;  ///< drawn; tests wait for some of a window at rest
    Clock::time_point last_frame_ = Clock::now();
    Clock::time_point computed_ = last_frame_;  ///< when the experiment's part of it was made
};

App::App(const WindowOptions& options, const LoadedSettings& loaded)
    : options_(options),
      context_("Warpscope", options.size.value_or(loaded.settings.window).width,
               options.size.value_or(loaded.settings.window).height),
      window_(context_.window()),
      stage_(make_stage(options, loaded)),
      files_(*stage_, {options.kernels, options.kernel_source, stage_->experiment().kernel_file()},
             kept_edits_folder(options.settings)) {
    watch_events();
    gui_ = std::make_unique<Gui>(window_);
    ViewOptions view = loaded.settings.view;
    view.vsync = options.vsync.value_or(view.vsync);
    ui_ = std::make_unique<Interface>(*stage_, view, context_.content_scale() / raster(), raster());
    if (options.microscope) ui_->later([this] { ui_->open_microscope(*options_.microscope); });
}

/// Set before ImGui's, which passes the events on.
void App::watch_events() {
    static constexpr auto wake = [](GLFWwindow* window) {
        static_cast<App*>(glfwGetWindowUserPointer(window))->awake_ = settling;
    };
    glfwSetWindowUserPointer(window_, this);
    glfwSetKeyCallback(window_, on_key);
    glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int, int, int) { wake(w); });
    glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double, double) { wake(w); });
    glfwSetScrollCallback(window_, [](GLFWwindow* w, double, double) { wake(w); });
    glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned) { wake(w); });
}

ImVec2 App::window_size() const {
    int width = 1, height = 1;
    glfwGetWindowSize(window_, &width, &height);
    return {float(std::max(1, width)), float(std::max(1, height))};
}

float App::raster() const {
    int width = 1, height = 1;
    glfwGetFramebufferSize(window_, &width, &height);
    return std::max(1.F, float(width) / window_size().x);
}

void App::on_key(GLFWwindow* window, int key, int, int action, int modifiers) {
    App& app = *static_cast<App*>(glfwGetWindowUserPointer(window));
    app.awake_ = settling;
    if (action != GLFW_RELEASE) app.press(key, modifiers);
}

void App::press(int key, int modifiers) {
    if (key == GLFW_KEY_F12) {
        ui_->shot = modifiers & GLFW_MOD_SHIFT ? Shot::picture : Shot::window;
        return;
    }
    if (key == GLFW_KEY_F1) ui_->show_keys = !ui_->show_keys;
    if (modifiers & GLFW_MOD_CONTROL) {
        if (key == GLFW_KEY_Q || key == GLFW_KEY_W) glfwSetWindowShouldClose(window_, GLFW_TRUE);
        if (const Shortcut* one = find_shortcut(KeyScope::editor, key, modifiers))
            ui_->editor.ask(one->command);
        return;
    }
    if (ImGui::GetIO().WantTextInput) return;
    const auto known = experiments::registry();
    if (key >= GLFW_KEY_1 && key <= GLFW_KEY_9 && std::size_t(key - GLFW_KEY_1) < known.size())
        ui_->later([this, known, key] { stage_->select(known[std::size_t(key - GLFW_KEY_1)]); });
    if (press_microscope(key, modifiers)) return;
    switch (key) {
        case GLFW_KEY_SPACE:
            stage_->pause(!stage_->paused());
            break;
        case GLFW_KEY_PERIOD:
        case GLFW_KEY_RIGHT:
            stage_->step_once();
            break;
        case GLFW_KEY_R:
            ui_->later([this] { stage_->reset(); });
            break;
        case GLFW_KEY_E:
            ui_->later([this] { ui_->toggle_editor(); });
            break;
        case GLFW_KEY_F:
            ui_->fit();
            break;
        case GLFW_KEY_G:
            ui_->options.grid = !ui_->options.grid;
            break;
        case GLFW_KEY_V:
            ui_->options.vsync = !ui_->options.vsync;
            break;
        case GLFW_KEY_H:
            ui_->show_keys = !ui_->show_keys;
            break;
        case GLFW_KEY_ESCAPE:
            ui_->show_keys = false;
            break;
        default:
            break;
    }
}

/// M at any time; while the microscope is open, the keys that step. True where the key was one.
bool App::press_microscope(int key, int modifiers) {
    Microscope& microscope = ui_->microscope;
    const bool open = microscope.is_open();
    const bool shift = (modifiers & GLFW_MOD_SHIFT) != 0;
    if (key == GLFW_KEY_M) {
        // Asked when it runs: a second M in the same frame takes the first one back.
        ui_->later([this] {
            ui_->microscope.is_open() ? ui_->microscope.close() : ui_->open_microscope();
        });
        return true;
    }
    if (open && key == GLFW_KEY_ESCAPE && !ui_->show_keys) {
        ui_->later([this] { ui_->microscope.close(); });
        return true;
    }
    if (!open) return false;
    switch (key) {
        case GLFW_KEY_RIGHT:
            microscope.step();
            return true;
        case GLFW_KEY_LEFT:
            microscope.back();
            return true;
        case GLFW_KEY_DOWN:
            microscope.step_line();
            return true;
        case GLFW_KEY_UP:
            microscope.back_line();
            return true;
        case GLFW_KEY_B:
            shift ? microscope.back_barrier() : microscope.step_barrier();
            return true;
        case GLFW_KEY_SPACE:
            microscope.play(!microscope.playing());
            return true;
        case GLFW_KEY_HOME:
            microscope.restart();
            return true;
        case GLFW_KEY_END:
            microscope.to_end();
            return true;
        case GLFW_KEY_P:
            ui_->source.show_ptx = !ui_->source.show_ptx;
            return true;
        default:
            return false;
    }
}

/// While nothing moves there is nothing to draw.
void App::wait() {
    const bool hidden = glfwGetWindowAttrib(window_, GLFW_ICONIFIED) != 0;
    if (hidden) return glfwWaitEventsTimeout(0.2);
    const bool moves =
        !stage_->paused() || ui_->microscope.playing() || ui_->inspector.busy() || stage_->trying();
    if (moves) awake_ = 3;  // what comes to rest is drawn at rest
    if (awake_ > 0) {
        --awake_;
        return glfwPollEvents();
    }
    rest();
}

/// Until something happens, or the text cursor blinks.
void App::rest() {
    const auto wake = Clock::now() + std::chrono::milliseconds(400);
    const std::uint64_t version = stage_->documents().version();
    const double seconds = files_.watches() ? 0.1 : 0.4;
    do {
        const auto before = Clock::now();
        glfwWaitEventsTimeout(seconds);
        files_.look();
        if (Clock::now() - before < std::chrono::duration<double>(seconds * 0.95) ||
            stage_->documents().version() != version)
            awake_ = settling;
    } while (awake_ == 0 && Clock::now() < wake);
}

/// What a person can be helped with by a click.
void App::make_offers() {
    if (stage_->lost_wish()) {
        const auto restart = [this] {
            again_ = true;
            glfwSetWindowShouldClose(window_, GLFW_TRUE);
        };
        ui_->offer = {"Restart", "Start Warpscope again, which gets the GPU back.", restart, {}};
    } else if (files_.offers()) {
        ui_->offer = {"Restore edits",
                      "Take the kernels as you left them last time: " + files_.offered() + ".",
                      [this] { files_.take_offer(); }, [this] { files_.decline_offer(); }};
    } else {
        ui_->offer.reset();
    }
}

void App::follow_scale() {
    const float pixels = raster();
    const float scale = context_.content_scale() / pixels;
    if (scale == ui_->scale && pixels == ui_->raster) return;
    ui_->scale = scale;
    ui_->raster = pixels;
    ui_->fonts = apply_theme(scale, pixels);
    gui_->fonts_changed();
}

void App::frame() {
    follow_scale();
    if (const int wish = ui_->options.vsync ? 1 : 0; wish != interval_) {
        context_.set_swap_interval(wish);
        interval_ = wish;
    }
    ui_->run_requests();
    files_.look();
    make_offers();
    ui_->place(window_size());
    stage_->advance(ui_->view_size());
    computed_ = Clock::now();
    gui_->begin_frame();
    ui_->draw(window_size());
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    gui_->render(width, height);
    if (ui_->shot != Shot::none) save_shot(width, height);
    glfwSwapBuffers(window_);
    after_frame();
}

/// Where the driver doesn't wait for the monitor (software GL, a remote display), frames beyond
/// its rate would only take time from the kernels.
void App::hold_rate() {
    if (!ui_->options.vsync) return;
    const GLFWvidmode* mode = glfwGetVideoMode(glfwGetPrimaryMonitor());
    const double rate = mode && mode->refreshRate > 0 ? mode->refreshRate : 60;
    std::this_thread::sleep_until(last_frame_ + std::chrono::duration_cast<Clock::duration>(
                                                    std::chrono::duration<double>(0.98 / rate)));
}

void App::after_frame() {
    hold_rate();
    const auto now = Clock::now();
    const bool steady = ui_->frame_ms > 0 && now - last_frame_ < std::chrono::seconds(1);
    const auto follow = [&](float& mean, Clock::duration newest) {
        const auto took = float(Milliseconds(newest).count());
        mean = steady ? mean * 0.95F + took * 0.05F : took;
    };
    follow(ui_->present_ms, now - computed_);
    follow(ui_->frame_ms, now - last_frame_);
    last_frame_ = now;
    if (!ui_->requests.empty()) awake_ = std::max(awake_, 3);
    ui_->widgets.add({"frames", 0, 0, 0, 0, std::to_string(++frames_), true, false});
    if (!options_.widget_map.empty()) ui_->widgets.write_if_changed(options_.widget_map);
    if (!ui_->measuring) return;
    // The frame that says so is on the screen by now.
    stage_->compare();
    ui_->measuring = false;
    last_frame_ = Clock::now();
    ui_->bring_comparison = stage_->comparison().has_value();
    awake_ = 3;
}

void App::save_shot(int width, int height) {
    const bool alone = std::exchange(ui_->shot, Shot::none) == Shot::picture;
    awake_ = 3;
    try {
        const std::time_t now = std::time(nullptr);
        std::tm local{};
        ::localtime_r(&now, &local);
        const auto path = screenshot_path(screenshot_folder(), local);
        const experiments::Size view = ui_->view_size();
        if (alone) {
            save_screenshot(*stage_, {view, true}, path);
            glBindFramebuffer(GL_FRAMEBUFFER, 0);
        } else {
            std::vector<std::uint8_t> rgba = gl::read_framebuffer(width, height);
            for (std::size_t i = 3; i < rgba.size(); i += 4) rgba[i] = 255;
            const Microscope& microscope = ui_->microscope;
            const bool of_this_frame = microscope.frame() == stage_->experiment().frame();
            const auto place = of_this_frame ? microscope.place() : std::nullopt;
            gl::write_png(path, width, height, rgba,
                          describe_window(stage_->experiment(), stage_->entry(), {width, height},
                                          place, microscope.is_open() && !place));
        }
        stage_->say(fmt::format("Saved {}", path.string()));
    } catch (const std::exception& error) {
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        stage_->say(fmt::format("No screenshot: {}", error.what()), Tone::error);
    }
}

void App::remember() {
    if (options_.settings.empty()) return;
    Settings settings;
    const ImVec2 size = window_size();
    settings.window = {int(std::lround(size.x / ui_->scale)),
                       int(std::lround(size.y / ui_->scale))};
    settings.experiment = stage_->entry().id;
    settings.device = stage_->lost_wish().value_or(stage_->device_wish());
    settings.run = stage_->device().settings();
    settings.view = ui_->options;
    settings.parameters = stage_->parameter_texts();
    save_settings(options_.settings, settings);
}

bool App::run() {
    while (!glfwWindowShouldClose(window_)) {
        wait();
        frame();
    }
    files_.keep_now();
    remember();
    return again_;
}

}  // namespace

int run_window(const WindowOptions& options) {
    const LoadedSettings loaded = load_settings(options.settings);
    if (!App(options, loaded).run()) return 0;
    start_again();
    throw std::runtime_error("can't start again; start Warpscope yourself");
}

}  // namespace warpscope::ui
