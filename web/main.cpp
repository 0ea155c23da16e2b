// The window of the edition for browsers, in place of app/main.cpp and app/ui/window/window.cpp:
// the page calls frame() whenever it can draw.
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "experiments/replicas/try_edits.h"
#include "ui/commands/link.h"
#include "ui/window/gui.h"
#include "ui/window/window_view.h"

// The functions of page.js.
EM_JS(void, page_call, (const char* what, const char* text),
      { page[UTF8ToString(what)](UTF8ToString(text)); });
EM_JS(int, page_number, (const char* what), { return Number(page[UTF8ToString(what)]()); });
EM_JS(void, page_drawn, (int number), { page.drawn(number); });

using namespace warpscope;
using namespace warpscope::ui;

namespace warpscope::ui {
std::string text_of_page(const char* what);  // of edition.cpp
}

namespace {

constexpr std::uintmax_t largest_file = 64 << 20;

compute::Helpers helpers("");  // which leave out barriers

using Clock = std::chrono::steady_clock;

class App {
  public:
    explicit App(const Link& link);
    void frame();
    /// Opens a file that the page has got, or says why it has none.
    void open(const std::string& path, const std::string& problem);
    std::string widgets() const { return view_->widgets().json(); }

  private:
    static std::unique_ptr<Stage> make_stage(const Link& link);
    static GLFWwindow* make_window();
    ImVec2 size() const;
    float raster() const;
    void follow_page();
    bool rests();
    void tell_page();

    GLFWwindow* const window_ = make_window();
    WindowInput input_{window_};
    Gui gui_{window_};
    std::unique_ptr<Stage> stage_;
    std::unique_ptr<WindowView> view_;
    int awake_ = 4;  ///< frames to draw before it rests
    Clock::time_point last_frame_, told_;
    std::string link_, said_;
    std::optional<MicroscopePlace> place_;  ///< to open in the file that the page opens
};

GLFWwindow* App::make_window() {
    glfwInit();
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);  // as many pixels as the screen has
    GLFWwindow* const window = glfwCreateWindow(page_number("width"), page_number("height"),
                                                "Warpscope", nullptr, nullptr);
    if (!window) throw std::runtime_error("This browser has no WebGL 2.");
    return window;
}

/// The experiment of a link, or else the ripple without its barrier.
std::unique_ptr<Stage> App::make_stage(const Link& link) {
    Stage::Start start;
    start.device_wish = "emulator";
    start.run = link.run;
    start.experiment = link.experiment;
    if (experiments::in_gallery(link.experiment)) {
        start.entry = experiments::launch_entry(experiments::find_launch_file(link.experiment));
        start.experiment = start.entry->id;
    }
    const auto known = experiments::registry();
    if (std::ranges::none_of(known, [&](const auto& e) { return e.id == start.experiment; })) {
        start.experiment = "ripple";
        start.remembered["ripple"] = {{"size", "256"}, {"sync", "off"}};
    } else {
        start.remembered[start.experiment] = link.values;
    }
    start.pick = [](const std::string&, const experiments::Entry&) {
        return compute::make_emulated_device("a browser has no other device", std::size_t(1) << 28);
    };
    start.no_compiler = [] { return std::string(); };  // barriers are switched on and off
    start.try_edits = [](const experiments::EditRequest& request, const std::stop_token& stop) {
        return experiments::try_edits(helpers, request, stop);
    };
    start.wishes_after_loss = [](const std::string&) {
        return std::vector<std::string>{"emulator"};
    };
    return std::make_unique<Stage>(start, EngineThread::Hooks());
}

App::App(const Link& link) : stage_(make_stage(link)) {
    ViewOptions options;
    options.invited = Invited::to_switch_on;
    options.tour_offered = true;
    options.light = page_number("prefersLight") != 0;
    if (has_font_for(language_of_locale())) set_language(language_of_locale());
    view_ = std::make_unique<WindowView>(*stage_, options, 1.F, raster(), "");
    ImGui::GetIO().SetClipboardTextFn = [](void*, const char* text) { page_call("copy", text); };
    view_->follow_programs(&helpers);
    if (page_number("opens"))
        place_ = link.microscope;
    else if (link.microscope)
        view_->ui().later([this, place = *link.microscope] { view_->open_microscope(place); });
}

ImVec2 App::size() const {
    int width = 1, height = 1;
    glfwGetWindowSize(window_, &width, &height);
    return {float(std::max(1, width)), float(std::max(1, height))};
}

float App::raster() const {
    int width = 1, height = 1;
    glfwGetFramebufferSize(window_, &width, &height);
    return float(width) / size().x;
}

/// Takes over the page's size, the screen's pixels, the theme and the language.
void App::follow_page() {
    if (size().x != float(page_number("width")) || size().y != float(page_number("height"))) {
        glfwSetWindowSize(window_, page_number("width"), page_number("height"));
        awake_ = 3;
    }
    Ui& ui = view_->ui();
    const float scale = view_->enlargement(size().y), pixels = raster();
    const bool other_theme = set_theme(view_->options().light ? Theme::light : Theme::dark);
    if (scale == ui.scale && pixels == ui.raster && language() == ui.language && !other_theme)
        return;
    ui.scale = scale;
    ui.raster = pixels;
    ui.language = language();
    ui.fonts = apply_theme(scale, pixels);
    page_call("light", view_->options().light ? "light" : "");
    gui_.fonts_changed();
}

/// Whether a frame would look as the one before. While the engine computes, frames are drawn now
/// and then.
bool App::rests() {
    if (input_.take_stir() || input_.waits() || !view_->ui().requests.empty()) awake_ = 4;
    if (awake_ > 0 || stage_->has_results()) {
        awake_ = std::max(0, awake_ - 1);
        return false;
    }
    const bool moves = !stage_->paused() || view_->moves() || stage_->work() || !stage_->settled();
    return !moves || Clock::now() - last_frame_ < std::chrono::milliseconds(25);
}

void App::open(const std::string& path, const std::string& problem) {
    awake_ = 4;
    if (!problem.empty()) return stage_->say(problem, Tone::error);
    if (std::filesystem::file_size(path) <= largest_file) return view_->open_file(path);
    stage_->say("The file is too large for a page. Open it with the app for Linux.", Tone::error);
}

void App::frame() {
    follow_page();
    for (const std::string& path : input_.take_dropped()) open(path, "");
    if (place_ && !stage_->entry().launch_file.empty() && stage_->settled())
        view_->ui().later([this, place = *std::exchange(place_, std::nullopt)] {
            view_->open_microscope(place);
        });
    if (rests()) return;
    view_->run_requests();
    view_->place(size());
    stage_->advance(view_->picture_size());
    gui_.begin_frame(input_.take([this](int key, int mods) { view_->press(key, mods); }));
    view_->draw(size());
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    gui_.render(width, height);
    glfwSwapBuffers(window_);
    last_frame_ = Clock::now();
    page_drawn(int(stage_->frame()));
    tell_page();
}

/// Once a second: the link of what is on show, and its state in words.
void App::tell_page() {
    if (Clock::now() - told_ < std::chrono::seconds(1)) return;
    told_ = Clock::now();
    if (std::string link = link_text(*stage_, view_->microscope()); link != link_)
        page_call("showLink", (link_ = link).c_str());
    std::string words = stage_->entry().title + ".";
    for (const char* id :
         {"caption", "race.words", "result.wrong_pixels.sentence", "invitation", "message"})
        if (const Widget* const widget = view_->widgets().find(id);
            widget && !widget->value.empty())
            words += " " + widget->value + (widget->value.ends_with('.') ? "" : ".");
    if (words != said_) page_call("say", (said_ = words).c_str());
}

std::unique_ptr<App> app;

}  // namespace

/// What is on show, for tests.
extern "C" EMSCRIPTEN_KEEPALIVE const char* warpscope_widgets() {
    static std::string text;
    return (text = app ? app->widgets() : "[]").c_str();
}

extern "C" EMSCRIPTEN_KEEPALIVE void warpscope_open(const char* path, const char* problem) {
    if (app) app->open(path, problem);
}

int main() {
    try {
        // The files beside the app are found by the path of the program.
        std::filesystem::create_symlink("/usr/bin/warpscope", "/proc/self/exe");
        app = std::make_unique<App>(read_link(text_of_page("link")));
    } catch (const std::exception& error) {
        page_call("fail", error.what());
        return 1;
    }
    emscripten_set_main_loop(
        [] {
            try {
                app->frame();
            } catch (const std::exception& error) {
                emscripten_cancel_main_loop();
                page_call("fail", error.what());
            }
        },
        0, true);
}
