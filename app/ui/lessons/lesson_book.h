#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/lessons/grade_solution.h"
#include "ui/edits/file_opener.h"
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

/// The lessons of a folder, the one that is open, and how far its gate is. What a student has
/// passed is in ViewOptions.
class LessonBook {
  public:
    LessonBook(Stage& stage, ViewOptions& options, Microscope& microscope, FileOpener& opener)
        : stage_(stage), options_(options), microscope_(microscope), opener_(opener) {}

    /// Those of the folder of the lesson that was opened last, at first of those that come with
    /// Warpscope. Read when they are first asked for.
    const std::vector<ListedLesson>& lessons();
    /// The lesson that is open; null: none is, and the list is on show.
    const experiments::Lesson* lesson() const { return lesson_ ? &*lesson_ : nullptr; }
    /// Its place in the list; nullopt: it is a file of another folder.
    std::optional<std::size_t> place();
    bool passed(const std::string& name) const;

    /// Opens a lesson with the state that it starts from, but with the source as a student has
    /// saved it. An error becomes the message.
    void open(const std::filesystem::path& file);
    /// Opens the lesson that is open with the source that it starts from.
    void start_again();
    /// Goes back to the list.
    void leave() { lesson_.reset(); }

    /// The step whose widget is marked, from 0.
    std::size_t step() const { return step_; }
    void set_step(std::size_t step) { step_ = step; }
    /// Of the gate, as far as the kernel on show has been checked; empty: it has not.
    const std::vector<experiments::Judgement>& judgements() const { return judgements_; }
    /// What is on show is not what the lesson is about.
    bool is_elsewhere() const;
    /// The thread that is named, if it reads too early; only where the gate asks for one.
    std::optional<emulator::Dim3> early_reader() const {
        return reader_named_ && reader_ ? std::optional(reader_->thread) : std::nullopt;
    }
    /// A named thread is being examined.
    bool busy() const { return examined_.valid(); }
    /// Once a frame: judges the kernel on show.
    void advance();

  private:
    std::filesystem::path copied(const std::filesystem::path& file) const;
    void open_experiment(bool again);
    void open_launch(bool again);
    const KernelDocument* document() const;
    void follow_reader(const std::shared_ptr<const experiments::Inspection>& inspection);

    Stage& stage_;
    ViewOptions& options_;
    Microscope& microscope_;
    FileOpener& opener_;
    std::filesystem::path folder_ = experiments::lessons_folder();
    std::optional<std::vector<ListedLesson>> lessons_;
    std::optional<experiments::Lesson> lesson_;
    std::string launch_file_;  ///< of the lesson, as a student changes it; empty: an experiment
    std::size_t step_ = 0;
    std::vector<experiments::Judgement> judgements_;
    /// The named thread, the inspection for which it is examined, and the result.
    std::optional<experiments::NamedReader> reader_;
    std::shared_ptr<const experiments::Inspection> reader_of_;
    std::future<bool> examined_;
    bool reader_named_ = false;
};

}  // namespace warpscope::ui
