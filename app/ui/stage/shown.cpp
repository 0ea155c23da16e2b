#include "ui/stage/shown.h"

#include <algorithm>
#include <utility>

namespace warpscope::ui {
namespace {

/// The least time between two reports, and between two timelines.
constexpr std::chrono::milliseconds pause{150};
constexpr std::size_t most_buffer_bytes = std::size_t(64) << 20;

}  // namespace

void ExperimentReader::forget() {
    readings_ = {.report = {},
                 .buffer = {},
                 .tree = {},
                 .timeline = {},
                 .barriers = std::move(readings_.barriers)};
    outdate();
}

void ExperimentReader::outdate() {
    report_stale_ = tree_stale_ = true;
    next_report_ = {};
}

void ExperimentReader::read_report(experiments::Experiment& experiment) {
    report_stale_ = report_cancelled_ = false;
    const Time start = clock_();
    std::exception_ptr error;
    try {
        readings_.report = experiment.report();
        readings_.report_parameters = experiment.parameters().of_launch();
        readings_.buffer = experiment.contents(most_buffer_bytes);
    } catch (const compute::Cancelled&) {
        report_cancelled_ = true;
        error = std::current_exception();
    } catch (...) {
        error = std::current_exception();
    }
    // A report that takes long to make (a double-precision reference) must not slow the frames.
    const auto took = clock_() - start;
    next_report_ = start + took + std::max<Time::duration>(pause, 9 * took);
    if (error) std::rethrow_exception(error);
}

void ExperimentReader::read_tree(experiments::Experiment& experiment) {
    tree_stale_ = false;
    const experiments::Tree* const tree = experiment.tree();
    readings_.tree = tree ? std::make_shared<const experiments::Tree>(*tree) : nullptr;
}

bool ExperimentReader::read_timeline(experiments::Experiment& experiment, std::uint64_t state,
                                     std::uint64_t picture) {
    const bool rendered = timeline_picture_ != picture;
    if (timeline_state_ == state && !(rendered && clock_() >= next_timeline_)) return false;
    timeline_state_ = state;
    timeline_picture_ = picture;
    next_timeline_ = clock_() + pause;
    try {
        readings_.timeline = experiment.timeline();
    } catch (const std::exception&) {
        // The next frame fails with this error as well, and then it is reported.
        readings_.timeline.reset();
    }
    return true;
}

bool ExperimentReader::measure_barriers(experiments::Experiment& experiment, std::uint64_t state) {
    if (readings_.barriers.state == state) return false;
    readings_.barriers = {.report = {}, .error = {}, .state = state};
    try {
        readings_.barriers.report = experiment.measure_barriers();
    } catch (const std::exception& error) {
        readings_.barriers.error = error.what();
    }
    return true;
}

}  // namespace warpscope::ui
