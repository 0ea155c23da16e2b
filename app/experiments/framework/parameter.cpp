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

Parameter::Parameter(ParameterSet& owner, std::string id, std::string label, std::string help)
    : id_(std::move(id)), label_(std::move(label)), help_(std::move(help)) {
    owner.all_.push_back(this);
}

Toggle::Toggle(ParameterSet& owner, std::string id, std::string label, std::string help,
               bool initial)
    : Parameter(owner, std::move(id), std::move(label), std::move(help)),
      initial_(initial),
      value_(initial) {}

void Toggle::parse(std::string_view text) {
    const bool on = text == "on" || text == "true" || text == "1";
    if (!on && text != "off" && text != "false" && text != "0") refuse(*this, text, "one of");
    if (!set_)
        value_ = on;
    else if (on != *this)
        set_(on);
}

Choice::Choice(ParameterSet& owner, std::string id, std::string label, std::string help,
               std::vector<Word> words, std::size_t initial)
    : Parameter(owner, std::move(id), std::move(label), std::move(help)),
      words_(std::move(words)),
      initial_(initial),
      index_(initial) {}

std::string Choice::range() const {
    std::string list;
    for (const Word& word : words_) {
        if (!list.empty()) list += '|';
        list += word.id;
    }
    return list;
}

void Choice::parse(std::string_view text) {
    const auto found =
        std::find_if(words_.begin(), words_.end(), [&](const Word& w) { return w.id == text; });
    if (found == words_.end()) refuse(*this, text, "one of");
    index_ = std::size_t(found - words_.begin());
}

Integer::Integer(ParameterSet& owner, std::string id, std::string label, std::string help,
                 std::int64_t initial, std::int64_t low, std::int64_t high)
    : Parameter(owner, std::move(id), std::move(label), std::move(help)),
      initial_(initial),
      low_(low),
      high_(high),
      value_(initial) {}

std::string Integer::range() const {
    if (lowest_.empty()) return fmt::format("{}..{}", low_, high_);
    return fmt::format("{}|{}..{}", lowest_, low_ + 1, high_);
}
std::string Integer::text_of(std::int64_t value) const {
    return value == low_ && !lowest_.empty() ? lowest_ : std::to_string(value);
}
std::string Integer::text() const {
    return text_of(value_);
}
std::string Integer::default_text() const {
    return text_of(initial_);
}

void Integer::parse(std::string_view text) {
    std::int64_t value = 0;
    if (!lowest_.empty() && text == lowest_)
        value = low_;
    else if (!read_number(text, value) || value < low_ || value > high_)
        refuse(*this, text, "a whole number in");
    value_ = value;
}

Real::Real(ParameterSet& owner, std::string id, std::string label, std::string help, double initial,
           double low, double high, std::string unit)
    : Parameter(owner, std::move(id), std::move(label), std::move(help)),
      initial_(initial),
      low_(low),
      high_(high),
      value_(initial),
      unit_(std::move(unit)) {}

std::string Real::range() const {
    return shortest(low_) + ".." + shortest(high_);
}
std::string Real::text() const {
    return shortest(value_);
}
std::string Real::default_text() const {
    return shortest(initial_);
}

void Real::parse(std::string_view text) {
    double value = 0;
    if (!read_number(text, value) || !std::isfinite(value) || value < low_ || value > high_)
        refuse(*this, text, "a number in");
    value_ = value;
}

void Real::set(double value) {
    if (!(value >= low_ && value <= high_)) refuse(*this, shortest(value), "a number in");
    value_ = value;
}

Text::Text(ParameterSet& owner, std::string id, std::string label, std::string help)
    : Parameter(owner, std::move(id), std::move(label), std::move(help)) {}

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

void ParameterSet::parse(std::span<const Assignment> assignments) {
    for (const Assignment& one : assignments) find(one.id).parse(one.text);
}

std::vector<std::string> ParameterSet::of_launch() const {
    std::vector<std::string> texts;
    for (const Parameter* parameter : all_)
        if (parameter->matters() && !parameter->is_view())
            texts.push_back(parameter->id() + "=" + parameter->text());
    return texts;
}

}  // namespace warpscope::experiments
