#include "ui/stage/change_history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "compute/device/enum_words.h"
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

std::vector<const Change*> ChangeHistory::ahead(bool forward) const {
    std::vector<const Change*> all;
    if (forward)
        for (std::size_t at = done_; at < changes_.size(); ++at) all.push_back(&changes_[at]);
    else
        for (std::size_t at = done_; at > 0; --at) all.push_back(&changes_[at - 1]);
    return all;
}

std::string words_of(const experiments::ParameterSet& now,
                     const std::vector<experiments::Assignment>& wanted,
                     const compute::RunSettings& run_now, const compute::RunSettings& run_wanted) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& label, std::string_view old, std::string_view fresh) {
        const auto shown = [](std::string_view text) { return text.empty() ? tr("empty") : text; };
        if (old != fresh)
            words.push_back(fmt::format("{}: {} → {}", label, shown(old), shown(fresh)));
    };
    for (const experiments::Assignment& one : wanted) {
        const experiments::Parameter& parameter = now.find(one.id);
        add(tr(parameter.label()), parameter.text(), one.text);
    }
    if (words.size() > 1) words = {tr("{} parameters", words.size())};
    const auto add_word = [&](const char* label, auto member) {
        add(label, compute::name(run_now.*member), compute::name(run_wanted.*member));
    };
    using compute::RunSettings;
    add_word(tr("Math"), &RunSettings::math);
    add_word(tr("Schedule"), &RunSettings::schedule);
    add_word(tr("Barriers"), &RunSettings::barriers);
    add_word(tr("Copies land"), &RunSettings::landing);
    add(tr("Schedule seed"), std::to_string(run_now.seed), std::to_string(run_wanted.seed));
    return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace warpscope::ui
