#include "experiments/lessons/grade_solution.h"

#include <fmt/format.h>

#include "compiler/source_file.h"
#include "compute/device/kernel_source.h"
#include "experiments/launch/open_launch.h"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;

/// The experiment of a lesson with the kernels of a source.
struct Prepared {
    SharedEntry entry;
    compute::KernelEdits edits;
};

std::string read_solution(const fs::path& source) {
    try {
        return compiler::read_source_file(source);
    } catch (const std::runtime_error& error) {
        throw LessonError(fmt::format("{}: {}", source.string(), error.what()));
    }
}

Prepared prepare(compute::Helpers& helpers, const Lesson& lesson, const fs::path& source,
                 const std::string& text) {
    const LessonStart& start = lesson.start;
    if (!start.launch.empty()) {
        const CompiledEntry compiled =
            compile_launch(helpers, launch_of(lesson, source), text, start.run.math);
        return {compiled.entry, {{compiled.kernels->file, compiled.kernels}}};
    }
    const SharedEntry entry = unowned(find_experiment(start.experiment));
    const auto parameters = entry->make_parameters();
    parameters->replace(parameters->read(start.values));
    const std::string file = parameters->kernel_file();
    if (text == compute::kernel_source(compute::kernel_path(file))) return {entry, {}};
    compute::KernelEdit edit = *helpers.compile(file, text, start.run.math);
    edit.from = source.string();
    return {entry, {{file, std::make_shared<const compute::KernelEdit>(std::move(edit))}}};
}

/// The report of the first frame; empty where a kernel fails.
Report first_frame(Experiment& experiment) {
    try {
        experiment.step();
        return experiment.report();
    } catch (const compute::DeviceError&) {
        experiment.reset();
        return {};  // the check of the launch says why
    }
}

Grade run(const Lesson& lesson, const Prepared& prepared, const std::string& text) {
    Replica lives;
    lives.device = compute::make_emulated_device({.reason = "for a lesson",
                                                  .settings = lesson.start.run,
                                                  .edits = prepared.edits,
                                                  .limits = compute::usual_limits()});
    lives.experiment = prepared.entry->make(*lives.device);
    lives.experiment->set(lesson.start.values);
    lives.experiment->reset();
    const Report report = first_frame(*lives.experiment);
    const LaunchState state(*prepared.entry, *lives.experiment, lesson.start.run);
    const Inspection inspection = inspect(state);
    const auto reader = asks_for_reader(lesson) ? named_reader(text) : std::nullopt;
    bool early = false;
    if (reader) {
        Specimen another(state);
        early = reads_too_early(another, *reader);
    }
    return {judge(lesson, gate_numbers({inspection, report, early})), {}};
}

}  // namespace

bool Grade::passed() const {
    return error.empty() && experiments::passed(judgements);
}

std::string Grade::reason() const {
    if (!error.empty()) return error;
    for (const Judgement& one : judgements)
        if (!one.holds) return "Not yet: " + one.sentence;
    return {};
}

launches::LaunchFile launch_of(const Lesson& lesson, const fs::path& source) {
    try {
        launches::LaunchFile file = launches::read_launch_file(lesson.start.launch);
        if (!source.empty()) file.source = fs::absolute(source);
        return file;
    } catch (const launches::LaunchError& error) {
        throw LessonError(fmt::format("{}: {}", lesson.start.launch.string(), error.what()));
    }
}

Grade grade_solution(compute::Helpers& helpers, const Lesson& lesson, const fs::path& source,
                     const std::function<void()>& compiled) {
    const std::string text = read_solution(source);
    try {
        const Prepared prepared = prepare(helpers, lesson, source, text);
        if (compiled) compiled();
        return run(lesson, prepared, text);
    } catch (const compiler::CompileError& error) {
        for (const compiler::Diagnostic& one : error.diagnostics)
            if (one.severity == compiler::Severity::error)
                return {{}, fmt::format("{}:{}: {}", source.string(), one.line, one.text)};
        return {{}, error.what()};
    } catch (const launches::LaunchError& error) {
        return {{}, error.what()};
    } catch (const compute::DeviceError& error) {
        return {{}, error.what()};
    }
}

}  // namespace warpscope::experiments
