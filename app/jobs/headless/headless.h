#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/device/enum_words.h"
#include "emulator/judge.h"
#include "experiments/framework/metadata.h"
#include "experiments/framework/report.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/replicas/provoke.h"
#include "experiments/replicas/specimen.h"
#include "experiments/replicas/word_history.h"
#include "experiments/replicas/wrong_results.h"
#include "jobs/headless/counters.h"
#include "jobs/headless/frame_loop.h"
#include "jobs/headless/kernel_files.h"
#include "jobs/output/json.h"
#include "jobs/output/known_findings.h"

namespace warpscope::jobs {

/// Why an element of the result is wrong.
struct Why {
    experiments::WrongReason reason;
    std::string order;                       ///< of the right run; empty: none is known
    std::size_t nodes = 0, right_nodes = 0;  ///< of the slices
    std::vector<std::string> slice, right;   ///< slice_lines()
    /// The launch, if it is one of a program that was captured, and who has written the element and
    /// what it was computed from.
    std::optional<launches::CapturedLaunch> launch{};
    std::vector<experiments::WordLink> history{};
};

/// `helpers`: open other launches of a capture; null: they are not followed. Throws UsageError for
/// an element that is not there, and what the emulator throws.
Why ask_why(const std::shared_ptr<const experiments::LaunchState>& launch,
            const std::string& element, compute::Helpers* helpers, std::stop_token stop);

Json to_json(const Why& why);
std::string why_text(const Why& why);

struct HeadlessRequest {
    std::string experiment;          ///< its id, if there is no `entry`
    std::filesystem::path launch{};  ///< a launch file, in place of an experiment; empty: none
    std::shared_ptr<const experiments::Entry> entry{};      ///< the entry of the opened launch file
    std::shared_ptr<const experiments::LaunchPlan> plan{};  ///< its plan; null: it is built in
    std::vector<experiments::Assignment> assignments{};
    std::uint64_t frames = 1;
    experiments::Size size{1280, 720};   ///< the size of the window whose picture is saved
    std::filesystem::path screenshot{};  ///< a PNG file; empty: none
    std::filesystem::path record{};      ///< an animated PNG or an MP4 of the picture; empty: none
    bool view_only = false;              ///< save the picture without panels, for a view of `size`
    bool compare = false;
    /// A file, or "-" for standard output, which then receives nothing else. Empty: no JSON.
    std::string json{};
    emulator::CheckChoice checks{};  ///< they need an EmulatedDevice
    std::filesystem::path html{};    ///< a page about the run; empty: none
    FindingFiles findings{};         ///< what is known of what `checks` find, and who receives it
    /// The exit code is 1 for findings from this severity on.
    emulator::Severity fail_on = emulator::Severity::warning;
    /// Looks for an order of the warps in which each race that is found spoils a result.
    bool witness = false;
    /// A folder that receives these orders as schedule files; empty: none does.
    std::filesystem::path witnesses{};
    /// Counts how often a GPU computes a wrong result in so many launches, with each race as it is
    /// and provoked; 0: no GPU is asked.
    unsigned provoked = 0;
    /// Makes the GPU; run_headless() sets it.
    experiments::DeviceOf gpu{};
    /// The element of the result whose wrong value is to be explained: see
    /// experiments::WrongResults::find(). Empty: none.
    std::string why{};
    /// Which launches of a capture are asked: "3,17-20", and those of a kernel. Empty: all.
    std::string why_launches{}, why_kernel{};
    compute::Helpers* helpers = nullptr;  ///< run_headless() sets it
    bool counters = false;                ///< true needs an EmulatedDevice
    /// Sorts the counters of source lines; empty: none.
    std::optional<experiments::LineFigure> lines{};
    /// Sorts the counters of words of memory; empty: none.
    std::optional<emulator::HeatFigure> heat{};
    std::filesystem::path kernel_source{};  ///< replaces the experiment's kernel file; empty: none
    std::filesystem::path kernels{};        ///< a folder of kernel files; empty: none
    /// Limit of the time in which no block of a launch ends, for kernels from files.
    std::chrono::milliseconds kernel_time = std::chrono::seconds(10);
    std::filesystem::path checkpoint{};  ///< written every `every` frames; empty: none
    std::uint64_t every = 100;
    std::filesystem::path resume{};  ///< a checkpoint to go on from; empty: none
    /// What `resume` holds, or null: run_headless() reads it.
    std::shared_ptr<const experiments::Snapshot> resumed{};
    Stops stops{};
    bool force = false;  ///< run even if it takes very long
};

/// Computes the frames of a run and calls `render` after each. Returns what the metadata of the
/// picture say in addition.
using Frames = std::function<experiments::Metadata(const std::function<void()>& render)>;

/// A run whose frames are presented with OpenGL and whose last frame is saved.
struct Shot {
    const experiments::Entry& entry;
    experiments::Running running;
    Frames frames;
    experiments::Size size;  ///< the size of the window whose picture is saved
    std::filesystem::path file;
    bool view_only;
};

/// Opens OpenGL, has the frames computed, renders them as the window does, and writes the PNG whole
/// or not at all. Throws what device, GL and files throw. main() provides it, because jobs must not
/// include ui.
using Painter = std::function<Presentation(const Shot&)>;

/// A run that was stopped before its end.
struct Partial {
    std::uint64_t frames_requested = 0;
    std::vector<std::string> missing{};  ///< results that take too long: "report"
};

/// The launch that was proposed for a source without a launch file.
struct Proposal {
    std::string launch_file;           ///< its text; empty: nothing was proposed
    std::vector<std::string> guesses;  ///< "n", "the size of x": what it finds may come from these
    std::vector<std::string> not_launched;  ///< other kernels of the source
};

/// What a run found: everything that the JSON holds.
struct RunResult {
    std::string experiment;
    compute::DeviceInfo device;
    compute::RunSettings settings;
    Json parameters;
    std::uint64_t frames = 0;        ///< how many frames were computed
    std::optional<Partial> partial;  ///< empty: the run was not stopped
    experiments::Report report;
    std::vector<compute::KernelTiming> kernels;
    const compute::Ceilings* ceilings = nullptr;  ///< the GPU's ceilings; null if not measured
    std::optional<compute::GpuState> gpu;         ///< the GPU's state after the frames
    Presentation presentation;
    std::vector<std::uint8_t> png{};  ///< the picture of the last frame, for a page; else empty
    bool compared = false;            ///< a comparison was requested
    std::optional<experiments::Comparison> comparison;  ///< if there are variants to compare
    emulator::CheckChoice checks;
    emulator::Verdict verdict;  ///< of the checks
    Known known{};              ///< of its findings
    /// The experiment before its first frame, for a search that repeats a launch; or null.
    std::shared_ptr<const experiments::LaunchState> start{};
    emulator::Severity fail_on = emulator::Severity::warning;
    std::optional<Why> why{};  ///< the answer to HeadlessRequest::why
    bool counted = false;      ///< counters were requested
    std::vector<emulator::KernelCounters> counters;
    std::optional<experiments::LineFigure> lines;  ///< source lines of the counters were requested
    std::optional<emulator::HeatFigure> hottest;   ///< the heat of the kernels was requested
    std::vector<emulator::KernelHeat> heat;        ///< the heat of the kernels of `counters`
    compute::KernelEdits edits;                    ///< the edits that the device ran
    std::vector<KernelFile> kernel_files;          ///< the files that replace built-in ones
    std::string output;                            ///< what kernels printed with printf()
    std::vector<experiments::OutputFile> files;    ///< the files that are to be written
    Proposal proposal{};
};

/// Computes and renders the frames, as the window does, and saves the screenshot if one is wanted.
/// OpenGL is opened only if the screenshot needs it. Throws UsageError for a wrong request and
/// Cancelled if it is stopped before the first frame (then nothing was written), otherwise what
/// device, GL and files throw.
RunResult run_experiment(const std::shared_ptr<compute::Device>& device,
                         const HeadlessRequest& request, const Painter& painter);

Json to_json(const RunResult& result);
/// A page of HTML: picture, findings, source lines, results, counters, times.
std::string html_page(const RunResult& result, const HeadlessRequest& request);
/// The result as text: readings with their sentences, kernels with their times.
std::string summary(const RunResult& result);
/// Sets RunResult::proposal where the launch of the plan was proposed, and makes the findings and
/// the error that ended the run warnings that say what was guessed. `values`: of scalars, which are
/// then not guessed.
void tell_guesses(RunResult& result, const experiments::LaunchPlan& plan,
                  std::span<const experiments::Assignment> values);
/// Findings decide the exit code: none in a launch that was guessed do, since they may come from
/// it.
bool is_sure(const RunResult& result);
/// 1 if a reading or a compared variant fails, if a check found something as severe as
/// RunResult::fail_on, or if an error has ended the run; else 0. What is found in a proposed launch
/// does not count.
int exit_code(const RunResult& result);

/// Refuses a run that would take longer than this, unless it is forced.
inline constexpr double most_seconds = 10 * 60;
/// Throws UsageError for a run that would take longer than `most_seconds` unless the request forces
/// it, and then says on standard error how long it takes.
void check_cost(const HeadlessRequest& request, const compute::DeviceInfo& device);

/// Checks the output files, runs, writes JSON and summary, and returns the exit code. Kernels from
/// files are compiled and run by the helper processes, on a device like `device`. The compiler's
/// diagnostics go to standard error; with an error among them the exit code is 2. Throws UsageError
/// if the run would take very long and the request does not force it. SIGINT and SIGTERM end the
/// run early: the partial results are written, and then Interrupted is thrown.
int run_headless(compute::Helpers& helpers, std::shared_ptr<compute::Device> device,
                 const HeadlessRequest& request, const Painter& painter);

/// Asks HeadlessRequest::why of a launch in the capture HeadlessRequest::launch. Throws as
/// run_headless() and ask_why(), and Interrupted after a signal.
Why ask_capture(compute::Helpers& helpers, const compute::RunSettings& settings,
                HeadlessRequest request);

/// The comparison as a table: by counts where the emulator has run the variants, by times on a GPU.
std::string comparison_text(const experiments::Comparison& comparison);

/// Reads a list such as "race,memory"; "leaks" includes "memory". Throws UsageError that names an
/// unknown word and lists the known ones.
emulator::CheckChoice parse_checks(std::string_view text);

}  // namespace warpscope::jobs

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::emulator::Severity>{
    Word<emulator::Severity>{emulator::Severity::warning, "warning", "Warnings"},
    Word<emulator::Severity>{emulator::Severity::error, "error", "Errors"},
};
