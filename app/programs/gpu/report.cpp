// What the app is told of the program, and its end by a time limit.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <new>

#include "emulator/program/source_line.h"
#include "programs/gpu/gpu.h"

namespace warpscope::programs {

void Gpu::finish() {
    report_.has_ended = true;
    if (is_forked_) return;
    finished_ = true;
    run_rest();
    if (host_) host_->report_unread();
    if (host_ && settings_.checks.leaks && !has_faulted_) host_->report_leaks(streams_.left());
    finish_capture();
}

void Gpu::finish_capture() {
    if (!capture_) return;
    capture_->finish(report());
    for (const std::string& line : capture_->problems()) note(line);
}

ProgramReport Gpu::report() {
    ProgramReport report = report_;
    report.command = command_line();
    if (judge_ && !is_forked_) {
        emulator::Verdict verdict = judge_->verdict();
        report.findings = std::move(verdict.findings);
        for (const std::string& line : verdict.not_tried)
            for (const auto& [symbol, launches] : report.kernels)
                if (line.find(symbol) != line.npos)
                    report.not_tried.push_back(emulator::with_kernel_name(line, symbol));
        report.counters = judge_->counters();
    }
    add_stream_races();
    if (host_) report.host = host_->report();
    add_launches(report);
    return report;
}

namespace {

bool is_in_toolkit(const emulator::ThreadAtLine& at) {
    return at.file.starts_with("cuda/") &&
           std::ranges::all_of(at.inlined, &emulator::HeaderLine::toolkit);
}

}  // namespace

void Gpu::add_launches(ProgramReport& report) {
    for (const emulator::Finding& finding : report.findings) {
        const auto launch = launched_at_.find(finding.kernel);
        if (launch == launched_at_.end() || !launch->second || !is_in_toolkit(finding.first) ||
            (finding.second && !is_in_toolkit(*finding.second)))
            continue;
        std::string& before = report.host.before[finding.sentence];
        before += fmt::format("{}The kernel was launched at {}.", before.empty() ? "" : " ",
                              mark(launch->second));
        const CallSites& sites = host_ ? host_->sites() : sites_of_launches_;
        report.host.sites.try_emplace(launch->second, sites.frames_of(launch->second));
    }
}

void Gpu::add_stream_races() {
    if (host_ && !is_forked_) stream_races_.report_to(*host_);
}

void Gpu::tell() {
    if (settings_.reports.empty()) return;
    add_stream_races();
    const Extent now{
        .launches = std::size_t(std::bit_width(launches_)),
        .findings = findings_,
        .by_host = host_ ? host_->report().entries.size() : 0,
        .lines = report_.errors.size() + report_.notes.size() + report_.missing.size()};
    if (now == told_) return;
    told_ = now;
    tell_all();
}

void Gpu::tell_all() {
    try {
        if (report_file_.empty()) report_file_ = new_report_file(settings_.reports);
        write_report(report(), report_file_);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpscope: %s\n", error.what());
    }
}

bool Gpu::has_to_report() const {
    return is_used_ && process_ == ::getpid();
}

void Gpu::on_fork() {
    // A thread that was in a call is not there any more: what it has changed may be half done.
    new (&mutex) std::recursive_mutex;
    new (&report_) ProgramReport;
    new (&report_file_) std::filesystem::path;
    told_.reset();
    forget_threads();
    findings_ = 0;
    process_ = ::getpid();
    is_forked_ = is_forked_ || is_used_;
    is_used_ = false;
    if (host_.release()) host_ = std::make_unique<HostFindings>();
}

std::chrono::milliseconds Gpu::time_left() const {
    using std::chrono::milliseconds;
    if (!settings_.deadline) return milliseconds(0);
    const auto left = *settings_.deadline - std::chrono::steady_clock::now();
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(left));
}

void Gpu::end_if_over() {
    if (!settings_.deadline || std::chrono::steady_clock::now() < *settings_.deadline) return;
    // A kernel that runs now ends by itself, with its line.
    const std::scoped_lock lock(mutex);
    stop("the host code of the program was running");
}

void Gpu::stop(const std::string& where) {
    report_.stopped = where;
    end_by_time_limit();
}

}  // namespace warpscope::programs
