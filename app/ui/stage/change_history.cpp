#include "ui/stage/change_history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "compute/device/words.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

bool joins(const Change& change, const Change& last) {
    const auto equal = [](const auto& a, const auto& b) { return a.id == b.id; };
    return change.run_after == change.run_before && last.run_after == last.run_before &&
           std::equal(change.after.begin(), change.after.end(), last.after.begin(),
                      last.after.end(), equal);
}

}  // namespace

void ChangeHistory::add(Change change) {
    const bool continues = std::exchange(dragging_, true) && done_ > 0;
    changes_.resize(done_);
    if (continues && joins(change, changes_.back())) {
        changes_.back().after = std::move(change.after);
        return;
    }
    changes_.push_back(std::move(change));
    if (changes_.size() > most) changes_.pop_front();
    done_ = changes_.size();
}

std::string words_of(const experiments::ParameterSet& now,
                     const std::vector<experiments::Assignment>& before,
                     const compute::RunSettings& run_before, const compute::RunSettings& run_now) {
    std::vector<std::string> words;
    for (const experiments::Assignment& one : before) {
        const experiments::Parameter& parameter = now.find(one.id);
        if (parameter.text() != one.text)
            words.push_back(tr("{} is {}", tr(parameter.label()),
                               parameter.text().empty() ? tr("empty") : parameter.text()));
    }
    if (words.size() > 1) words = {tr("{} parameters", words.size())};
    const auto add = [&](const char* label, const auto& old, const auto& fresh) {
        if (old != fresh) words.push_back(tr("{} is {}", label, compute::name(fresh)));
    };
    add(tr("Math"), run_before.math, run_now.math);
    add(tr("Schedule"), run_before.schedule, run_now.schedule);
    add(tr("Barriers"), run_before.barriers, run_now.barriers);
    add(tr("Copies land"), run_before.landing, run_now.landing);
    if (run_before.seed != run_now.seed) words.push_back(tr("Seed is {}", run_now.seed));
    return words.empty() ? "" : fmt::format("{}.", fmt::join(words, ", "));
}

}  // namespace warpscope::ui
