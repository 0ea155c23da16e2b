#include "ui/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace warpscope::ui {
namespace {

using experiments::Entry;
using experiments::Experiment;
using experiments::Inspection;
using experiments::Specimen;

/// What a launch depends on, but for the frame number.
std::string key_of(Experiment& live) {
    const compute::RunSettings& run = live.device().settings();
    std::string key =
        fmt::format("{} {} {} {}", int(run.math), int(run.schedule), run.seed, int(run.barriers));
    for (const experiments::Parameter* p : live.parameters().all()) {
        key += '\n';
        key += p->text();
    }
    return key;
}

bool ready(const auto& future) {
    return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

Inspector::Work Inspector::usual_work() {
    return {
        [](const Entry& entry, Experiment& live) -> Job<Inspection> {
            auto specimen = std::make_shared<Specimen>(entry, live);
            return [specimen] { return experiments::inspect(*specimen); };
        },
        [](const Entry& entry, Experiment& live) -> Job<Policies> {
            auto copy = std::make_shared<experiments::Copy>(entry, live, live.device().settings());
            return [&entry, copy] { return experiments::try_policies(entry, *copy->experiment); };
        }};
}

Inspector::Inspector(Work work, Clock::duration settle) : work_(std::move(work)), settle_(settle) {}

// The futures of std::async wait for what runs.
Inspector::~Inspector() = default;

template <class Result, class Prepare>
Inspector::Future<Result> Inspector::begin(const Prepare& prepare, const Entry& entry,
                                           Experiment& live) {
    Job<Result> job;
    std::string error;
    try {
        job = prepare(entry, live);
    } catch (const std::exception& e) {
        error = e.what();
    }
    return std::async(std::launch::async, [job = std::move(job), error]() -> Outcome<Result> {
        if (!job) return {std::nullopt, error};
        try {
            return {job(), {}};
        } catch (const std::exception& e) {
            return {std::nullopt, e.what()};
        }
    });
}

void Inspector::forget() {
    first_state_ = state_ + 1;
    inspection_.reset();
    error_.clear();
    counters_.clear();
    policies_.reset();
    policies_error_.clear();
}

void Inspector::notice(const Entry& entry, Experiment& live) {
    std::string key = key_of(live);
    const bool changed = entry.id != experiment_ || key != key_ || live.frame() < frame_;
    frame_ = live.frame();
    if (!changed) return;
    if (entry.id != experiment_) forget();
    experiment_ = entry.id;
    key_ = std::move(key);
    ++state_;
    due_ = Clock::now() + settle_;
}

void Inspector::take(Outcome<Inspection> outcome) {
    if (begun_ < first_state_) return;
    shown_ = begun_;
    error_ = std::move(outcome.error);
    inspection_ = std::move(outcome.result);
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
    if (ready(inspection_job_)) take(inspection_job_.get());
    if (ready(policies_job_)) {
        Outcome<Policies> outcome = policies_job_.get();
        if (policies_begun_ < first_state_) return;
        policies_shown_ = policies_begun_;
        policies_ = std::move(outcome.result);
        policies_error_ = std::move(outcome.error);
    }
}

void Inspector::start(const Entry& entry, Experiment& live) {
    if (running()) return;
    if (wanted()) {
        asked_ = false;
        begun_ = state_;
        inspection_job_ = begin<Inspection>(work_.inspect, entry, live);
    } else if (std::exchange(policies_asked_, false)) {
        policies_begun_ = state_;
        policies_job_ = begin<Policies>(work_.policies, entry, live);
    }
}

void Inspector::follow(const Entry& entry, Experiment& live, bool automatic) {
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

bool Inspector::busy() const {
    return running() || wanted() || policies_asked_;
}

bool Inspector::checking() const {
    return inspection_job_.valid() || wanted();
}

}  // namespace warpscope::ui
