#include "ui/window/window.h"

#include <glad/gl.h>
#include <sys/resource.h>
#include <unistd.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "compute/helper/termination_signal.h"
#include "compute/ranks/processes.h"
#include "experiments/framework/metadata.h"
#include "gl/context.h"
#include "gl/png.h"
#include "gl/texture.h"
#include "ui/edits/edit_files.h"
#include "ui/window/gui.h"
#include "ui/window/layout.h"
#include "ui/window/second_window.h"
#include "ui/window/window_shots.h"
#include "ui/window/window_start.h"
#include "ui/window/window_view.h"

namespace warpscope::ui {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// The window and its main loop.
class App {
  public:
    App(const WindowOptions& options, const LoadedSettings& loaded);
    /// Runs until the window is closed or a signal comes.
    void run();
    bool asks_for_restart() const { return again_; }
    int signal() const { return signal_.number(); }

  private:
    EngineThread::Hooks engine_hooks();
    void open_microscope();
    void wait();
    void rest();
    void make_offers();
    bool waits_for_run() const;
    void frame();
    void follow_scale();
    void hold_rate();
    void after_frame();
    void write_widgets();
    void remember();
    ImVec2 window_size() const;
    float raster() const;

    /// Frames that ImGui needs after an event until nothing moves.
    static constexpr int settling = 4;
    /// Seconds between frames while the engine computes and nothing else happens.
    static constexpr double slow_frame = 1.0 / 40;
    /// While input waits for the next frame, as the release of a short press does, frames are not
    /// drawn, because the next one shows more. Software GL takes 25 ms to draw a frame. A long
    /// queue, such as pasted keys, is shown at least this often.
    static constexpr std::chrono::milliseconds longest_hidden{100};

    const WindowOptions& options_;
    compute::TerminationSignal signal_;  ///< seen between two frames
    gl::WindowContext context_;
    GLFWwindow* window_;
    WindowInput input_;
    std::unique_ptr<Gui> gui_;
    StartView start_{window_, *gui_};
    std::unique_ptr<Stage> stage_;
    UnfinishedRun unfinished_;
    EditFiles files_;
    std::unique_ptr<WindowView> view_;
    std::unique_ptr<WindowShots> shots_;
    SecondWindow second_{window_};
    bool again_ = false;
    bool offers_tour_ = false;
    FrameTimes times_;
    int awake_ = 3;  ///< frames to draw before waiting for events again
    int interval_ = -1;
    std::uint64_t frames_ = 0;  ///< drawn so far; tests wait for more of them
    Clock::time_point last_frame_ = Clock::now();
    Clock::duration drew_{};  ///< the time that the newest frame took to draw
    Clock::time_point last_picture_ = last_frame_;
    std::uint64_t last_number_ = 0;  ///< number of the experiment's frame
};

App::App(const WindowOptions& options, const LoadedSettings& loaded)
    : options_(options),
      context_("Warpscope", options.size.value_or(loaded.settings.window).width,
               options.size.value_or(loaded.settings.window).height),
      window_(context_.window()),
      input_(window_),
      gui_(std::make_unique<Gui>(window_)),
      stage_(make_stage(options, loaded, engine_hooks())),
      unfinished_(options.settings),
      files_(*stage_, {options.kernels, options.kernel_source, stage_->parameters().kernel_file()},
             kept_edits_folder(options.settings), [] { gl::WindowContext::wake(); }) {
    ViewOptions view = loaded.settings.view;
    // Of a screen with many pixels whose desktop does not scale, words would be tiny at first.
    GLFWmonitor* const monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* const mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    const bool is_dense = mode && mode->height >= 2000 && context_.content_scale() <= 1;
    if (is_dense && !view.tour_offered && !options.size) {
        const auto [width, height] = window_size();
        view.percent = 175;
        glfwSetWindowSize(window_, int(width * 1.75F), int(height * 1.75F));
    }
    view.vsync = options.vsync.value_or(view.vsync);
    if (options.language) view.language = name_of(*options.language).code;
    const Language wished =
        view.language.empty() ? language_of_locale() : language_of(view.language);
    if (has_font_for(wished)) set_language(wished);
    view_ =
        std::make_unique<WindowView>(*stage_, view, context_.content_scale() / raster(), raster());
    view_->follow_programs(options.helpers);
    shots_ = std::make_unique<WindowShots>(*stage_, *view_, options.record);
    start_.end();
    if (unfinished_.before()) stage_->pause(true);
    if (language() != wished) view_->speak(wished);
    if (!view_->options().tour_offered) view_->options().invited = Invited::to_nothing;
    offers_tour_ = !std::exchange(view_->options().tour_offered, true) && !options.clicks;
    view_->lessons().run_program = experiments::run_program;
    if (!options.lesson.empty())
        view_->ui().later([this] { view_->lessons().open(options_.lesson); });
    if (options.microscope) open_microscope();
}

/// Opens it when there is a launch to inspect, which the first frame brings.
void App::open_microscope() {
    view_->ui().later([this] {
        const bool comes = stage_->frame() == 0 && !stage_->paused();
        comes ? open_microscope() : view_->open_microscope(*options_.microscope);
    });
}

/// The engine computes with a context of its own, at a lower priority than the thread that draws.
/// The threads that it starts, such as the emulator's, have its priority.
EngineThread::Hooks App::engine_hooks() {
    return {.enter =
                [this] {
                    constexpr int lower = 10;
                    setpriority(PRIO_PROCESS, id_t(gettid()), lower);
                    context_.make_second_current();
                },
            .leave = [] { gl::WindowContext::release_current(); },
            .published = [] { gl::WindowContext::wake(); },
            .waits =
                [this](const Work& work) {
                    start_.draw(work, context_.content_scale() / raster(), raster());
                }};
}

ImVec2 App::window_size() const {
    int width = 1, height = 1;
    glfwGetWindowSize(window_, &width, &height);
    return {float(std::max(1, width)), float(std::max(1, height))};
}

float App::raster() const {
    int width = 1, height = 1;
    glfwGetFramebufferSize(window_, &width, &height);
    return framebuffer_pixels(float(width), window_size().x, context_.content_scale());
}

/// Waits for events while nothing moves.
void App::wait() {
    if (glfwGetWindowAttrib(window_, GLFW_ICONIFIED)) return glfwWaitEventsTimeout(0.2);
    const bool moves = !stage_->paused() || view_->moves() || stage_->trying() || stage_->work() ||
                       stage_->has_results() || !stage_->settled() ||
                       view_->records() != Recorded::none;
    if (input_.take_stir() || input_.waits()) awake_ = settling;
    if (awake_ > 0) {
        --awake_;
        glfwPollEvents();
    } else if (moves) {
        // A new result ends the wait.
        const double since = std::chrono::duration<double>(Clock::now() - last_frame_).count();
        double wait = stage_->has_results() ? 0 : slow_frame - since;
        if (options_.clicks)
            wait = std::min(wait, options_.clicks->seconds_until_input(Clock::now()));
        if (wait > 0) glfwWaitEventsTimeout(wait);
        glfwPollEvents();
    } else {
        rest();
    }
}

/// Waits until something happens or the text cursor has to blink.
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

/// Returns true if the last run ended before its first frame: this run waits for a person.
bool App::waits_for_run() const {
    return unfinished_.before() && stage_->paused() && stage_->frame() == 0;
}

/// Offers in the message line: a restart after a lost GPU, the settings of a run that did not get
/// as far as its first frame, or the edits of the last run.
void App::make_offers() {
    const bool alone = compute::place_of_process().count == 1;
    if (stage_->shown().lost_wish && alone) {
        const auto restart = [this] {
            again_ = true;
            glfwSetWindowShouldClose(window_, GLFW_TRUE);
        };
        view_->message().offer(Offer{tr("Restart"),
                                     tr("Start Warpscope again, which makes the GPU usable again."),
                                     restart});
    } else if (waits_for_run()) {
        view_->message().offer(
            Offer{tr("Run"),
                  tr("The last run ended before its first frame was computed. Run these settings."),
                  [this] { stage_->pause(false); }});
    } else if (files_.offers()) {
        view_->message().offer(Offer{
            tr("Restore"), tr("Restore the unsaved edits of the last run: {}.", files_.offered()),
            [this] { files_.take_offer(); }, tr("Discard"), [this] { files_.decline_offer(); }});
    } else if (offers_tour_) {
        view_->message().offer(Offer{tr("Take the tour"), tr("Five sentences about this window."),
                                     [this] {
                                         offers_tour_ = false;
                                         view_->tour().start();
                                     },
                                     tr("No"),
                                     [this] {
                                         offers_tour_ = false;
                                         view_->options().invited = Invited::to_all;
                                     }});
    } else {
        view_->message().offer({});
    }
}

void App::follow_scale() {
    const float pixels = raster();
    const float usual = context_.content_scale() / pixels;
    const float scale = usual * view_->enlargement(window_size().y / usual);
    Ui& ui = view_->ui();
    const bool other_theme = set_theme(view_->options().light ? Theme::light : Theme::dark);
    const bool same = scale == ui.scale && pixels == ui.raster && language() == ui.language;
    if (same && !other_theme) return;
    ui.scale = scale;
    ui.raster = pixels;
    ui.language = language();
    ui.fonts = apply_theme(scale, pixels);
    gui_->fonts_changed();
}

void App::frame() {
    context_.fill_screen(view_->options().presentation);
    follow_scale();
    if (const int wish = view_->options().vsync ? 1 : 0; wish != interval_) {
        context_.set_swap_interval(wish);
        interval_ = wish;
    }
    for (const std::string& path : input_.take_dropped()) view_->open_file(path);
    view_->run_requests();
    if (view_->asked_to_quit()) glfwSetWindowShouldClose(window_, GLFW_TRUE);
    files_.look();
    shots_->advance();
    make_offers();
    view_->place(window_size());
    stage_->advance(view_->picture_size());
    if (options_.clicks)
        for (const InputEvent& event : options_.clicks->input(Clock::now())) input_.simulate(event);
    const auto begin = Clock::now();
    gui_->begin_frame(input_.take([this](int key, int mods) { view_->press(key, mods); }));
    view_->draw(window_size());
    if (input_.waits() && begin - last_frame_ < longest_hidden) return gui_->hide();
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    gui_->render(width, height);
    if (shots_->take({width, height})) awake_ = 3;
    glfwSwapBuffers(window_);
    bool& second = view_->options().second_window;
    second = second_.follow(second, stage_->shown().picture);
    drew_ = Clock::now() - begin;
    after_frame();
}

/// Keeps the frame rate to the monitor's. Some drivers do not wait for the monitor (software GL, a
/// remote display), and frames that are never seen would take time from the kernels.
void App::hold_rate() {
    if (!view_->options().vsync) return;
    const GLFWvidmode* mode = glfwGetVideoMode(glfwGetPrimaryMonitor());
    const double rate = mode && mode->refreshRate > 0 ? mode->refreshRate : 60;
    std::this_thread::sleep_until(last_frame_ + std::chrono::duration_cast<Clock::duration>(
                                                    std::chrono::duration<double>(0.98 / rate)));
}

void App::after_frame() {
    hold_rate();
    const auto now = Clock::now();
    const auto follow = [](float& mean, Clock::duration newest, bool steady) {
        const auto took = float(Milliseconds(newest).count());
        mean = steady ? mean * 0.95F + took * 0.05F : took;
    };
    follow(times_.display_ms, drew_, times_.display_ms > 0);
    if (std::exchange(last_number_, stage_->frame()) != stage_->frame()) {
        const auto since = now - std::exchange(last_picture_, now);
        follow(times_.frame_ms, since, times_.frame_ms > 0 && since < std::chrono::seconds(1));
    }
    if (stage_->paused()) last_picture_ = now;  // a pause is no part of a frame
    view_->dock().set_frame_times(times_);
    last_frame_ = now;
    if (stage_->pixels() || stage_->tree()) unfinished_.finish();
    Ui& ui = view_->ui();
    if (!ui.requests.empty()) awake_ = std::max(awake_, 3);
    ++frames_;
    if (options_.clicks) options_.clicks->frame_drawn(ui.widgets, now);
    if (!options_.widget_map.empty()) write_widgets();
}

/// Adds the state of the window to the widgets, for tests that wait for it, and writes them.
void App::write_widgets() {
    Ui& ui = view_->ui();
    const auto [width, height] = ImGui::GetIO().DisplaySize;
    const auto [x, y] = ImGui::GetIO().MousePos;
    const bool settled = stage_->settled() && !stage_->shown().report_due &&
                         !view_->microscope().waits() && !view_->microscope().searches() &&
                         !input_.waits() && ui.requests.empty();
    ui.widgets.add({"frames", 0, 0, 0, 0, std::to_string(frames_), true, false});
    ui.widgets.add({"mouse", 0, 0, width, height, fmt::format("{:.0f},{:.0f}", x, y)});
    ui.widgets.add({"settled", 0, 0, 0, 0, settled ? "on" : "off", true, false});
    ui.widgets.write_if_changed(options_.widget_map);
}

void App::remember() {
    if (options_.settings.empty()) return;
    Settings settings;
    const auto [width, height] = context_.usual_size();
    const float unit = context_.content_scale() / view_->ui().raster;
    settings.window = {int(std::lround(float(width) / unit)),
                       int(std::lround(float(height) / unit))};
    settings.experiment = stage_->entry().id;
    settings.launch = stage_->entry().launch_file;
    // Of a launch that was made for a source without a launch file, the source comes back.
    if (const auto& plan = stage_->shown().plan;
        settings.launch.empty() && plan && !plan->file.built_in)
        settings.launch = plan->file.in_folder(plan->file.source).string();
    settings.device = stage_->shown().lost_wish.value_or(stage_->device_wish());
    settings.run = stage_->run();
    settings.view = view_->options();
    settings.parameters = stage_->changed_parameters();
    // Those parameters belong to one launch file.
    settings.parameters.erase(experiments::launch_experiment().id);
    save_settings(options_.settings, settings);
}

void App::run() {
    const auto over = [this] { return options_.clicks && options_.clicks->over(Clock::now()); };
    while (signal_.number() == 0 && !over()) {
        if (glfwWindowShouldClose(window_)) {
            if (again_ || view_->may_close()) break;
            glfwSetWindowShouldClose(window_, GLFW_FALSE);
            awake_ = settling;
        }
        wait();
        frame();
    }
    glfwHideWindow(window_);  // what follows may wait for the kernel that runs
    shots_->finish();
    view_->lessons().leave_for_good();
    files_.keep_now();
    remember();
    view_->download().end();
}

}  // namespace

int run_window(const WindowOptions& options) {
    const LoadedSettings loaded = load_settings(options.settings);
    {
        App app(options, loaded);
        app.run();
        if (!app.asks_for_restart() || app.signal()) return app.signal();
    }
    start_again();
    throw std::runtime_error(tr("Warpscope can't restart itself; start it again"));
}

}  // namespace warpscope::ui
