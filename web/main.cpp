// The window of the edition for browsers, in place of app/main.cpp and app/ui/window/window.cpp:
// the page calls frame() whenever it can draw.
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "compute/emulated/emulated_device.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "ui/commands/link.h"
#include "ui/window/gui.h"
#include "ui/window/window_view.h"

// The page: what it says in the address, and what it tells people who do not see the canvas.
EM_JS(char*, page_link, (), { return stringToNewUTF8(page.link()); });
EM_JS(void, page_show_link, (const char* link), { page.showLink(UTF8ToString(link)); });
EM_JS(void, page_copy, (const char* text), { page.copy(UTF8ToString(text)); });
EM_JS(void, page_say, (const char* text), { page.say(UTF8ToString(text)); });
EM_JS(void, page_fail, (const char* text), { page.fail(UTF8ToString(text)); });
EM_JS(int, page_width, (), { return page.width(); });
EM_JS(int, page_height, (), { return page.height(); });
EM_JS(void, page_drawn, (int number), { page.drawn(number); });

using namespace warpscope;
using namespace warpscope::ui;

namespace {

using Clock = std::chrono::steady_clock;

std::string text_of_page(char* text) {
    const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
    return text;
}

class App {
  public:
    explicit App(const Link& link);
    void frame();
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
};

GLFWwindow* App::make_window() {
    glfwInit();
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);  // as many pixels as the screen has
    GLFWwindow* const window =
        glfwCreateWindow(page_width(), page_height(), "Warpscope", nullptr, nullptr);
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
    start.no_compiler = [] { return std::string("A page has no compiler of CUDA C++."); };
    start.wishes_after_loss = [](const std::string&) {
        return std::vector<std::string>{"emulator"};
    };
    return std::make_unique<Stage>(start, EngineThread::Hooks());
}

App::App(const Link& link) : stage_(make_stage(link)) {
    ViewOptions options;
    options.invited = Invited::to_switch_on;
    options.tour_offered = true;
    if (has_font_for(language_of_locale())) set_language(language_of_locale());
    view_ = std::make_unique<WindowView>(*stage_, options, 1.F, raster(), "");
    ImGui::GetIO().SetClipboardTextFn = [](void*, const char* text) { page_copy(text); };
    if (link.microscope)
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
    if (size().x != float(page_width()) || size().y != float(page_height())) {
        glfwSetWindowSize(window_, page_width(), page_height());
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

void App::frame() {
    follow_page();
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
        page_show_link((link_ = link).c_str());
    std::string words = stage_->entry().title + ".";
    for (const char* id :
         {"caption", "race.words", "result.wrong_pixels.sentence", "invitation", "message"})
        if (const Widget* const widget = view_->widgets().find(id);
            widget && !widget->value.empty())
            words += " " + widget->value + (widget->value.ends_with('.') ? "" : ".");
    if (words != said_) page_say((said_ = words).c_str());
}

std::unique_ptr<App> app;

}  // namespace

/// What is on show, for tests.
extern "C" EMSCRIPTEN_KEEPALIVE const char* warpscope_widgets() {
    static std::string text;
    return (text = app ? app->widgets() : "[]").c_str();
}

int main() {
    try {
        app = std::make_unique<App>(read_link(text_of_page(page_link())));
    } catch (const std::exception& error) {
        page_fail(error.what());
        return 1;
    }
    emscripten_set_main_loop(
        [] {
            try {
                app->frame();
            } catch (const std::exception& error) {
                emscripten_cancel_main_loop();
                page_fail(error.what());
            }
        },
        0, true);
}
