#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compute/helper/helpers.h"
#include "emulator/program/launch.h"
#include "experiments/framework/report.h"
#include "experiments/lessons/lesson.h"
#include "experiments/replicas/specimen.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// The results of running a kernel that a student hands in.
struct Evidence {
    const Inspection& inspection;
    const Report& report;       ///< of the frame that was computed; empty: it failed
    bool reader_named = false;  ///< see reads_too_early()
};

/// The numbers that a gate may use; lessons/README.md lists them.
launches::Names gate_numbers(const Evidence& evidence);

/// A condition of a gate and whether it holds.
struct Judgement {
    std::string sentence;
    bool holds = false;
};
/// Throws LessonError for a name that the gate may not use.
std::vector<Judgement> judge(const Lesson& lesson, const launches::Names& numbers);
bool passed(const std::vector<Judgement>& judgements);
/// Whether the gate asks which thread reads too early.
bool asks_for_reader(const Lesson& lesson);

/// A thread of which a student says that it reads too early.
struct NamedReader {
    emulator::Dim3 thread;
    std::optional<emulator::Dim3> block;  ///< nullopt: any of the first blocks
    bool operator==(const NamedReader&) const = default;
};
/// The thread that a source names in a comment, "reads too early: thread (3, 4)"; nullopt: none.
std::optional<NamedReader> named_reader(std::string_view source);
/// Whether the thread reads a word of shared memory before another warp has written it, with no
/// barrier between the two, although the write stands before the read in the program. A thread that
/// reads after the write is part of the race too, but does not read too early.
bool reads_too_early(Specimen& specimen, const NamedReader& reader);

/// What became of a source that a student hands in.
struct Grade {
    std::vector<Judgement> judgements;  ///< empty where there is an `error`
    std::string error;                  ///< why the source could not be judged: it does not compile
    bool passed() const;
    /// The error, or the sentence of the first condition that does not hold; empty: it has passed.
    std::string reason() const;
};

/// Compiles the source, computes one frame of the lesson with it in an emulator, checks the launch
/// and judges it. `compiled` is called before anything of the source is executed. The source of a
/// program runs in a confined process, see run_program(). Throws LessonError where the lesson
/// itself can't be used, and compiler::NoCompiler.
Grade grade_solution(compute::Helpers& helpers, const Lesson& lesson,
                     const std::filesystem::path& source,
                     const std::function<void()>& compiled = {});

/// The values and settings of the lesson on a launch file that has this source.
launches::LaunchFile launch_of(const Lesson& lesson, const std::filesystem::path& source);

}  // namespace warpscope::experiments
