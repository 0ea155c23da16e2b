#include "ui/launch/launch_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "ui/widgets/text_file.h"

namespace warpscope::ui {

using experiments::Expression;
using experiments::LaunchError;
using experiments::LaunchFile;
using experiments::Number;

namespace {

/// The value of a scalar's parameter; a real number stays one.
Number like(const Number& before, const experiments::Parameter& parameter) {
    const Number value = Expression(parameter.text()).value(experiments::Names());
    if (std::holds_alternative<double>(before)) return experiments::real(value);
    return value;
}

}  // namespace

void LaunchForm::follow() {
    const auto& shown = stage_.shown().plan;
    if (!shown || shown == plan_ || !stage_.settled() || stage_.trying()) return;
    plan_ = shown;
    file_ = plan_->file;
    wrong_.clear();
}

std::string LaunchForm::text(const std::string& place, const std::string& current) const {
    const auto found = wrong_.find(place);
    return found == wrong_.end() ? current : found->second.text;
}

std::string LaunchForm::error(const std::string& place) const {
    const auto found = wrong_.find(place);
    if (found != wrong_.end()) return found->second.error;
    const std::string& refused = stage_.shown().launch_error;
    const std::size_t at = refused.find(place + ": ");
    // A place may end another one: "launches[0].grid" and "grid".
    const bool whole = at != std::string::npos && (at == 0 || refused[at - 1] == ' ');
    return whole ? refused.substr(at + place.size() + 2) : "";
}

std::string LaunchForm::error() const {
    if (!wrong_.empty())
        return fmt::format("{}: {}", wrong_.begin()->first, wrong_.begin()->second.error);
    return stage_.shown().launch_error;
}

void LaunchForm::set(const std::string& place, const std::string& text, const Set& set) {
    LaunchFile next = file_;
    try {
        set(next, text);
    } catch (const LaunchError& error) {
        wrong_[place] = {text, error.what()};
        return;
    }
    wrong_.erase(place);
    show(std::move(next));
}

void LaunchForm::change(const std::function<void(LaunchFile&)>& change) {
    LaunchFile next = file_;
    change(next);
    show(std::move(next));
}

void LaunchForm::show(LaunchFile file) {
    file_ = std::move(file);
    file_.saved = false;
    stage_.change_launch(file_);
}

void LaunchForm::save() {
    for (const experiments::Parameter* chosen : stage_.parameters().all()) {
        for (auto& [name, value] : file_.scalars)
            if (chosen->id() == name)
                if (auto* number = std::get_if<Number>(&value)) *number = like(*number, *chosen);
        if (chosen->id() == "buffer" && file_.find_buffer(chosen->text()))
            file_.show = chosen->text();
        if (chosen->id() == "view") file_.view = experiments::parse_buffer_view(chosen->text());
    }
    try {
        write_whole(file_.file, experiments::to_json_text(file_));
    } catch (const std::exception& error) {
        return stage_.say(fmt::format("The launch file was not saved: {}", error.what()),
                          Tone::error);
    }
    file_.saved = true;
    stage_.change_launch(file_);
    stage_.say(fmt::format("Saved {}.", file_.file.string()));
}

std::string to_text(const std::vector<Expression>& expressions) {
    std::string text;
    for (const Expression& expression : expressions)
        text += (text.empty() ? "" : ", ") + expression.text();
    return text;
}

std::vector<Expression> parse_list(const std::string& text, std::size_t most) {
    std::vector<Expression> list;
    std::string_view rest = text;
    while (true) {
        int depth = 0;
        std::size_t end = 0;
        for (; end < rest.size() && (rest[end] != ',' || depth > 0); ++end)
            depth += int(rest[end] == '(') - int(rest[end] == ')');
        std::string_view one = rest.substr(0, end);
        while (one.starts_with(' ')) one.remove_prefix(1);
        list.emplace_back(one);
        if (end == rest.size()) break;
        rest.remove_prefix(end + 1);
    }
    if (list.size() > most)
        throw LaunchError(fmt::format("write at most {} numbers with commas between them", most));
    return list;
}

}  // namespace warpscope::ui
