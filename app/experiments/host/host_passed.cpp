#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "experiments/host/host_calls.h"
#include "experiments/host/host_values.h"

// Arrays that the host program hands to code that is not followed.
namespace warpscope::experiments {
namespace {

/// What the names of functions have in them that read the arrays which they get, or only put their
/// elements into another order.
constexpr std::array<std::string_view, 23> readers{
    "cuda",    "print",  "check",  "verify",  "assert",     "compare",     "equal",      "free",
    "strlen",  "delete", "save",   "write",   "show",       "dump",        "sizeof",     "dim3",
    "shuffle", "sort",   "rotate", "reverse", "accumulate", "max_element", "min_element"};

/// Whether the text of a macro has an assignment, or "++".
bool assigns(std::string_view text) {
    const compiler::TokenText tokens(text);
    for (std::size_t t = 1; t < tokens.size(); ++t) {
        const bool is_compared = tokens.is(t + 1, "=") || tokens.is(t - 1, "=") ||
                                 tokens.is(t - 1, "!") || tokens.is(t - 1, "<") ||
                                 tokens.is(t - 1, ">");
        if (tokens.is(t, "=") && !is_compared) return true;
        if ((tokens.is(t, "+") || tokens.is(t, "-")) && tokens.text(t) == tokens.text(t - 1))
            return true;
    }
    return false;
}

}  // namespace

void HostCalls::pass_to_unknown(std::size_t i) {
    std::string call(at(i));
    std::ranges::transform(call, call.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool is_declared = i > 0 && (text_.is_word(i - 1) || text_.is(i - 1, ">"));
    const auto after = text_.is(i + 1, "(") ? text_.after_closing(i + 1) : std::nullopt;
    if (!after || *after == i + 3 || is_known_call(i)) return;
    const auto macro = program_.functions.find(at(i));
    const bool by_reference = call == "tie" || call == "exchange" || call == "from_chars" ||
                              (macro != program_.functions.end() && assigns(macro->second.value));
    if (!call.ends_with("printf"))
        for (const TokenRange& argument : ranges(i + 2, *after - 1)) {
            forget_argument(argument, by_reference);
            if (argument.second == argument.first + 2 && text_.is(argument.first, "&"))
                forget_members(std::string(at(argument.first + 1)));
        }
    if (is_declared) return;
    for (const std::string_view word : readers)
        if (call.find(word) != call.npos) return;
    for (std::string& array : parts(i + 2, *after - 1)) {
        if (array.starts_with("& ")) array.erase(0, 2);
        bool is_whole = true;
        for (const std::string_view end : {" [ 0 ]", " ( )", "$data", "$begin", "$end"})
            if (array.ends_with(end)) {
                array.erase(array.size() - end.size());
                is_whole = false;
            }
        if (array.find(' ') != std::string::npos || !find_array(program_, array)) continue;
        fill(array, "");
        const auto variable = program_.variables.find(place_of(program_, array).array);
        if (is_whole && variable != program_.variables.end() &&
            variable->second.container == "vector")
            set_size(variable->first, "?", "");  // it may be longer
    }
}

void HostCalls::forget_number(const std::string& word) {
    const std::string name = name_now(word);
    const auto variable = program_.variables.find(name);
    const bool is_number = variable == program_.variables.end() ||
                           variable->second.pointers + variable->second.extents.size() == 0;
    if (!is_number) return;
    if (program_.values.contains(name) && !dimensions_.contains(name)) forget(word);
}

void HostCalls::forget_members(const std::string& word) {
    const std::string name = name_now(word);
    if (dimensions_.contains(name)) return;
    std::vector<std::string> members;
    for (auto one = program_.values.lower_bound(name + "$");
         one != program_.values.end() && one->first.starts_with(name + "$"); ++one)
        if (is_member(one->first) && HostValues(program_).number(one->second))
            members.push_back(one->first);
    for (const std::string& member : members)
        if (!methods_.contains(member)) set_member(member, "?");
}

void HostCalls::forget_argument(TokenRange argument, bool by_reference) {
    const bool has_address = text_.is(argument.first, "&");
    std::size_t word = argument.first + std::size_t(has_address);
    if (!text_.is_word(word) || (!has_address && !by_reference)) return;
    if (word + 1 == argument.second) return forget_number(std::string(text_.text(word)));
    const std::string member = own_name(member_at(word, argument.second));
    if (word + 1 == argument.second && is_member(member) && program_.values.contains(member) &&
        HostValues(program_).number(program_.values[member]))
        set_member(member, "?");
}

void HostCalls::forget_read(std::size_t i) {
    const auto variable = program_.variables.find(name_now(at(i)));
    const bool is_stream = text_.is(i, "cin") || (variable != program_.variables.end() &&
                                                  variable->second.type.ends_with("stream"));
    for (std::size_t t = i + 1; is_stream && text_.is(t, ">") && text_.is(t + 1, ">"); ++t) {
        const std::size_t begin = t + 2;
        for (t = begin;
             t < text_.size() && !text_.is(t, ">") && !text_.is(t, ";") && !text_.is(t, ")");)
            t = text_.is(t, "[") ? text_.after_closing(t).value_or(text_.size()) : t + 1;
        forget_argument({begin, t}, true);
        --t;
    }
}

void HostCalls::read_range_loop(std::size_t begin, std::size_t end) {
    const bool is_range = end > begin + 3 && text_.is(end - 2, ":") && text_.is_word(end - 1) &&
                          !text_.is(end - 3, ":");
    if (is_range && text_.is(end - 4, "&") && !text_.is(begin, "const"))
        fill(name_now(text_.text(end - 1)), "");
}

}  // namespace warpscope::experiments
