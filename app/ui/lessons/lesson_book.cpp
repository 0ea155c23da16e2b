#include "ui/lessons/lesson_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "compiler/source_file.h"
#include "experiments/launch/launch_plan.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

/// The folder in which a student's sources are kept; empty: there is none.
fs::path own_folder() {
    if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
        return fs::path(data) / "warpscope" / "lessons";
    const char* home = std::getenv("HOME");
    return home && *home ? fs::path(home) / ".local/share/warpscope/lessons" : fs::path();
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
    try {
        lesson_ = experiments::read_lesson(file);
    } catch (const experiments::LessonError& error) {
        return stage_.say(error.what(), Tone::error);
    }
    if (std::exchange(folder_, file.parent_path()) != file.parent_path()) lessons_.reset();
    options_.lessons = true;
    step_ = 0;
    judgements_.clear();
    reader_.reset();
    reader_named_ = false;
    microscope_.close();
    lesson_->start.launch.empty() ? open_experiment(false) : open_launch(false);
}

void LessonBook::start_again() {
    judgements_.clear();
    microscope_.close();
    lesson_->start.launch.empty() ? open_experiment(true) : open_launch(true);
}

/// The settings of the checks stay; only the schedule is the lesson's.
void LessonBook::open_experiment(bool again) {
    launch_file_.clear();
    const experiments::LessonStart& start = lesson_->start;
    compute::RunSettings run = stage_.run();
    run.schedule = start.run.schedule;
    const auto entry = experiments::unowned(experiments::find_experiment(start.experiment));
    if (!stage_.open(entry, start.values, run)) return;
    const auto parameters = entry->make_parameters();
    parameters->replace(parameters->read(start.values));
    KernelDocument& text = stage_.documents()[parameters->kernel_file()];
    try {
        if (start.source.empty())
            text.replace(text.shipped());
        else if (again || !text.edited())
            text.replace(compiler::read_source_file(start.source));
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
        if (again) {
            const std::string key = experiments::source_key(launch);
            if (std::as_const(stage_).documents().find(key))
                stage_.documents()[key].replace(compiler::read_source_file(source));
            return;
        }
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

bool LessonBook::is_elsewhere() const {
    if (!lesson_) return false;
    const experiments::Entry& entry = stage_.entry();
    // The switch of the barrier may have put the built-in source in the place of the lesson's.
    if (!lesson_->start.source.empty() && document() && !document()->edited()) return true;
    return launch_file_.empty() ? entry.id != lesson_->start.experiment
                                : entry.launch_file != launch_file_;
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

void LessonBook::advance() {
    if (!lesson_) return;
    if (is_elsewhere()) return judgements_.clear();
    const Checks& checks = stage_.checks();
    const KernelDocument* const text = document();
    const EditState state = text ? text->state() : EditState::shipped;
    const bool runs = state == EditState::shipped || state == EditState::running;
    if (!runs || !checks.current || !checks.inspection || stage_.trying() || !stage_.settled() ||
        stage_.shown().report_due)
        return;
    if (experiments::asks_for_reader(*lesson_)) follow_reader(checks.inspection);
    try {
        judgements_ = experiments::judge(
            *lesson_,
            experiments::gate_numbers({*checks.inspection, stage_.report(), reader_named_}));
    } catch (const experiments::LessonError& error) {
        stage_.say(error.what(), Tone::error);
        return leave();
    }
    if (!experiments::passed(judgements_) || passed(lesson_->name)) return;
    options_.lessons_passed.push_back(lesson_->name);
    std::string said = tr("Passed: {}.", tr(lesson_->title));
    if (const auto reader = early_reader())
        said += " " + tr("Thread {} reads too early.", name_of(*reader));
    stage_.say(std::move(said));
}

}  // namespace warpscope::ui
