#pragma once

#include <filesystem>
#include <string>

#include "compute/helper/helpers.h"

namespace warpscope::jobs {

/// What `--lesson N --check SOLUTION` asks for.
struct GradeRequest {
    std::filesystem::path lesson;    ///< its .md file
    std::filesystem::path solution;  ///< a .cu file, or a folder of them
    std::string json;                ///< of a file: where it goes, "-" for standard output
};

/// Grades a source by a confined process, and prints each condition of the lesson's gate. Of a
/// folder, each source is graded by a process of its own, and the table goes to standard output as
/// CSV: file,passed,reason. Returns 0 if the lesson is passed by the source, or by all of them,
/// else 1. Throws UsageError, and std::runtime_error if no process can be started.
int run_grade(const GradeRequest& request);

/// Grades a source in this process and writes the grade to standard output, a pipe, as JSON. The
/// process confines itself before it executes anything of the source: it can't start programs,
/// write files, or use more than 4 GiB and `grade_seconds` of CPU time. Throws
/// experiments::LessonError and compiler::NoCompiler.
int grade_here(const GradeRequest& request);

/// The CPU time and the time of a process that grades one source.
inline constexpr int grade_seconds = 60, grade_wall_seconds = 120;

}  // namespace warpscope::jobs
