#include "experiments/lessons/grade_solution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "compiler/source_file.h"
#include "compute/device/kernel_files.h"
#include "emulator/observe/observer.h"
#include "emulator/program/error.h"
#include "experiments/launch/open_launch.h"
#include "experiments/lessons/lesson_program.h"

namespace warpscope::experiments {
namespace {

using emulator::FindingKind;

std::uint64_t count(const Inspection& inspection, FindingKind kind) {
    std::uint64_t all = 0;
    for (const emulator::Finding& finding : inspection.verdict.findings)
        if (finding.kind == kind && finding.severity != emulator::Severity::note)
            all += finding.count;
    return all;
}

/// The bytes of shared memory that a thread has read in this epoch of its block, and whether
/// another warp has written one of them later in the epoch, although its store stands before the
/// load in the program: the thread has read too early.
class EarlyReads : public emulator::Observer {
  public:
    explicit EarlyReads(std::uint32_t thread) : warp_(thread / 32), lane_(thread % 32) {}

    bool found() const { return found_; }

    bool wants_instructions(const emulator::Kernel&) const override { return false; }
    bool wants_global_accesses() const override { return false; }
    void on_block_begin(const emulator::Kernel&, std::uint32_t) override { forget(); }
    void on_barrier_release(const emulator::BarrierRelease&) override { forget(); }
    void on_shared_access(const emulator::Access& access) override {
        const bool writes = access.kind != emulator::MemoryAccess::load;
        const bool own = access.warp == warp_;
        if (writes == own) return;
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(access.mask >> lane & 1) || (own && lane != lane_)) continue;
            for (std::uint64_t k = 0; k < access.bytes; ++k)
                own ? read(access.address(lane) + k, access.pc)
                    : written(access.address(lane) + k, access.pc);
        }
    }

  private:
    void forget() { reads_.clear(); }
    void read(std::uint64_t byte, std::uint32_t pc) {
        std::uint32_t& last = reads_[byte];
        last = std::max(last, pc);
    }
    void written(std::uint64_t byte, std::uint32_t pc) {
        const auto before = reads_.find(byte);
        found_ |= before != reads_.end() && pc < before->second;
    }

    std::uint32_t warp_, lane_;
    std::map<std::uint64_t, std::uint32_t>
        reads_;  ///< by byte: the highest pc at which it was read
    bool found_ = false;
};

}  // namespace

launches::Names gate_numbers(const Evidence& evidence) {
    const Inspection& inspection = evidence.inspection;
    const auto whole = [](std::uint64_t number) { return launches::Number(std::int64_t(number)); };
    std::int64_t wrong = 0;
    for (const Reading& reading : evidence.report)
        wrong += reading.verdict == Verdict::fail || reading.verdict == Verdict::finding;
    std::uint64_t findings = 0;
    for (const emulator::Finding& finding : inspection.verdict.findings)
        findings += finding.severity != emulator::Severity::note;
    launches::Names names{{"races", whole(count(inspection, FindingKind::race))},
                          {"unwritten_reads", whole(count(inspection, FindingKind::uninitialized))},
                          {"barrier_faults", whole(count(inspection, FindingKind::barrier))},
                          {"findings", whole(findings)},
                          {"ends", whole(inspection.verdict.error.empty())},
                          {"wrong", launches::Number(wrong)},
                          {"results", whole(evidence.report.size())},
                          {"reader_named", whole(evidence.reader_named)}};
    const emulator::KernelCounters* kernel = nullptr;
    for (const emulator::KernelCounters& one : inspection.counters)
        if (one.kernel == inspection.kernel) kernel = &one;
    const emulator::KernelCounters none;
    const emulator::KernelCounters& counted = kernel ? *kernel : none;
    const auto a_block = [&](std::uint64_t number) {
        return launches::Number(double(number) /
                                double(std::max<std::uint64_t>(counted.blocks, 1)));
    };
    names["barriers"] = a_block(counted.barriers);
    names["instructions"] = a_block(counted.warp_instructions);
    names["separations"] = a_block(counted.separations);
    names["sectors"] = a_block(counted.global().sectors);
    names["passes"] = a_block(counted.shared().wavefronts);
    names["conflicts"] = a_block(counted.shared().conflicts());
    names["shared_bytes"] = a_block(counted.shared().bytes);
    return names;
}

std::vector<Judgement> judge(const Lesson& lesson, const launches::Names& numbers) {
    std::vector<Judgement> judgements;
    for (const LessonCondition& condition : lesson.gate) {
        try {
            judgements.push_back(
                {condition.sentence, launches::real(condition.holds.value(numbers)) != 0});
        } catch (const launches::LaunchError& error) {
            throw LessonError(fmt::format("{}: {}", lesson.file.string(), error.what()));
        }
    }
    return judgements;
}

bool passed(const std::vector<Judgement>& judgements) {
    return std::ranges::all_of(judgements, &Judgement::holds);
}

bool asks_for_reader(const Lesson& lesson) {
    return std::ranges::any_of(lesson.gate, [](const LessonCondition& condition) {
        return std::ranges::count(condition.holds.names(), "reader_named") > 0;
    });
}

std::optional<NamedReader> named_reader(std::string_view source) {
    constexpr std::string_view words = "reads too early: thread";
    const std::size_t at = source.find(words);
    if (at == std::string_view::npos) return {};
    std::string_view rest = source.substr(at + words.size());
    rest = rest.substr(0, rest.find('\n'));
    std::array<std::uint32_t, 3> index{};
    std::size_t count = 0;
    while (count < index.size()) {
        const std::size_t digit = rest.find_first_of("0123456789");
        if (digit == std::string_view::npos) break;
        const char* const begin = rest.data() + digit;
        const auto [end, error] = std::from_chars(begin, rest.data() + rest.size(), index[count]);
        if (error != std::errc()) return {};
        rest.remove_prefix(std::size_t(end - rest.data()));
        ++count;
    }
    if (count == 0) return {};
    return NamedReader{{index[0], index[1], index[2]}, {}};
}

bool reads_too_early(Specimen& specimen, const NamedReader& reader) {
    constexpr std::uint64_t most_blocks = 64;
    emulator::FrozenLaunch launch = specimen.launch();
    const emulator::Dim3 &block = launch.launch.block, &thread = reader.thread;
    if (thread.x >= block.x || thread.y >= block.y || thread.z >= block.z) return false;
    launch.settings.blocks = std::min(launch.launch.grid.count(), most_blocks);
    if (reader.block) {
        launch.settings.first_block = emulator::linear_in(launch.launch.grid, *reader.block);
        launch.settings.blocks = 1;
    }
    EarlyReads reads(emulator::linear_in(block, thread));
    try {
        specimen.machine().run(launch, &reads);
    } catch (const emulator::Error&) {
        // The reads that came before the error count as well.
    }
    return reads.found();
}

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
    if (lesson.start.program) {
        const ProgramEvidence run = run_program(source.filename().string(), text);
        if (run.numbers.empty()) return {{}, run.said};
        return {judge(lesson, run.numbers), {}};
    }
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
