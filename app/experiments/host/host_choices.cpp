#include <algorithm>
#include <utility>

#include "experiments/host/host_reader.h"
#include "experiments/host/host_values.h"

// Statements that the program may skip.
namespace warpscope::experiments {

/// Reads statements that the program may skip: behind them, what they free is perhaps freed. It
/// is not, where they end the function or the program.
void HostReader::walk_perhaps(std::size_t begin, std::size_t end) {
    const auto before = freed_;
    const bool had_left = std::exchange(leaves_, false);
    ++depth_of_doubt_;
    walk(begin, end);
    --depth_of_doubt_;
    leaves_ = leaves_ || leaves_in(begin, end);
    for (auto one = freed_.begin(); one != freed_.end();) {
        const bool is_new = !before.contains(one->first);
        if (is_new) one->second.certain = false;
        one = is_new && leaves_ ? freed_.erase(one) : std::next(one);
    }
    leaves_ = had_left;
}

bool HostReader::is_one_of(std::size_t t, std::initializer_list<std::string_view> words) const {
    return std::ranges::find(words, at(t)) != words.end();
}

/// One of the statements leaves the block that they are in.
bool HostReader::leaves_in(std::size_t begin, std::size_t end) const {
    for (std::size_t t = begin; t < end; ++t)
        if (is_one_of(t, {"return", "goto", "break", "continue"}) || leaves_program(t)) return true;
    return false;
}

bool HostReader::leaves_program(std::size_t t) const {
    return is_one_of(t, {"exit", "_Exit", "quick_exit", "abort", "terminate", "throw"});
}

/// What a condition says. nullopt: it is not known. A pointer to memory is true.
std::optional<bool> HostReader::condition(std::size_t begin, std::size_t end) const {
    if (const auto value = HostValues(program_).number(words(begin, end))) return real(*value) != 0;
    const bool is_compared = end > begin + 3 && text_.is(end - 3, "!") && text_.is(end - 2, "=") &&
                             (text_.is(end - 1, "nullptr") || text_.is(end - 1, "NULL"));
    const std::string name = place_of(program_, words(begin, is_compared ? end - 3 : end)).array;
    const HostArray* const array = find_array(program_, name);
    const bool is_pointer = end == begin + 1 || is_compared;
    if (is_pointer && array && !array->bytes.empty()) return true;
    return std::nullopt;
}

std::size_t HostReader::choose(std::size_t i, std::size_t end) {
    const std::size_t head_end = text_.after_closing(i + 1).value_or(end);
    const std::size_t yes_end = statement_end(head_end, end);
    const bool has_else = text_.is(yes_end, "else");
    const std::size_t no_end = has_else ? statement_end(yes_end + 1, end) : yes_end;
    const std::size_t shadowed = shadowed_.size();
    walk(i + 2, head_end - 1);  // it may call cudaMalloc()
    choose_branch({i + 2, head_end - 1}, {head_end, yes_end},
                  {has_else ? yes_end + 1 : no_end, no_end});
    end_shadows(shadowed);
    return no_end;
}

void HostReader::choose_branch(TokenRange head, TokenRange yes, TokenRange no) {
    bool has_counter =
        false;  // of a loop that is passed once: other passes may choose the other one
    for (std::size_t t = head.first; t < head.second; ++t)
        has_counter = has_counter || (text_.is_word(t) && is_counter(std::string(at(t))));
    const auto known = has_counter ? std::nullopt : condition(head.first, head.second);
    if (known) {
        const TokenRange taken = *known ? yes : no, other = *known ? no : yes;
        skip(other.first, other.second);
        if (leaves_in(taken.first, taken.second)) return walk_perhaps(taken.first, taken.second);
        return walk(taken.first, taken.second);
    }
    const Scope before = scope_;
    walk_perhaps(yes.first, yes.second);
    const Scope taken = std::exchange(scope_, before);
    walk_perhaps(no.first, no.second);
    const HostValues values(program_);
    for (const auto& [word, meaning] : taken) {
        const std::string& other = scope_[word];
        if (!program_.values.contains(other)) {
            scope_[word] = meaning;
        } else if (meaning != other && !leaves_in(yes.first, yes.second)) {
            const auto one = values.number(meaning), two = values.number(other);
            if (two && (!one || real(*one) != real(*two)))
                assumed_of_[other] =
                    "the branch of if (" + plain_words(head.first, head.second) + ")";
        }
    }
}

/// Reads statements that the program may skip, and notes what is assumed.
void HostReader::assume(const std::string& what, std::size_t begin, std::size_t end) {
    const std::string outer = std::exchange(assumed_, what);
    const auto before = program_.values;
    walk_perhaps(begin, end);
    assumed_ = outer;
    for (const auto& [name, value] : program_.values)
        if (const auto was = before.find(name); was == before.end() || was->second != value)
            assumed_of_[name] = what;
}

std::size_t HostReader::choose_case(std::size_t i, std::size_t end) {
    const std::size_t open = text_.after_closing(i + 1).value_or(end);
    const std::size_t after =
        text_.is(open, "{") ? text_.after_closing(open).value_or(end) : statement_end(open, end);
    const auto value = HostValues(program_).number(words(i + 2, open - 1));
    std::optional<std::size_t> chosen, otherwise;
    bool is_certain = value.has_value();
    const auto next = [&](std::size_t t) {  // at this depth
        return text_.is(t, "{") ? text_.after_closing(t).value_or(after) : t + 1;
    };
    for (std::size_t t = open + 1; t < after; t = next(t)) {
        if (text_.is(t, "default")) otherwise = t + 2;
        if (!text_.is(t, "case")) continue;
        std::size_t colon = t + 1;
        while (colon < after && !text_.is(colon, ":")) ++colon;
        const auto label = HostValues(program_).number(words(t + 1, colon));
        const bool is_it = value && label && real(*value) == real(*label);
        if (is_it && !chosen) chosen = colon + 1;
        is_certain = is_certain && (chosen || label);
        if (!value && !otherwise) otherwise = colon + 1;
    }
    const auto from = chosen ? chosen : otherwise;
    if (!from) return after;
    std::size_t last = *from;
    while (last < after && !text_.is(last, "break") && !text_.is(last, "return")) last = next(last);
    const std::string choice = "switch (" + plain_words(i + 2, open - 1) + ")";
    if (is_certain)
        walk(*from, std::min(last, after));
    else
        assume("the case of " + choice, *from, std::min(last, after));
    if (skip(open, after) && !is_certain) program_.left_out.insert("the other cases of " + choice);
    if (!is_certain) touch(open, after);
    return after;
}

}  // namespace warpscope::experiments
