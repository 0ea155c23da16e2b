#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/parameter.h"
#include "launches/arrays/expression.h"

namespace warpscope::experiments {

/// A lesson can't be read. The message names the file, and the line where there is one.
struct LessonError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// What is on show when a lesson begins.
struct LessonStart {
    std::string experiment;        ///< its id; empty: `launch` is opened
    std::filesystem::path launch;  ///< a launch file
    std::filesystem::path source;  ///< of an experiment: in place of its built-in kernel file
    std::vector<Assignment> values;
    compute::RunSettings run;
    bool editor = false;   ///< the editor is open
    bool program = false;  ///< the source has a main(), whose run the gate is about
};

/// One thing to do. `widget` is the id of the widget that is marked meanwhile; empty: none is.
struct LessonStep {
    std::string text, widget;
    bool edits = false;     ///< it is done once the source has changed
    bool switches = false;  ///< it is done once the widget has another value
};

/// A fact that must hold for the lesson to be passed.
struct LessonCondition {
    launches::Expression holds;
    std::string sentence;  ///< says the fact
};

/// A file of lessons/, whose README.md describes the format.
struct Lesson {
    std::filesystem::path file;
    std::string name;   ///< of the file, without a number and extension: "mend-the-ripple"
    std::string title;  ///< "Mend the ripple"
    std::vector<std::string> text;  ///< paragraphs
    LessonStart start;
    std::vector<LessonStep> steps;
    std::vector<LessonCondition> gate;
};

/// Throws LessonError.
Lesson read_lesson(const std::filesystem::path& file);

/// The lessons of a folder, in the order of their names. Empty: there is no such folder.
std::vector<std::filesystem::path> lesson_files(const std::filesystem::path& folder);
/// The folder of the lessons that come with Warpscope; empty: it is missing.
std::filesystem::path lessons_folder();
/// A lesson by its number from 1, by its name, or by the path of a .md file. Throws LessonError.
std::filesystem::path find_lesson(const std::string& wish);

}  // namespace warpscope::experiments
