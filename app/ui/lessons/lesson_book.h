#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "experiments/lessons/grade_solution.h"
#include "experiments/lessons/lesson_program.h"
#include "ui/edits/file_opener.h"
#include "ui/lessons/room.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// A file of the folder of lessons.
struct ListedLesson {
    std::filesystem::path file;
    std::string name, title;
    std::string error;  ///< why it can't be read; empty: it can
};

/// `current`: the one that is marked.
enum class StepState { done, current, open };

/// The lessons of a folder, the one that is open, and how far its gate is. What a student has
/// passed is in ViewOptions.
class LessonBook {
  public:
    LessonBook(Stage& stage, ViewOptions& options, Microscope& microscope, FileOpener& opener)
        : stage_(stage), options_(options), microscope_(microscope), opener_(opener) {}
    ~LessonBook() { stop_.request_stop(); }
    LessonBook(const LessonBook&) = delete;
    LessonBook& operator=(const LessonBook&) = delete;

    using RunProgram =
        std::function<experiments::ProgramEvidence(std::string, std::string, std::stop_token)>;
    /// Runs the program of a lesson, see experiments::run_program(); null: none can run.
    RunProgram run_program;

    /// Those of the folder of the lesson that was opened last, at first of those that come with
    /// Warpscope. Read when they are first asked for.
    const std::vector<ListedLesson>& lessons();
    /// The lesson that is open; null: none is, and the list is on show.
    const experiments::Lesson* lesson() const { return lesson_ ? &*lesson_ : nullptr; }
    /// Its place in the list; nullopt: it is a file of another folder.
    std::optional<std::size_t> place();
    bool passed(const std::string& name) const;

    /// Opens a lesson with the state that it starts from, but with the source as a student has left
    /// it. An error becomes the message.
    void open(const std::filesystem::path& file);
    /// Opens the lesson that is open with the source that it starts from.
    void start_again();
    /// Goes back to the list, and gives back what was on show before the lesson.
    void leave();
    /// leave(), and waits a moment until that is carried out: the window is about to close.
    void leave_for_good();

    StepState state(std::size_t step) const;
    /// The step whose widget is marked, from 0; nullopt: all are done.
    std::optional<std::size_t> step() const;
    void set_step(std::size_t step) { chosen_ = step; }
    /// The widget of a step was used.
    void use(std::size_t step);
    /// Of the gate, as far as the kernel on show has been checked; empty: it has not.
    const std::vector<experiments::Judgement>& judgements() const { return judgements_; }
    /// What is on show is not what the lesson is about.
    bool is_elsewhere() const;
    /// The thread that is named, if it reads too early; only where the gate asks for one.
    std::optional<emulator::Dim3> early_reader() const {
        return reader_named_ && reader_ ? std::optional(reader_->thread) : std::nullopt;
    }
    /// A named thread that was examined, and does not read too early.
    std::optional<emulator::Dim3> other_reader() const {
        return reader_ && !reader_named_ && !examined_.valid() ? std::optional(reader_->thread)
                                                               : std::nullopt;
    }
    /// The program of the lesson is compiled or runs.
    bool runs_program() const { return running_.valid(); }
    /// There is a result of the program's newest run.
    bool program_ran() const { return !evidence_.numbers.empty(); }
    /// What the newest run of the program has found; empty: nothing, or there is no program.
    const files::Sentence& program_says() const { return evidence_.said; }
    /// A named thread is being examined, or a program runs.
    bool busy() const { return examined_.valid() || running_.valid(); }
    /// Once a frame: judges the kernel on show.
    void advance();

  private:
    std::filesystem::path copied(const std::filesystem::path& file) const;
    std::filesystem::path kept_source() const;
    void keep_source();
    void bring_source();
    void begin();
    void end();
    void open_experiment(bool again);
    void open_launch(bool again);
    const KernelDocument* document() const;
    bool is_shown() const;
    bool done(std::size_t step) const;
    bool counts_as_done(std::size_t step) const;
    void judge();
    void follow_program();
    void follow_reader(const std::shared_ptr<const experiments::Inspection>& inspection);

    Stage& stage_;
    ViewOptions& options_;
    Microscope& microscope_;
    FileOpener& opener_;
    std::filesystem::path folder_ = experiments::lessons_folder();
    std::optional<std::vector<ListedLesson>> lessons_;
    std::optional<experiments::Lesson> lesson_;
    std::string launch_file_;   ///< of the lesson, as a student changes it; empty: an experiment
    std::string source_file_;   ///< "ripple", or "launch/halo"
    std::string start_source_;  ///< that the lesson starts from
    bool arrived_ = false;      ///< what the lesson is about has been on show
    Room room_{stage_, options_};
    std::vector<bool> used_;             ///< by step
    std::optional<std::size_t> chosen_;  ///< the step that a person has chosen
    std::vector<experiments::Judgement> judgements_;
    /// The named thread, the inspection for which it is examined, and the result.
    std::optional<experiments::NamedReader> reader_;
    std::shared_ptr<const experiments::Inspection> reader_of_;
    std::future<bool> examined_;
    bool reader_named_ = false;
    SharedText ran_;  ///< the source whose program runs or has run
    experiments::ProgramEvidence evidence_;
    std::stop_source stop_;
    std::future<experiments::ProgramEvidence> running_;
};

}  // namespace warpscope::ui
