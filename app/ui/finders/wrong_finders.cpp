#include "ui/finders/wrong_finders.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "emulator/witness/schedule_file.h"
#include "experiments/measure/user_paths.h"
#include "experiments/replicas/searches.h"
#include "experiments/replicas/word_history.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

/// Instructions of a slice that are listed.
constexpr std::size_t most_lines = 400;

void keep_each_once(auto& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// The words of shared memory that an instruction of the slice accesses.
std::vector<std::size_t> words_of(const emulator::BlockTrace& trace,
                                  const emulator::SliceNode& node) {
    std::vector<std::size_t> words;
    for (const emulator::TracedAccess& access : trace.accesses(node.step))
        if (access.space == emulator::Space::shared && (access.mask >> node.lane & 1))
            for (std::uint32_t k = 0; k < access.bytes; k += 4)
                words.push_back((access.addresses[node.lane] + k) / 4);
    return words;
}

void mark(Reason& reason) {
    const emulator::WrongWord& word = reason.word_of_memory();
    for (const emulator::SliceNode& node : word.run.slice.nodes) {
        reason.pcs.push_back(node.pc);
        for (const std::size_t w : words_of(word.run.trace, node)) reason.shared.push_back(w);
    }
    keep_each_once(reason.pcs);
    keep_each_once(reason.shared);
    reason.run.nodes = word.run.slice.nodes.size();
    if (word.right) reason.right.nodes = word.right->slice.nodes.size();
    if (!word.parting || !word.parting->node) return;
    const emulator::SliceNode& node = word.run.slice.nodes[*word.parting->node];
    const auto read = words_of(word.run.trace, node);
    if (!read.empty()) reason.word = read.front();
    reason.run.parting = *word.parting->node;
    if (!word.right) return;
    const auto& others = word.right->slice.nodes;
    const auto found = std::ranges::find_if(others, [&](const emulator::SliceNode& other) {
        return other.warp == node.warp && other.lane == node.lane && other.pc == node.pc &&
               other.executions == node.executions;
    });
    if (found != others.end()) reason.right.parting = std::size_t(found - others.begin());
}

}  // namespace

ReasonFinder::Answer ReasonFinder::answer(const State& state, Results results, std::string element,
                                          compute::Helpers* helpers, const std::stop_token& stop) {
    Answer answer{std::move(element), state, std::move(results), nullptr};
    try {
        if (!answer.results)
            answer.results = std::make_shared<const experiments::WrongResults>(state, stop);
        const experiments::ElementPlace place = answer.results->find(answer.element);
        const experiments::WrongResults::Result& result = answer.results->results()[place.result];
        if (!answer.results->is_wrong(place) && !result.is_captured) return answer;
        auto reason = std::make_shared<Reason>();
        reason->words = answer.results->why(place, stop);
        if (reason->words.word) mark(*reason);
        reason->run.lines = slice_lines(reason->words, false, most_lines);
        reason->right.lines = slice_lines(reason->words, true, most_lines);
        if (helpers && experiments::captured_launch(state->entry.launch_file))
            for (const experiments::WordLink& link :
                 experiments::word_history(state, result.name, place.element, *helpers, stop))
                reason->right.lines.push_back(experiments::words_of(link));
        if (!reason->words.word && !reason->right.lines.empty())
            reason->words.whole.add(reason->right.lines.front());
        answer.reason = std::move(reason);
    } catch (const std::exception&) {
        // No result of this launch is known, or the launch fails, which the checks report.
    }
    return answer;
}

void ReasonFinder::follow(const LiveLaunch& live) {
    Key now{live.generation, live.frame, live.parameters, live.settings, live.edits};
    if (!(now == key_)) {
        key_ = std::move(now);
        stop_.request_stop();
        stop_ = std::stop_source();
        asked_state_ = {};
        state_.reset();
        results_.reset();
        answers_.clear();
    }
    collect();
}

void ReasonFinder::collect() {
    if (is_ready(work_)) {
        Answer done = work_.get();
        // An answer of an earlier frame has other results.
        if (done.state == state_) {
            results_ = done.results;
            answers_[done.element] = done.reason;
        }
    }
    if (is_ready(asked_state_)) state_ = asked_state_.get();
}

std::shared_ptr<const Reason> ReasonFinder::ask(const LiveLaunch& live,
                                                const std::string& element) {
    if (!live.settled) return {};
    follow(live);
    const auto known = answers_.find(element);
    if (known != answers_.end()) return known->second;
    if (work_.valid() || asked_state_.valid()) return {};
    if (!state_) {
        asked_state_ = live.state();
        if (!is_ready(asked_state_)) return {};
        state_ = asked_state_.get();
        if (!state_) return {};
    }
    work_ = std::async(std::launch::async, answer, state_, results_, element, helpers_,
                       stop_.get_token());
    return {};
}

namespace {

WitnessFinder::Found find_witness(const WitnessFinder::Checked& checked, emulator::Finding finding,
                                  const std::stop_token& stop,
                                  const std::shared_ptr<compute::LaunchProgress>& progress) {
    try {
        std::vector<emulator::Finding> one{finding};
        one[0].kernel.clear();  // the launch of the check
        experiments::find_witnesses(one, *checked, std::chrono::seconds(2), stop, progress);
        one = experiments::as_named(std::move(one), checked->edits);
        finding.witness = std::move(one[0].witness);
        if (!finding.witness) return {finding, nullptr};
        files::Sentence& words = finding.witness->sentence;
        words = experiments::as_shown(std::move(words), checked->edits);
        if (!finding.witness->preemptions) return {finding, nullptr};
        auto launch = std::make_shared<experiments::LaunchState>(*checked);
        launch->settings.turns = std::make_shared<emulator::ScheduleFile>(
            emulator::ScheduleFile::parse(finding.witness->schedule, "the witness"));
        return {finding, std::move(launch)};
    } catch (const std::exception& error) {
        finding.witness = emulator::WitnessWords{.sentence = files::words_of(error)};
        return {finding, nullptr};
    }
}

}  // namespace

void WitnessFinder::look(Checked checked, emulator::Finding finding) {
    cancel();
    stop_ = std::stop_source();
    progress_ = std::make_shared<compute::LaunchProgress>();
    work_ = std::async(std::launch::async, find_witness, std::move(checked), std::move(finding),
                       stop_.get_token(), progress_);
}

double WitnessFinder::progress() const {
    const auto now = progress_ ? progress_->now() : compute::LaunchProgress::Reading{};
    return now.blocks > 0 ? double(now.done) / double(now.blocks) : 0;
}

std::optional<WitnessFinder::Found> WitnessFinder::take() {
    if (!is_ready(work_)) return {};
    return work_.get();
}

}  // namespace warpscope::ui
