#include "experiments/framework/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <system_error>

namespace warpscope::experiments {
namespace {

/// Insertions, deletions and substitutions that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}

/// The whole of `text` as a number, or false.
template <class Number>
bool read_number(std::string_view text, Number& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
}

std::string shortest(double value) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
    return std::string(text, error == std::errc() ? end : text);
}

[[noreturn]] void refuse(const Parameter& parameter, std::string_view text, std::string_view kind) {
    throw ParameterError(
        fmt::format("{}: \"{}\" is not {} {}", parameter.id(), text, kind, parameter.range()));
}

}  // namespace

Parameter::Parameter(ParameterSet& owner, std::string id, std::string label, std::string help,
                     Value initial)
    : place_(owner.all_.size()),
      id_(std::move(id)),
      label_(std::move(label)),
      help_(std::move(help)),
      initial_(initial),
      value_(std::move(initial)) {
    owner.all_.push_back(this);
}

const Value& Toggle::get() const {
    static const Value on = true, off = false;
    if (!is_on_) return Parameter::get();
    return is_on_() ? on : off;
}

void Toggle::take(Value value) {
    if (!turn_) return Parameter::take(std::move(value));
    if (value != get()) turn_(std::get<bool>(value));
}

Value Toggle::read(std::string_view text) const {
    if (text == "on" || text == "true" || text == "1") return true;
    if (text == "off" || text == "false" || text == "0") return false;
    refuse(*this, text, "one of");
}

std::string Choice::range() const {
    std::string list;
    for (const Word& word : words_) {
        if (!list.empty()) list += '|';
        list += word.id;
    }
    return list;
}

Value Choice::read(std::string_view text) const {
    const auto found =
        std::find_if(words_.begin(), words_.end(), [&](const Word& w) { return w.id == text; });
    if (found == words_.end()) refuse(*this, text, "one of");
    return std::size_t(found - words_.begin());
}

std::string Integer::range() const {
    if (lowest_.empty()) return fmt::format("{}..{}", low_, high_);
    return fmt::format("{}|{}..{}", lowest_, low_ + 1, high_);
}

std::string Integer::text_of(const Value& value) const {
    const std::int64_t number = std::get<std::int64_t>(value);
    return number == low_ && !lowest_.empty() ? lowest_ : std::to_string(number);
}

Value Integer::read(std::string_view text) const {
    std::int64_t value = 0;
    if (!lowest_.empty() && text == lowest_)
        value = low_;
    else if (!read_number(text, value) || value < low_ || value > high_)
        refuse(*this, text, "a whole number in");
    return value;
}

std::string Real::range() const {
    return shortest(low_) + ".." + shortest(high_);
}

std::string Real::text_of(const Value& value) const {
    return shortest(std::get<double>(value));
}

Value Real::read(std::string_view text) const {
    double value = 0;
    if (!read_number(text, value) || !std::isfinite(value) || value < low_ || value > high_)
        refuse(*this, text, "a number in");
    return value;
}

void Real::set(double value) {
    if (!(value >= low_ && value <= high_)) refuse(*this, shortest(value), "a number in");
    take(value);
}

bool ParameterGroup::matters() const {
    return std::any_of(parameters.begin(), parameters.end(),
                       [](const Parameter* p) { return p->matters(); });
}

Parameter& ParameterSet::find(std::string_view id) const {
    const Parameter* nearest = nullptr;
    std::size_t nearest_distance = 0;
    std::string known;
    for (Parameter* parameter : all_) {
        if (parameter->id() == id) return *parameter;
        const std::size_t distance = edit_distance(parameter->id(), id);
        if (!nearest || distance < nearest_distance) {
            nearest = parameter;
            nearest_distance = distance;
        }
        known += (known.empty() ? "" : ", ") + parameter->id();
    }
    if (!nearest) throw ParameterError(fmt::format("unknown parameter \"{}\": there are none", id));
    throw ParameterError(fmt::format("unknown parameter \"{}\": did you mean {}? Known are {}", id,
                                     nearest->id(), known));
}

std::vector<NewValue> ParameterSet::read(std::span<const Assignment> assignments) const {
    std::vector<NewValue> values;
    for (const Assignment& one : assignments) {
        const Parameter& parameter = find(one.id);
        values.push_back({parameter.place(), parameter.read(one.text)});
    }
    return values;
}

std::vector<NewValue> ParameterSet::replace(std::span<const NewValue> values) const {
    std::vector<NewValue> before;
    for (const NewValue& one : values) before.push_back({one.place, all_[one.place]->get()});
    for (const NewValue& one : values) all_[one.place]->take(one.value);
    return before;
}

std::vector<Assignment> ParameterSet::assignments(std::span<const NewValue> values) const {
    std::vector<Assignment> list;
    for (const NewValue& one : values)
        list.push_back({all_[one.place]->id(), all_[one.place]->text_of(one.value)});
    return list;
}

std::vector<Assignment> ParameterSet::assignments(bool all) const {
    std::vector<Assignment> list;
    for (const Parameter* p : all_)
        if (all || !p->is_default()) list.push_back({p->id(), p->text()});
    return list;
}

std::vector<Value> ParameterSet::values() const {
    std::vector<Value> values;
    for (const Parameter* parameter : all_) values.push_back(parameter->get());
    return values;
}

std::vector<std::string> ParameterSet::of_launch() const {
    std::vector<std::string> texts;
    for (const Parameter* parameter : all_)
        if (parameter->matters() && !parameter->is_view())
            texts.push_back(parameter->id() + "=" + parameter->text());
    return texts;
}

}  // namespace warpscope::experiments
