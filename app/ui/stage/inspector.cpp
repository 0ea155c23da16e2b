#include "ui/stage/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "compute/device/number_text.h"
#include "compute/emulated/emulated_device.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/measure/user_paths.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

using experiments::Entry;
using experiments::Experiment;
using experiments::Inspection;

void name_as_in_source(std::vector<emulator::Finding>& findings,
                       const compute::KernelEdits& edits) {
    for (emulator::Finding& finding : findings) {
        finding.sentence = experiments::as_shown(std::move(finding.sentence), edits);
        finding.kernel = experiments::as_shown(std::move(finding.kernel), edits);
        name_as_in_source(finding.repaired_too, edits);
    }
}

/// C++ mangles the names of kernels.
void name_as_in_source(Inspection& inspection, const compute::KernelEdits& edits) {
    inspection.kernel = experiments::as_shown(std::move(inspection.kernel), edits);
    inspection.verdict.error = experiments::as_shown(std::move(inspection.verdict.error), edits);
    name_as_in_source(inspection.verdict.findings, edits);
    for (emulator::KernelCounters& counters : inspection.counters)
        counters.kernel = experiments::as_shown(std::move(counters.kernel), edits);
}

}  // namespace

const emulator::KernelCounters* Checks::newest_counters() const {
    const auto found = std::find_if(counters.begin(), counters.end(), [&](const auto& k) {
        return inspection && k.kernel == inspection->kernel;
    });
    return found == counters.end() ? nullptr : &*found;
}

Inspector::Work Inspector::usual_work() {
    return {[](const Entry& entry, Experiment& live, std::size_t memory_bytes,
               std::stop_token stop) -> Job<Inspection> {
                const auto launch = std::make_shared<const experiments::LaunchState>(
                    entry, live, live.device().settings());
                return [launch, memory_bytes, stop = std::move(stop)] {
                    Inspection inspection = experiments::inspect(*launch, memory_bytes, stop);
                    inspection.launch = launch;
                    return inspection;
                };
            },
            [](const Entry& entry, Experiment& live, std::stop_token stop) -> Job<Policies> {
                const auto copy = experiments::make_replica(entry, live, live.device().settings(),
                                                            compute::usual_emulator_memory(), stop);
                return [entry, copy, stop] {
                    constexpr std::uint64_t instructions = 100'000'000;
                    return experiments::try_policies(entry, *copy.experiment, instructions, stop);
                };
            }};
}

Inspector::Inspector(Work work, Clock::duration settle) : work_(std::move(work)), settle_(settle) {}

// The futures of std::async wait for what runs.
Inspector::~Inspector() {
    stop_.request_stop();
}

template <class Result, class Prepare>
Inspector::Future<Result> Inspector::begin(const Prepare& prepare) {
    stop_ = std::stop_source();
    Job<Result> job;
    std::exception_ptr failed;
    try {
        job = prepare();
    } catch (...) {
        failed = std::current_exception();
    }
    return std::async(std::launch::async,
                      [job = std::move(job), failed, stop = stop_.get_token()]() {
                          Outcome<Result> outcome;
                          try {
                              if (failed) std::rethrow_exception(failed);
                              outcome.result = job();
                          } catch (const compute::OutOfMemory& e) {
                              outcome = {std::nullopt, e.what(), true};
                          } catch (const std::exception& e) {
                              outcome.error = e.what();
                          }
                          outcome.stopped = stop.stop_requested();
                          return outcome;
                      });
}

void Inspector::forget() {
    ++version_;
    first_state_ = state_ + 1;
    inspection_.reset();
    error_.clear();
    too_large_ = false;
    counters_.clear();
    policies_.reset();
    policies_error_.clear();
}

void Inspector::notice(const Entry& entry, Experiment& live) {
    const auto plan = live.plan();
    const std::string now = plan ? entry.id + plan->file.file.string() : entry.id;
    std::vector<std::string> parameters = live.parameters().of_launch();
    const compute::RunSettings& settings = live.device().settings();
    const compute::KernelEdits& edits = live.device().edits();
    const bool other_kernels = now != experiment_ || edits != edits_;
    const bool changed = other_kernels || parameters != parameters_ || settings != settings_ ||
                         live.frame() < frame_;
    frame_ = live.frame();
    if (!changed) return;
    if (other_kernels || (inspection_job_.valid() && automatic_ && limited_)) stop_.request_stop();
    edits_ = edits;
    if (now != experiment_) forget();
    experiment_ = now;
    parameters_ = std::move(parameters);
    settings_ = settings;
    ++state_;
    ++version_;
    due_ = Clock::now() + settle_;
}

void Inspector::take(Outcome<Inspection> outcome) {
    if (begun_ < first_state_ || outcome.stopped) return;
    shown_ = begun_;
    error_ = std::move(outcome.error);
    too_large_ = limited_ && outcome.too_large;
    if (too_large_)
        error_ =
            tr("Too large to check automatically: a copy takes more than {} MiB. Click \"Check "
               "now\" to check it anyway.",
               automatic_bytes >> 20);
    // Trying the policies would copy as much.
    if (too_large_) policies_asked_ = false;
    if (outcome.result) name_as_in_source(*outcome.result, edits_);
    inspection_ =
        outcome.result ? std::make_shared<const Inspection>(std::move(*outcome.result)) : nullptr;
    if (!inspection_) return;
    for (const emulator::KernelCounters& fresh : inspection_->counters) {
        const auto old = std::find_if(counters_.begin(), counters_.end(),
                                      [&](const auto& c) { return c.kernel == fresh.kernel; });
        if (old == counters_.end())
            counters_.push_back(fresh);
        else
            *old = fresh;
    }
}

void Inspector::collect() {
    if (is_ready(inspection_job_)) {
        ++version_;
        take(inspection_job_.get());
    }
    if (is_ready(policies_job_)) {
        ++version_;
        Outcome<Policies> outcome = policies_job_.get();
        if (policies_begun_ < first_state_ || outcome.stopped) return;
        policies_shown_ = policies_begun_;
        policies_ =
            outcome.result ? std::make_shared<const Policies>(std::move(*outcome.result)) : nullptr;
        policies_error_ = std::move(outcome.error);
    }
}

void Inspector::start(const Entry& entry, Experiment& live) {
    if (running()) return;
    if (wanted()) {
        ++version_;
        begun_ = state_;
        limited_ = !std::exchange(asked_, false);
        inspection_job_ = begin<Inspection>([&] {
            return work_.inspect(entry, live,
                                 limited_ ? automatic_bytes : compute::usual_emulator_memory(),
                                 stop_.get_token());
        });
    } else if (std::exchange(policies_asked_, false)) {
        ++version_;
        policies_begun_ = state_;
        policies_job_ =
            begin<Policies>([&] { return work_.policies(entry, live, stop_.get_token()); });
    }
}

void Inspector::follow(const Entry& entry, Experiment& live, bool automatic) {
    if (automatic_ != automatic) ++version_;
    automatic_ = automatic;
    collect();
    notice(entry, live);
    if (Clock::now() >= due_) start(entry, live);
}

void Inspector::wait(const Entry& entry, Experiment& live, bool automatic) {
    follow(entry, live, automatic);
    while (busy()) {
        if (inspection_job_.valid()) inspection_job_.wait();
        if (policies_job_.valid()) policies_job_.wait();
        collect();
        start(entry, live);
    }
}

void Inspector::inspect() {
    asked_ = begun_ != state_ || too_large_;
    ++version_;
}

void Inspector::try_policies() {
    policies_asked_ = true;
    ++version_;
}

Checks Inspector::checks() const {
    Checks checks;
    checks.state = state_;
    checks.busy = busy();
    checks.checking = inspection_job_.valid() || wanted();
    checks.trying_policies = policies_asked_ || policies_job_.valid();
    checks.inspection = inspection_;
    checks.current = shown_ == state_;
    checks.error = error_;
    checks.too_large = too_large_;
    checks.counters = counters_;
    checks.policies = policies_;
    checks.policies_current = policies_shown_ == state_;
    checks.policies_error = policies_error_;
    return checks;
}

namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;
using State = RaceSummary::State;

/// "256 hazards a block", "about 120 hazards a block", "3 hazards".
std::string amount(std::uint64_t hazards, std::uint64_t blocks) {
    if (blocks <= 1 || hazards < blocks)
        return counted(hazards, "hazard", quantity(double(hazards), ""));
    const std::uint64_t each = (hazards + blocks / 2) / blocks;
    const std::string hazards_of_block = counted(each, "hazard", quantity(double(each), ""));
    return hazards % blocks == 0 ? tr("{} a block", hazards_of_block)
                                 : tr("about {} a block", hazards_of_block);
}

std::string extent(const Inspection& inspection) {
    const std::string of = quantity(double(inspection.of_blocks), "");
    if (inspection.of_blocks == 1) return tr("the one block of {}", inspection.kernel);
    if (inspection.blocks == inspection.of_blocks)
        return tr("all {} blocks of {}", of, inspection.kernel);
    return tr("the first {} of {} blocks of {}", quantity(double(inspection.blocks), ""), of,
              inspection.kernel);
}

void describe(RaceSummary& summary, const Inspection& inspection) {
    std::uint64_t hazards = 0, within_warps = 0;
    bool barrier = false, members = false, unwritten = false, invalid = false;
    for (const Finding& f : inspection.verdict.findings) {
        if (f.severity != Severity::error) {
            if (spoils_results(f)) within_warps += f.count;
            continue;
        }
        if (f.kind == FindingKind::race) hazards += f.count;
        barrier |= f.kind == FindingKind::barrier;
        members |= f.kind == FindingKind::members;
        unwritten |= f.kind == FindingKind::uninitialized || f.kind == FindingKind::undefined;
        invalid |= f.kind == FindingKind::memory;
    }
    summary.findings = inspection.verdict.findings.size();
    const std::size_t warnings = count_of(inspection.verdict.findings, Severity::warning);
    const std::string where = extent(inspection);
    if (hazards > 0) {
        summary.state = State::race;
        summary.chip = tr("Race: {}", amount(hazards, inspection.blocks));
        summary.sentence = tr("{} in {}: pairs of accesses to one word that nothing orders.",
                              amount(hazards, inspection.blocks), where);
    } else if (within_warps > 0) {
        summary.state = State::race;
        summary.chip = tr("Race within a warp: {}", amount(within_warps, inspection.blocks));
        summary.sentence =
            tr("{} between lanes of a warp in {}: without __syncwarp() nothing orders them.",
               amount(within_warps, inspection.blocks), where);
    } else if (barrier || members || unwritten || invalid) {
        summary.state = State::error;
        summary.chip = barrier     ? tr("Barrier not reached by all")
                       : members   ? tr("Wrong member mask")
                       : unwritten ? tr("Reads unwritten memory")
                                   : tr("Invalid access");
        summary.sentence = tr("No race, but errors in {}.", where);
    } else if (warnings > 0) {
        summary.state = State::warning;
        summary.chip = counted(warnings, "warning");
        summary.sentence = tr("No race between warps, but warnings in {}.", where);
    } else {
        summary.state = State::clean;
        summary.chip = tr("No race found");
        summary.sentence = tr("No race in {}, and every thread reached every barrier.", where);
    }
    if (inspection.verdict.error.empty()) return;
    summary.sentence += tr(" The launch ended with an error: {}", tr(inspection.verdict.error));
    if (summary.state == State::clean || summary.state == State::warning) {
        summary.state = State::failed;
        summary.chip = tr("Launch failed");
    }
}

/// A word or two.
std::string brief_of(const RaceSummary& summary) {
    switch (summary.state) {
        case State::clean:
            return tr("No race");
        case State::race:
            return tr("Race");
        case State::error:
            return tr("Error");
        case State::unknown:
        case State::warning:
        case State::wrong:
        case State::failed:
            break;
    }
    return summary.chip;
}

/// A launch in which the checks have found nothing harmful may compute a wrong result.
void add_wrong_result(RaceSummary& summary, const experiments::Report& report) {
    using experiments::Verdict;
    if (summary.checking || summary.state == State::race || summary.state == State::error ||
        summary.state == State::failed)
        return;
    const auto wrong = std::ranges::find_if(report, [](const experiments::Reading& r) {
        return r.verdict == Verdict::finding || r.verdict == Verdict::fail;
    });
    if (wrong == report.end()) return;
    summary.state = State::wrong;
    summary.chip = fmt::format("{}: {}", tr(wrong->label), quantity(wrong->value, wrong->unit));
    summary.sentence = tr(wrong->sentence) + "\n" + summary.sentence;
}

}  // namespace

bool spoils_results(const Finding& finding) {
    const bool reads = finding.hazard == emulator::Hazard::read_after_write ||
                       finding.hazard == emulator::Hazard::write_after_read;
    return finding.severity == Severity::error || (finding.kind == FindingKind::race && reads);
}

RaceSummary summarize(const Checks& checks, bool current, const experiments::Report& report) {
    RaceSummary summary;
    summary.checking = checks.checking;
    if (checks.inspection) {
        describe(summary, *checks.inspection);
    } else if (!checks.error.empty()) {
        summary.state = checks.too_large ? State::unknown : State::failed;
        summary.chip = tr("Not checked");
        summary.sentence = checks.error;
    } else {
        summary.chip = tr("Not checked");
        summary.sentence = tr("This launch has not been checked.");
    }
    if (summary.checking) {
        summary.chip = tr("Checking…");
        summary.sentence = tr("The emulator is checking this launch.");
    } else if (!checks.current || !current) {
        summary.state = State::unknown;
        summary.chip = tr("Not checked");
        summary.sentence = tr("The settings have changed since the last check.");
    }
    if (current) add_wrong_result(summary, report);
    summary.brief = summary.checking ? summary.chip : brief_of(summary);
    return summary;
}

}  // namespace warpscope::ui
