#include "ui/launch_form/launch_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "ui/documents/source_files.h"
#include "ui/language/language.h"

namespace warpscope::ui {

using launches::Expression;
using launches::LaunchError;
using launches::LaunchFile;
using launches::Number;

namespace {

/// The value of a scalar's parameter; a real number stays one.
Number like(const Number& before, const experiments::Parameter& parameter) {
    const Number value = Expression(parameter.text()).value(launches::Names());
    if (std::holds_alternative<double>(before)) return launches::real(value);
    return value;
}

}  // namespace

void LaunchForm::follow() {
    const auto& shown = stage_.shown().plan;
    if (!shown || shown == plan_ || !stage_.settled() || stage_.trying()) return;
    plan_ = shown;
    if (plan_->file.file != file_.file) {
        undo_.clear();
        redo_.clear();
    }
    // Where it is this form's own change, texts of other fields are still to be mended.
    if (launches::to_json_text(plan_->file) != launches::to_json_text(file_)) wrong_.clear();
    file_ = plan_->file;
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
    FormState before = state_at(place);
    LaunchFile next = file_;
    try {
        set(next, text);
    } catch (const LaunchError& error) {
        keep(std::move(before));
        wrong_[place] = {text, error.what()};
        return;
    }
    keep(std::move(before));
    wrong_.erase(place);
    show(std::move(next));
}

void LaunchForm::change(const std::string& place, const std::function<void(LaunchFile&)>& change) {
    LaunchFile next = file_;
    change(next);
    keep(state_at(place));
    // Rows after one that is removed move up.
    const std::string rows = place.substr(0, place.find('[') + 1);
    std::erase_if(wrong_, [&](const auto& one) {
        return one.first.starts_with(rows.empty() ? place + "." : rows);
    });
    show(std::move(next));
}

/// The form as it is, with the values of all parameters.
LaunchForm::FormState LaunchForm::state_at(const std::string& place) const {
    FormState now{place, file_, wrong_, {}};
    for (const experiments::Parameter* one : stage_.parameters().all())
        now.values.push_back({one->id(), one->text()});
    return now;
}

/// A change was made; `before` is the form before it.
void LaunchForm::keep(FormState before) {
    std::erase_if(before.values, [&](const experiments::Assignment& one) {
        return stage_.parameters().find(one.id).text() == one.text;
    });
    redo_.clear();
    undo_.push_back(std::move(before));
    if (undo_.size() > most_states) undo_.pop_front();
}

void LaunchForm::go(FormStates& from, FormStates& to, const char* verb, const char* done) {
    if (from.empty()) return stage_.say(tr("The launch form has no change to {}.", verb));
    const FormState target = std::move(from.back());
    from.pop_back();
    FormState now = state_at(target.place);
    const auto changes = [&](const experiments::Assignment& one) {
        return std::ranges::find(target.values, one.id, &experiments::Assignment::id) !=
               target.values.end();
    };
    std::erase_if(now.values, [&](const auto& one) { return !changes(one); });
    // A scalar that the launch on show lacks has no parameter yet: its value is in the file.
    if (!now.values.empty() && now.values.size() == target.values.size())
        stage_.assign(target.values);
    const bool text_only = launches::to_json_text(target.file) == launches::to_json_text(file_);
    to.push_back(std::move(now));
    file_ = target.file;
    wrong_ = target.wrong;
    if (!text_only) stage_.change_launch(file_);
    stage_.say(tr("{}: the change of {}.", done, target.place));
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
        if (chosen->id() == "marks") file_.marks = chosen->text() == "on";
        if (chosen->id() == "view") file_.view = launches::parse_buffer_view(chosen->text());
    }
    bool saves_source = false;
    try {
        if (file_.built_in) return save_from_gallery();
        KernelDocument& source = stage_.documents()[experiments::source_key(file_)];
        saves_source = !source.path().empty() && !source.saved();
        if (saves_source) save_kernel(source, source.path());
        write_whole(file_.file, launches::to_json_text(file_));
    } catch (const std::exception& error) {
        return stage_.say(tr("The launch file was not saved: {}", error.what()), Tone::error);
    }
    for (FormStates* states : {&undo_, &redo_})
        for (FormState& one : *states) one.file.saved = false;
    file_.saved = true;
    stage_.change_launch(file_);
    stage_.say(saves_source ? tr("Saved {} and its source {}.", file_.file.string(),
                                 file_.source.filename().string())
                            : tr("Saved {}.", file_.file.string()));
}

/// A kernel of the gallery becomes a source and a launch file in the current folder.
void LaunchForm::save_from_gallery() {
    const std::filesystem::path folder = std::filesystem::current_path();
    LaunchFile copy = file_;
    copy.built_in = false;
    copy.saved = true;
    copy.file = folder / file_.file.filename();
    const std::filesystem::path source = folder / file_.source;
    for (const std::filesystem::path& path : {source, copy.file})
        if (std::filesystem::exists(path))
            throw std::runtime_error(tr("{} exists already; open it, or rename it", path.string()));
    const std::string text{stage_.documents()[experiments::source_key(file_)].text()};
    write_whole(source, text);
    write_whole(copy.file, launches::to_json_text(copy));
    if (stage_.read_only().empty()) stage_.open_launch(copy, text);
    stage_.say(tr("Saved {} and its source {}.", copy.file.string(), source.filename().string()));
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
        throw LaunchError(tr("write at most {} numbers with commas between them", most));
    return list;
}

}  // namespace warpscope::ui
