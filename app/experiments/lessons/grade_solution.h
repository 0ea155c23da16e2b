#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/helper/helpers.h"
#include "experiments/lessons/judge_solution.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// What became of a source that a student hands in.
struct Grade {
    std::vector<Judgement> judgements;  ///< empty where there is an `error`
    std::string error;                  ///< why the source could not be judged: it does not compile
    bool passed() const;
    /// The error, or the sentence of the first condition that does not hold; empty: it has passed.
    std::string reason() const;
};

/// Compiles the source, computes one frame of the lesson with it in an emulator, checks the launch
/// and judges it. `compiled` is called before anything of the source is executed. Throws
/// LessonError where the lesson itself can't be used, and compiler::NoCompiler.
Grade grade_solution(compute::Helpers& helpers, const Lesson& lesson,
                     const std::filesystem::path& source,
                     const std::function<void()>& compiled = {});

/// The values and settings of the lesson on a launch file that has this source.
launches::LaunchFile launch_of(const Lesson& lesson, const std::filesystem::path& source);

}  // namespace warpscope::experiments
