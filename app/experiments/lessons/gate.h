#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program/dim3.h"
#include "experiments/framework/report.h"
#include "experiments/lessons/lesson.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// What is known of a kernel that a student hands in.
struct Evidence {
    const Inspection& inspection;
    const Report& report;       ///< of the frame that was computed; empty: it failed
    bool reader_named = false;  ///< see reads_too_early()
};

/// The numbers that a gate may use; lessons/README.md lists them.
Names gate_numbers(const Evidence& evidence);

/// A condition of a gate and whether it holds.
struct Judgement {
    std::string sentence;
    bool holds = false;
};
/// Throws LessonError for a name that the gate may not use.
std::vector<Judgement> judge(const Lesson& lesson, const Names& numbers);
bool passed(const std::vector<Judgement>& judgements);
/// Whether the gate asks which thread reads too early.
bool asks_for_reader(const Lesson& lesson);

/// The thread that a source names in a comment, "reads too early: thread (3, 4)"; nullopt: none.
std::optional<emulator::Dim3> named_reader(std::string_view source);
/// Whether a thread of this index, in any of the first blocks, reads a word of shared memory that
/// another warp writes, with no barrier between the two.
bool reads_too_early(Specimen& specimen, const emulator::Dim3& thread);

}  // namespace warpscope::experiments
