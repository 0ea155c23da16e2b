#include "ui/window/window_start.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "compute/helper/spawn.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "ui/bars/messages.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

Stage::Start start_of(const WindowOptions& options, const Settings& settings,
                      const std::optional<launches::LaunchFile>& launch) {
    Stage::Start start;
    start.device_wish = options.device.value_or(settings.device);
    start.run = options.run.value_or(settings.run);
    start.remembered = settings.parameters;
    start.helpers = options.helpers;
    if (options.pick) start.pick = options.pick;
    start.experiment = options.experiment.empty() ? settings.experiment : options.experiment;
    if (launch) start.entry = experiments::launch_entry(*launch);
    const auto known = experiments::registry();
    const bool there = std::any_of(known.begin(), known.end(),
                                   [&](const auto& e) { return e.id == start.experiment; });
    if (launch)
        start.experiment = start.entry->id;
    else if (!there && options.experiment.empty())
        start.experiment = known.front().id;
    for (const auto& [id, list] : options.assignments)
        if (id == start.experiment)
            start.assignments = list;
        else
            start.remembered[id].insert(start.remembered[id].end(), list.begin(), list.end());
    return start;
}

using Order = std::shared_ptr<const emulator::ScheduleFile>;

/// The launch file of the command line, or else that of the last session if it is still there, the
/// text of its source, and the order of warps that it names.
std::optional<launches::LaunchFile> launch_of(const WindowOptions& options,
                                              const Settings& settings, std::string& source,
                                              Order& order) {
    const bool remembered = options.experiment.empty() && !settings.launch.empty();
    if (!options.launch && !remembered) return std::nullopt;
    try {
        auto file = options.launch ? *options.launch : find_launch(settings.launch);
        source = experiments::read_launch_source(file);
        order = experiments::read_schedule(file);
        return file;
    } catch (const launches::LaunchError&) {
        if (options.launch) throw;
        return std::nullopt;
    }
}

}  // namespace

launches::LaunchFile find_launch(const std::filesystem::path& path) {
    return experiments::find_launch_file(
        experiments::in_gallery(path.string()) ? path : std::filesystem::absolute(path));
}

std::unique_ptr<Stage> make_stage(const WindowOptions& options, const LoadedSettings& loaded,
                                  const EngineThread::Hooks& hooks) {
    std::string source;
    Order order;
    const auto launch = launch_of(options, loaded.settings, source, order);
    Stage::Start start = start_of(options, loaded.settings, launch);
    if (!start.run.turns) start.run.turns = order;
    std::unique_ptr<Stage> stage;
    try {
        stage = std::make_unique<Stage>(start, hooks);
    } catch (const compute::DeviceError& error) {
        // A remembered device may be gone, and then another one is chosen. A device that the
        // command line names must be there.
        if (options.device || start.device_wish == "auto") throw;
        start.device_wish = "auto";
        stage = std::make_unique<Stage>(start, hooks);
        stage->say(tr("{} Running on {} instead.", error.what(), stage->device().name),
                   Tone::error);
    }
    if (launch && !launch->built_in)
        stage->documents().open(stage->parameters().kernel_file(), source,
                                launch->in_folder(launch->source).string());
    for (const std::string& error : {loaded.complaint, options.notice})
        if (!error.empty()) stage->say(error, Tone::error);
    return stage;
}

void StartView::draw(const Work& work, float scale, float raster) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - work.since;
    const std::string words = work_words(work.activity, work.frame, since.count(), work.launch);
    if (words.empty()) return;
    if (!ui_) ui_.emplace(scale, raster);
    glfwPollEvents();
    gui_.begin_frame(std::vector<InputEvent>());
    draw_start(*ui_, words);
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    gui_.render(width, height);
    glfwSwapBuffers(window_);
}

void StartView::end() {
    if (ui_) gui_.fonts_changed();
    ui_.reset();
}

void start_again() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, '\0');)
        if (word != "--reset-settings") words.push_back(word);
    ::execv("/proc/self/exe", compute::pointers_to(words).data());
}

UnfinishedRun::UnfinishedRun(const std::filesystem::path& settings) {
    if (settings.empty()) return;
    file_ = settings.parent_path() / "first-frame-unfinished";
    std::error_code error;
    before_ = std::filesystem::exists(file_, error);
    std::filesystem::create_directories(file_.parent_path(), error);
    std::ofstream out(file_);  // if this fails, nothing is remembered
}

void UnfinishedRun::finish() {
    if (std::exchange(finished_, true) || file_.empty()) return;
    std::error_code error;
    std::filesystem::remove(file_, error);
}

}  // namespace warpscope::ui
