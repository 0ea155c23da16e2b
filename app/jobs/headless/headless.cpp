#include "jobs/headless/headless.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <ranges>
#include <set>
#include <utility>

#include "compute/device/kernel_files.h"
#include "compute/emulated/emulated_device.h"
#include "compute/pick_device.h"
#include "experiments/framework/frame_cost.h"
#include "experiments/launch/launch.h"
#include "experiments/measure/kernel_figures.h"
#include "experiments/measure/user_paths.h"
#include "experiments/replicas/searches.h"
#include "experiments/replicas/try_edits.h"
#include "jobs/headless/checkpoint.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/json.h"
#include "jobs/output/verdict.h"
#include "launches/files/capture_archive.h"
#include "launches/files/file_kind.h"
#include "launches/files/program_capture.h"
#include "programs/report/program_control.h"
#include "programs/report/program_settings.h"

namespace warpscope::jobs {
namespace {

bool is_of_kernel(const compute::DeviceError& e) {
    return !dynamic_cast<const compute::Cancelled*>(&e) &&
           !dynamic_cast<const compute::DeviceLost*>(&e) &&
           !dynamic_cast<const compute::OutOfMemory*>(&e);
}

/// A device whose launches a judge runs.
class Judging {
  public:
    Judging(compute::EmulatedDevice& device, emulator::Judge& judge) : device_(device) {
        device_.judge(&judge);
    }
    Judging(const Judging&) = delete;
    Judging& operator=(const Judging&) = delete;
    ~Judging() { device_.judge(nullptr); }

  private:
    compute::EmulatedDevice& device_;
};

/// Calls `run`. Returns the error of a kernel that has ended it; empty: none has.
emulator::Verdict ended_by(const std::function<void()>& run, bool may_fail) {
    try {
        run();
        return {};
    } catch (const compute::DeviceError& e) {
        if (!may_fail || !is_of_kernel(e)) throw;
        const auto* const failed = dynamic_cast<const compute::BlockError*>(&e);
        return {.error = e.words, .timed_out = failed && failed->timed_out};
    }
}

/// Adds what the request asks about the findings: witnesses, what a GPU does, and what depends on
/// each barrier.
void examine(std::vector<emulator::Finding>& findings, const RunResult& result,
             const HeadlessRequest& request) {
    if (!result.start) return;
    if (request.witness)
        experiments::find_witnesses(findings, *result.start, std::chrono::seconds(2),
                                    request.stops.work);
    if (request.provoked > 0)
        experiments::provoke(findings, *result.start, request.provoked, request.gpu,
                             request.stops.work);
    if (request.checks.needed)
        findings = emulator::merged(
            {findings,
             experiments::find_needed(result.start, std::chrono::seconds(5), request.stops.work)
                 .findings()});
}

/// Calls `run` with the checks or counters of the request. A kernel that fails ends the run. With
/// checks, this is not thrown: what they have found up to there is reported.
void run_observed(RunResult& result, compute::Device& device, const HeadlessRequest& request,
                  const std::function<void()>& run) {
    auto& emulated = dynamic_cast<compute::EmulatedDevice&>(device);
    emulator::CheckChoice choice = request.checks;
    choice.counters = request.counters;
    choice.heat = request.heat.has_value();
    emulator::Judge judge(choice, emulated.launcher(), device.settings().seed);
    const Judging judging(emulated, judge);
    const emulator::Verdict end = ended_by(run, request.checks.has_checks());
    if (!end.error.empty()) {
        result.kernels = device.timings().kernels();
        result.output = device.take_output();
    }
    result.verdict = judge.verdict();
    // The error of a launch is the one that the window shows; others end the run, too.
    if (result.verdict.error.empty()) result.verdict.error = end.error;
    result.verdict.timed_out = end.timed_out;
    examine(result.verdict.findings, result, request);
    result.verdict = experiments::as_named(std::move(result.verdict), device.edits());
    result.counters = judge.counters();
    result.heat = judge.take_heat();
    for (emulator::KernelCounters& kernel : result.counters)
        for (emulator::LineCounters& line : kernel.lines)
            line.file = experiments::as_named(std::move(line.file), device.edits());
}

/// Writes the orders of the witnesses as FOLDER/N.schedule, N being the number of the finding. An
/// empty folder: none. Throws std::runtime_error.
void write_witnesses(const std::vector<emulator::Finding>& findings,
                     const std::filesystem::path& folder) {
    for (std::size_t k = 0; !folder.empty() && k < findings.size(); ++k)
        if (const auto& witness = findings[k].witness; witness && witness->preemptions)
            write_file(folder / fmt::format("{}.schedule", k + 1), witness->schedule);
}

using experiments::Entry;
using experiments::Experiment;
using experiments::Size;

bool has_pixels(Size size) {
    return size.width > 0 && size.height > 0;
}

const Entry& entry_of(const HeadlessRequest& request) {
    return request.entry ? *request.entry : experiments::find_experiment(request.experiment);
}

/// Throws UsageError with the file's name if a kernel from a file can't be loaded.
std::unique_ptr<Experiment> make(const Entry& entry, compute::Device& device) {
    try {
        return entry.make(device);
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const compute::Cancelled&) {
        throw;
    } catch (const compute::OutOfMemory&) {
        throw;
    } catch (const compute::DeviceError& e) {
        const compute::KernelEdits& edits = device.edits();
        if (edits.empty()) throw;
        const std::string words = experiments::as_named(std::string(e.what()), edits);
        const std::string& file = edits.begin()->second->from;
        // With several files, the error itself names the file at fault.
        if (edits.size() > 1 || words.starts_with(file)) throw UsageError(words);
        throw UsageError(fmt::format("{}: {}", file, words));
    }
}

/// Makes an experiment. Throws UsageError if it can't be set up with these values: an unknown word,
/// a file that can't be read, a size that does not fit into memory.
std::unique_ptr<Experiment> make_experiment(const Entry& entry, compute::Device& device,
                                            std::span<const experiments::Assignment> assignments) {
    auto experiment = make(entry, device);
    try {
        experiment->set(assignments);
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const compute::Cancelled&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw UsageError(fmt::format(
            "{}: these settings need more memory than there is; choose smaller ones", entry.id));
    } catch (const std::exception& e) {
        throw UsageError(fmt::format("{}: {}", entry.id, e.what()));
    }
    experiment->reset();
    return experiment;
}

Presentation run_plain(const Entry& entry, Experiment& experiment, const HeadlessRequest& request,
                       const Frames& frames) {
    const Size size = experiment.picture_size(request.size);
    std::optional<PlainTarget> target;
    if (has_pixels(size)) target.emplace(experiment.device(), size);
    // A recording draws each frame itself.
    const bool draws =
        target && (!request.screenshot.empty() || (request.frames > 0 && request.record.empty()));
    const experiments::Metadata added = frames([&] {
        if (draws) target->draw(experiment);
    });
    if (request.screenshot.empty())
        return {"none", "no screenshot was requested, so nothing was presented"};
    experiments::Metadata metadata = experiments::describe(experiment, entry, request.size, true);
    metadata.insert(metadata.end(), added.begin(), added.end());
    target->save(request.screenshot, metadata);
    return {"none", "the picture needs no OpenGL: it is saved as the kernels wrote it"};
}

/// Returns nullptr for the emulator, and for a GPU without enough free memory to be measured.
const compute::Ceilings* ceilings_of(compute::Device& device) {
    if (device.info().kind != compute::DeviceKind::cuda) return nullptr;
    try {
        return &compute::measure_ceilings(device);
    } catch (const compute::DeviceError&) {
        return nullptr;
    }
}

/// Seconds that a frame will take; 0 if that is not known.
double expected_seconds(const HeadlessRequest& request, const compute::DeviceInfo& device) {
    const auto parameters = entry_of(request).make_parameters();
    parameters->parse(request.assignments);
    const double seconds =
        experiments::FrameCosts().seconds(request.experiment, device, parameters->work());
    return request.checks.has_checks() || request.counters ? experiments::watched_factor * seconds
                                                           : seconds;
}

Presentation present(const Entry& entry, const experiments::Running& running,
                     const HeadlessRequest& request, const Painter& painter, const Frames& frames) {
    Experiment& experiment = *running.experiment;
    const bool picture_alone =
        request.view_only && has_pixels(experiment.picture_size(request.size));
    if (request.screenshot.empty() || picture_alone)
        return run_plain(entry, experiment, request, frames);
    return painter({entry, running, frames, request.size, request.screenshot, request.view_only});
}

void save_if_due(const HeadlessRequest& request, Experiment& experiment) {
    const bool due = experiment.frame() > 0 && experiment.frame() % request.every == 0;
    if (due && !request.checkpoint.empty()) write_checkpoint(request.checkpoint, experiment);
}

void run_frames(RunResult& result, const Entry& entry,
                const std::shared_ptr<compute::Device>& shared, const HeadlessRequest& request,
                const Painter& painter) {
    compute::Device& device = *shared;
    StoppableRun run(device, request.stops);
    const std::shared_ptr<Experiment> experiment =
        make_experiment(entry, device, request.assignments);
    if (request.resumed) experiment->resume(*request.resumed);
    result.parameters = to_json(entry.id, experiment->parameters());
    if (request.witness || request.provoked > 0 || request.checks.needed)
        result.start =
            std::make_shared<const experiments::LaunchState>(entry, *experiment, device.settings());
    std::optional<FrameRecorder> recorder;
    if (!request.record.empty()) recorder.emplace(*experiment, entry, request.size, request.record);
    ProgressLine line = terminal_line(request.frames, expected_seconds(request, device.info()));
    const Frames frames = [&](const auto& render) -> experiments::Metadata {
        compute_frames(*experiment, request.frames, run, line, [&] {
            render();
            if (recorder) recorder->add();
            save_if_due(request, *experiment);
        });
        if (!run.stopped()) return {};
        return {{"partial",
                 fmt::format("stopped after frame {} of {}", experiment->frame(), request.frames)}};
    };
    Partial partial{.frames_requested = request.frames};
    const auto missing = [&](const char* what) { partial.missing.emplace_back(what); };
    const bool presented = run.finish([&] {
        result.presentation = present(entry, {shared, experiment}, request, painter, frames);
    });
    if (run.stopped() && experiment->frame() == 0 && request.frames > 0)
        throw compute::Cancelled("the run was stopped before its first frame");
    if (recorder) recorder->finish();
    if (!presented) result.presentation = {"none", "the run was stopped"};
    if (!presented && !request.screenshot.empty()) missing("screenshot");
    line.say(run.stopped() ? "stopped: computing the partial results" : "computing the results");
    result.gpu = compute::gpu_state(device.info().pci_bus_id);
    const bool reported = run.finish([&] {
        result.report = experiment->report();
        device.synchronize();
    });
    if (!reported) missing("report");
    if (!request.why.empty() && !run.stopped())
        result.why = ask_why(
            std::make_shared<const experiments::LaunchState>(entry, *experiment, device.settings()),
            request.why, request.helpers, request.stops.work);
    if (!request.html.empty() && !run.stopped())
        result.png = png_of(*experiment, entry, request.size);
    if (!run.stopped()) result.files = experiment->output_files();
    result.output = device.take_output();
    result.kernels = device.timings().kernels();
    result.ceilings = run.stopped() ? nullptr : ceilings_of(device);
    const auto compare = [&] { result.comparison = experiment->compare(); };
    if (request.compare && (run.stopped() || !run.once(compare))) missing("comparison");
    result.parameters = to_json(entry.id, experiment->parameters());
    result.frames = experiment->frame();
    if (run.stopped()) result.partial = std::move(partial);
}

/// Replaces the device with one that runs the kernels of the files. False if they do not compile.
bool take_kernels(compute::Helpers& helpers, std::shared_ptr<compute::Device>& device,
                  const HeadlessRequest& request, std::vector<KernelFile>& files) {
    helpers.warm(device->info());
    compute::KernelEdits edits;
    const bool compiled =
        compile(helpers, device->settings().math, files, edits, request.stops.work);
    print_error(diagnostic_lines(files));
    if (compiled && !edits.empty())
        device = helpers.device(device->info(), device->settings(), std::move(edits),
                                {request.kernel_time, request.stops.work, true});
    return compiled;
}

bool is_capture(const std::filesystem::path& path) {
    return std::filesystem::is_directory(path) ||
           launches::file_kind(path) == launches::FileKind::capture;
}

/// The launch of a capture that HeadlessRequest::why is about: the last of those that are asked
/// whose kernel has an argument of that name.
std::filesystem::path asked_launch(compute::Helpers& helpers, const HeadlessRequest& request,
                                   compute::Math math) {
    const std::filesystem::path folder = std::filesystem::is_directory(request.launch)
                                             ? request.launch
                                             : launches::unpacked(request.launch);
    const auto capture = launches::read_capture(folder);
    if (!capture) throw UsageError("--why: no launch was captured");
    const std::string name = request.why.substr(0, request.why.find('['));
    const auto numbers = programs::read_launch_ranges(request.why_launches);
    std::map<std::string, bool> has_name;  // by kernel
    std::set<std::string> known_names;
    for (const launches::CapturedLaunch& launch : capture->launches | std::views::reverse) {
        if (!request.why_kernel.empty() && launch.kernel != request.why_kernel) continue;
        if (!programs::is_in(*numbers, launch.number)) continue;
        const auto [known, is_new] = has_name.try_emplace(launch.kernel, request.why == "first");
        if (is_new && !known->second) {
            const auto file = launches::read_launch_file(launch.file);
            const auto opened = experiments::open_launch(helpers, file, math, request.stops.work);
            known->second = opened.plan->file.find_buffer(name);
            for (const auto& buffer : opened.plan->file.buffers) known_names.insert(buffer.name);
        }
        if (known->second) return launch.file;
    }
    throw UsageError(fmt::format("--why {}: no captured launch{} has an argument {}; there are: {}",
                                 request.why,
                                 request.why_launches.empty() && request.why_kernel.empty()
                                     ? ""
                                     : " that --launches and --kernel choose",
                                 name, fmt::join(known_names, ", ")));
}

/// Opens the launch file of the request, and replaces the device with one that runs its kernels.
/// False if they do not compile.
bool take_launch(compute::Helpers& helpers, std::shared_ptr<compute::Device>& device,
                 HeadlessRequest& request) {
    if (!request.why.empty() && is_capture(request.launch))
        request.launch = asked_launch(helpers, request, device->settings().math);
    const launches::LaunchFile file = experiments::find_launch_file(request.launch);
    if (file.built_in) {
        request.entry = experiments::launch_entry(file);
        return true;
    }
    helpers.warm(device->info());
    const auto opened = compile_launch(helpers, file, device->settings().math, request.stops.work);
    if (!opened) return false;
    request.entry = opened->entry;
    request.plan = opened->plan;
    compute::RunSettings run = device->settings();
    if (!run.turns && device->info().kind == compute::DeviceKind::emulator)
        run.turns = experiments::read_schedule(file);
    device = helpers.device(device->info(), run, {{opened->kernels->file, opened->kernels}},
                            {request.kernel_time, request.stops.work, true});
    return true;
}

/// Returns the request with few frames and without output files, which can repeat a failure.
HeadlessRequest shortened(HeadlessRequest request) {
    request.frames = std::min<std::uint64_t>(request.frames, 3);
    request.screenshot.clear();
    request.record.clear();
    request.compare = false;
    return request;
}

RunResult run_or_explain(const std::shared_ptr<compute::Device>& device,
                         const HeadlessRequest& request, const Painter& painter) {
    try {
        return run_experiment(device, request, painter);
    } catch (const compute::DeviceError& e) {
        if (request.stops.work.stop_requested()) throw;
        print_error(device->take_output());
        std::string error = e.what();
        if (device->info().in_helper && !dynamic_cast<const compute::OutOfMemory*>(&e))
            error = experiments::with_emulator_error(
                std::move(error), device->settings(), device->edits(),
                [&](const auto& emulator) { run_experiment(emulator, shortened(request), {}); });
        throw compute::DeviceError(experiments::as_named(std::move(error), device->edits()));
    }
}

RunResult run_edited(compute::Helpers& helpers, const std::shared_ptr<compute::Device>& device,
                     const HeadlessRequest& request, const Painter& painter) {
    try {
        return run_or_explain(device, request, painter);
    } catch (const std::exception&) {
        auto anew = helpers.compiled_anew(device->edits(), request.stops.work);
        if (anew == device->edits()) throw;
        return run_or_explain(helpers.device(device->info(), device->settings(), std::move(anew),
                                             device->launch_limits()),
                              request, painter);
    }
}

void write_results(const RunResult& result, const HeadlessRequest& request) {
    if (request.checks.has_checks())
        write_findings(request.findings, result.verdict, result.checks,
                       is_sure(result) ? std::optional(result.fail_on) : std::nullopt, result.known,
                       !result.partial);
    if (!request.html.empty()) write_file(request.html, html_page(result, request));
    for (const experiments::OutputFile& file : result.files) write_file(file.path, file.content);
    write_witnesses(result.verdict.findings, request.witnesses);
    if (request.json == "-") return print(dump(to_json(result)));
    if (!request.json.empty()) write_file(request.json, dump(to_json(result)));
    std::string text = summary(result);
    const auto missing = result.partial ? result.partial->missing : std::vector<std::string>();
    if (!request.screenshot.empty() && std::ranges::find(missing, "screenshot") == missing.end())
        text += "\nsaved " + request.screenshot.string() + "\n";
    if (!request.record.empty()) text += "\nsaved " + request.record.string() + "\n";
    for (const experiments::OutputFile& file : result.files)
        text += "\nsaved " + file.path.string() + "\n";
    print(visible(text));
}

Known review_of(const RunResult& result, const FindingFiles& files) {
    Sources sources{
        [&](const std::string& file) { return experiments::source_of(result.edits, file); }};
    for (const auto& [file, edit] : result.edits) sources.files.push_back(edit->from);
    return review(result.verdict, result.checks, files, sources);
}

/// Does what run_headless() does, except for handling signals.
int run_and_write(compute::Helpers& helpers, std::shared_ptr<compute::Device> device,
                  HeadlessRequest request, const Painter& painter) {
    std::vector<KernelFile> files;
    request.helpers = &helpers;
    if (!request.launch.empty() && !take_launch(helpers, device, request)) return 2;
    check_cost(request, device->info());
    if (!request.kernel_source.empty() || !request.kernels.empty()) {
        files = read_kernel_files(request.kernel_source, request.kernels, entry_of(request),
                                  request.assignments);
        if (!take_kernels(helpers, device, request, files)) return 2;
    }
    RunResult result = device->edits().empty() ? run_experiment(device, request, painter)
                                               : run_edited(helpers, device, request, painter);
    result.kernel_files = std::move(files);
    if (request.plan) tell_guesses(result, *request.plan, request.assignments);
    experiments::name_kernels(result.kernels, result.counters, result.edits);
    if (request.checks.has_checks()) result.known = review_of(result, request.findings);
    write_results(result, request);
    return exit_code(result);
}

/// Makes devices like the first GPU, in helper processes. Throws UsageError if there is no GPU.
experiments::DeviceOf gpu_of(compute::Helpers& helpers, const HeadlessRequest& request) {
    try {
        const compute::DeviceInfo like = compute::pick_device("cuda")->info();
        return [&helpers, like, time = request.kernel_time, stop = request.stops.work](
                   const compute::RunSettings& settings, compute::KernelEdits edits) {
            return helpers.device(like, settings, std::move(edits), {time, stop});
        };
    } catch (const compute::DeviceError& error) {
        throw UsageError(fmt::format("--provoke: {}", error.what()));
    }
}

}  // namespace

RunResult run_experiment(const std::shared_ptr<compute::Device>& device,
                         const HeadlessRequest& request, const Painter& painter) {
    const Entry& entry = entry_of(request);
    RunResult result;
    result.experiment = entry.id;
    result.device = device->info();
    result.settings = device->settings();
    result.frames = request.frames;
    result.compared = request.compare;
    result.checks = request.checks;
    result.fail_on = request.fail_on;
    result.counted = request.counters;
    result.lines = request.lines;
    result.hottest = request.heat;
    result.edits = device->edits();
    const auto run = [&] { run_frames(result, entry, device, request, painter); };
    request.checks.has_checks() || request.counters ? run_observed(result, *device, request, run)
                                                    : run();
    return result;
}

void check_cost(const HeadlessRequest& request, const compute::DeviceInfo& device) {
    const double frame = expected_seconds(request, device);
    const double all = frame * double(request.frames);
    if (all <= most_seconds) return;
    const auto words = fmt::format("{}: about {} a frame and {} in all on {}", request.experiment,
                                   experiments::duration_words(frame),
                                   experiments::duration_words(all), device.name);
    if (!request.force)
        throw UsageError(words + "; choose smaller values or fewer frames, or add --force");
    print_error(fmt::format("warpscope: {}\n", words));
}

int run_headless(compute::Helpers& helpers, std::shared_ptr<compute::Device> device,
                 const HeadlessRequest& request, const Painter& painter) {
    constexpr std::chrono::seconds time_for_results(5);
    if (!request.screenshot.empty()) check_writable(request.screenshot, "--screenshot");
    if (!request.record.empty()) check_writable(request.record, "--record");
    if (!request.html.empty()) check_writable(request.html, "--html");
    if (!request.json.empty() && request.json != "-") check_writable(request.json, "--json");
    check_files(request.findings);
    if (std::error_code error; !request.witnesses.empty()) {
        std::filesystem::create_directories(request.witnesses,
                                            error);  // or the next line complains
        check_writable(request.witnesses / "1.schedule", "--witness");
    }
    if (!request.checkpoint.empty()) check_writable(request.checkpoint, "--checkpoint");

    HeadlessRequest stoppable = request;
    if (!request.resume.empty()) {
        experiments::Snapshot from = read_checkpoint(request.resume);
        stoppable.assignments = resumed_assignments(from, request.assignments);
        from.parameters.clear();  // the assignments have them
        stoppable.resumed = std::make_shared<const experiments::Snapshot>(std::move(from));
    }
    const Interruption interruption(time_for_results);
    stoppable.stops = {interruption.work(), interruption.results()};
    if (request.provoked > 0) stoppable.gpu = gpu_of(helpers, stoppable);
    int code = 0;
    try {
        code = run_and_write(helpers, std::move(device), stoppable, painter);
    } catch (const std::exception& error) {
        if (interruption.signal() == 0) throw;
        print_error(fmt::format("warpscope: {}; nothing was written\n", error.what()));
    }
    if (interruption.signal()) throw Interrupted{interruption.signal()};
    return code;
}

Why ask_capture(compute::Helpers& helpers, const compute::RunSettings& settings,
                HeadlessRequest request) {
    const Interruption interruption(std::chrono::seconds(0));
    request.stops = {interruption.work(), interruption.results()};
    try {
        const auto file = launches::read_launch_file(asked_launch(helpers, request, settings.math));
        return ask_why(experiments::open_captured(helpers, file, settings, request.stops.work),
                       request.why, &helpers, request.stops.work);
    } catch (const std::exception&) {
        if (interruption.signal()) throw Interrupted{interruption.signal()};
        throw;
    }
}

emulator::CheckChoice parse_checks(std::string_view text) {
    try {
        return programs::read_checks(text);
    } catch (const std::invalid_argument& problem) {
        throw UsageError(fmt::format("--check {}", problem.what()));
    }
}

}  // namespace warpscope::jobs
