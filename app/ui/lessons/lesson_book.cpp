#include "ui/lessons/lesson_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "compiler/source_file.h"
#include "experiments/launch/launch_plan.h"
#include "ui/documents/source_files.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

/// The folder of lessons in one of a person's folders: XDG_DATA_HOME, or `usual` in the home
/// folder. Empty: there is none.
fs::path lessons_in(const char* variable, const char* usual) {
    if (const char* folder = std::getenv(variable); folder && *folder)
        return fs::path(folder) / "warpscope" / "lessons";
    const char* home = std::getenv("HOME");
    return home && *home ? fs::path(home) / usual / "warpscope" / "lessons" : fs::path();
}

/// Where the sources are that a student saves.
fs::path own_folder() {
    return lessons_in("XDG_DATA_HOME", ".local/share");
}

/// Where the sources of experiments are kept as a student has left them, beside other edits.
fs::path kept_folder() {
    return lessons_in("XDG_CONFIG_HOME", ".config");
}

}  // namespace

const std::vector<ListedLesson>& LessonBook::lessons() {
    if (lessons_) return *lessons_;
    lessons_.emplace();
    for (const fs::path& file : experiments::lesson_files(folder_)) {
        ListedLesson listed{file, file.stem().string(), file.stem().string(), {}};
        try {
            const experiments::Lesson lesson = experiments::read_lesson(file);
            listed.name = lesson.name;
            listed.title = lesson.title;
        } catch (const experiments::LessonError& error) {
            listed.error = error.what();
        }
        lessons_->push_back(std::move(listed));
    }
    return *lessons_;
}

std::optional<std::size_t> LessonBook::place() {
    const auto& all = lessons();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (lesson_ && all[i].file == lesson_->file) return i;
    return {};
}

bool LessonBook::passed(const std::string& name) const {
    return std::ranges::count(options_.lessons_passed, name) > 0;
}

void LessonBook::open(const fs::path& file) {
    std::optional<experiments::Lesson> opened;
    try {
        opened = experiments::read_lesson(file);
    } catch (const experiments::LessonError& error) {
        return stage_.say(error.what(), Tone::error);
    }
    end();
    stage_.pause(room_.paused());
    lesson_ = std::move(opened);
    if (std::exchange(folder_, file.parent_path()) != file.parent_path()) lessons_.reset();
    options_.lessons = true;
    arrived_ = false;
    begin();
    lesson_->start.launch.empty() ? open_experiment(false) : open_launch(false);
}

/// Nothing is done yet.
void LessonBook::begin() {
    used_.assign(lesson_->steps.size(), false);
    chosen_.reset();
    judgements_.clear();
    reader_.reset();
    reader_named_ = false;
    ran_ = nullptr;
    evidence_ = {};
    microscope_.close();
}

void LessonBook::start_again() {
    begin();
    lesson_->start.launch.empty() ? open_experiment(true) : open_launch(true);
}

/// The lesson is not open any more.
void LessonBook::end() {
    if (!lesson_) return;
    keep_source();
    stop_.request_stop();
    std::erase(options_.recent_files, launch_file_);
    launch_file_.clear();
    source_file_.clear();
    lesson_.reset();
}

void LessonBook::leave() {
    if (!lesson_) return;
    const std::string title = lesson_->title;
    const bool chosen = arrived_ && !is_shown();
    end();
    microscope_.close();
    chosen ? room_.give_back_behind_choice() : room_.give_back();
    stage_.say(
        tr("Left the lesson {}. Settings and sources are as they were before it.", tr(title)));
}

void LessonBook::leave_for_good() {
    if (!lesson_) return;
    leave();
    const auto late = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (!stage_.settled() && std::chrono::steady_clock::now() < late) {
        stage_.advance({1, 1});
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

bool LessonBook::done(std::size_t step) const {
    const experiments::LessonStep& asked = lesson_->steps[step];
    if (!asked.edits) return used_[step];
    const KernelDocument* const source = is_shown() ? document() : nullptr;
    if (!source || source->text() == start_source_) return false;
    return source->state() == EditState::running || source->state() == EditState::shipped;
}

/// A step that only asks to look at something counts as done when a later one is.
bool LessonBook::counts_as_done(std::size_t step) const {
    if (passed(lesson_->name) || done(step)) return true;
    const experiments::LessonStep& asked = lesson_->steps[step];
    if (asked.edits || asked.switches) return false;
    while (++step < used_.size())
        if (done(step)) return true;
    return false;
}

StepState LessonBook::state(std::size_t step) const {
    if (counts_as_done(step)) return StepState::done;
    return this->step() == step ? StepState::current : StepState::open;
}

std::optional<std::size_t> LessonBook::step() const {
    if (!lesson_ || passed(lesson_->name)) return {};
    if (chosen_) return chosen_;
    for (std::size_t step = 0; step < used_.size(); ++step)
        if (!counts_as_done(step)) return step;
    return {};
}

void LessonBook::use(std::size_t step) {
    used_[step] = true;
    chosen_.reset();
}

/// The file that keeps the source as a student has left it in this lesson; empty: there is no
/// folder for it.
fs::path LessonBook::kept_source() const {
    const fs::path folder = kept_folder();
    return folder.empty() ? folder : folder / (lesson_->name + ".cu");
}

void LessonBook::keep_source() {
    const fs::path kept = kept_source();
    const bool of_launch = !launch_file_.empty();
    if (!std::as_const(stage_).documents().find(source_file_) || kept.empty()) return;
    KernelDocument& source = stage_.documents()[source_file_];
    // Another launch file may have a source of this name.
    if (of_launch && (!arrived_ || fs::path(source.path()).parent_path() !=
                                       fs::path(launch_file_).parent_path()))
        return;
    std::error_code ignored;
    try {
        if (!source.edited() || (!of_launch && source.text() == start_source_))
            fs::remove(kept, ignored);
        else
            write_whole(kept, source.text());
        if (of_launch) source.replace(source.shipped());
    } catch (const std::exception& error) {
        stage_.say(error.what(), Tone::error);
    }
}

/// Puts the source that was kept in the place of that on show.
void LessonBook::bring_source() {
    const fs::path kept = kept_source();
    std::error_code error;
    if (kept.empty() || !fs::exists(kept, error)) return;
    try {
        stage_.documents()[source_file_].replace(compiler::read_source_file(kept));
    } catch (const std::runtime_error& problem) {
        stage_.say(fmt::format("{}: {}", kept.string(), problem.what()), Tone::error);
    }
}

/// The settings of the checks stay; only the schedule is the lesson's.
void LessonBook::open_experiment(bool again) {
    const experiments::LessonStart& start = lesson_->start;
    compute::RunSettings run = stage_.run();
    run.schedule = start.run.schedule;
    const auto entry = experiments::unowned(experiments::find_experiment(start.experiment));
    const auto parameters = entry->make_parameters();
    parameters->replace(parameters->read(start.values));
    const std::string file = parameters->kernel_file();
    room_.keep(entry, file);
    if (!stage_.open(entry, start.values, run)) return;
    source_file_ = file;
    KernelDocument& text = stage_.documents()[file];
    try {
        start_source_ =
            start.source.empty() ? text.shipped() : compiler::read_source_file(start.source);
        text.replace(start_source_);
        if (!again) bring_source();
    } catch (const std::runtime_error& error) {
        stage_.say(fmt::format("{}: {}", start.source.string(), error.what()), Tone::error);
    }
    options_.editor = start.editor;
}

/// The student's own copy of a file of the lesson, which is made unless it is there. Where none can
/// be made: the file itself.
fs::path LessonBook::copied(const fs::path& file) const {
    std::error_code error;
    const fs::path folder = own_folder();
    if (folder.empty()) return file;
    fs::create_directories(folder, error);
    const fs::path copy = folder / file.filename();
    fs::copy_file(file, copy, fs::copy_options::skip_existing, error);
    return fs::exists(copy, error) ? copy : file;
}

void LessonBook::open_launch(bool again) {
    const experiments::LessonStart& start = lesson_->start;
    try {
        const launches::LaunchFile launch = launches::read_launch_file(start.launch);
        const fs::path source = launch.in_folder(launch.source);
        start_source_ = compiler::read_source_file(source);
        if (again) {
            if (std::as_const(stage_).documents().find(source_file_))
                stage_.documents()[source_file_].replace(start_source_);
            return;
        }
        source_file_ = experiments::source_key(launch);
        room_.keep(stage_.shown().launch, "");
        copied(source);
        launch_file_ = copied(start.launch).string();
    } catch (const std::exception& error) {
        return stage_.say(error.what(), Tone::error);
    }
    compute::RunSettings run = stage_.run();
    run.schedule = start.run.schedule;
    stage_.set_run(run);
    opener_.open(launch_file_);
}

const KernelDocument* LessonBook::document() const {
    return std::as_const(stage_).documents().find(stage_.parameters().kernel_file());
}

/// The experiment or the launch file of the lesson is on show.
bool LessonBook::is_shown() const {
    const experiments::Entry& entry = stage_.entry();
    return launch_file_.empty() ? entry.id == lesson_->start.experiment
                                : entry.launch_file == launch_file_;
}

bool LessonBook::is_elsewhere() const {
    if (!lesson_) return false;
    // The switch of the barrier may have put the built-in source in the place of the lesson's.
    if (!lesson_->start.source.empty() && document() && !document()->edited()) return true;
    return !is_shown();
}

/// Examines the named thread on a copy of the launch, on a thread of its own.
void LessonBook::follow_reader(const std::shared_ptr<const experiments::Inspection>& inspection) {
    if (is_ready(examined_)) reader_named_ = examined_.get();
    auto named = experiments::named_reader(document() ? document()->text() : std::string());
    if (!named && microscope_.is_open() && microscope_.ready())
        named = experiments::NamedReader{microscope_.thread(), microscope_.block()};
    if (examined_.valid() || (named == reader_ && inspection == reader_of_)) return;
    reader_ = named;
    reader_of_ = inspection;
    reader_named_ = false;
    if (!named || !inspection->launch) return;
    examined_ = std::async(std::launch::async, [launch = inspection->launch, reader = *named] {
        try {
            experiments::Specimen specimen(*launch);
            return experiments::reads_too_early(specimen, reader);
        } catch (const std::exception&) {
            return false;  // the copy can't be made; the check of the launch says why
        }
    });
}

/// Runs the program of the newest source, and judges the run of it.
void LessonBook::follow_program() {
    if (is_ready(running_)) evidence_ = running_.get();
    const SharedText& text = document()->shared_text();
    if (ran_ != text && running_.valid()) {
        stop_.request_stop();
    } else if (ran_ != text && run_program) {
        ran_ = text;
        evidence_ = {};
        stop_ = {};
        running_ = std::async(std::launch::async, run_program,
                              lesson_->start.launch.stem().stem().string() + ".cu", *text,
                              stop_.get_token());
    }
    judgements_.clear();
    if (!running_.valid() && !evidence_.numbers.empty())
        judgements_ = experiments::judge(*lesson_, evidence_.numbers);
}

void LessonBook::advance() {
    room_.advance();
    if (!lesson_) return;
    if (is_shown() && !std::exchange(arrived_, true) && !launch_file_.empty()) bring_source();
    if (!options_.lessons || (arrived_ && !is_shown())) return leave();
    if (is_elsewhere()) return judgements_.clear();
    try {
        judge();
    } catch (const experiments::LessonError& error) {
        leave();
        return stage_.say(error.what(), Tone::error);
    }
    if (judgements_.empty() || !experiments::passed(judgements_) || passed(lesson_->name)) return;
    options_.lessons_passed.push_back(lesson_->name);
    std::string said = tr("Passed: {}.", tr(lesson_->title));
    if (const auto reader = early_reader())
        said += " " + tr("Thread {} reads too early.", name_of(*reader));
    stage_.say(std::move(said));
}

/// Throws LessonError.
void LessonBook::judge() {
    const Checks& checks = stage_.checks();
    const KernelDocument* const text = document();
    const EditState state = text ? text->state() : EditState::shipped;
    const bool runs = state == EditState::shipped || state == EditState::running;
    if (stage_.trying() || !stage_.settled()) return;
    if (lesson_->start.program && text) return follow_program();
    if (!runs || !checks.current || !checks.inspection || stage_.shown().report_due) return;
    if (experiments::asks_for_reader(*lesson_)) follow_reader(checks.inspection);
    judgements_ = experiments::judge(
        *lesson_, experiments::gate_numbers({*checks.inspection, stage_.report(), reader_named_}));
}

}  // namespace warpscope::ui
