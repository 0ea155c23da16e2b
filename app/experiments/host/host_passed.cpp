#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "experiments/host/host_calls.h"

// Arrays that the host program hands to code that is not followed.
namespace warpscope::experiments {
namespace {

/// What the names of functions have in them that read the arrays which they get, or only put their
/// elements into another order.
constexpr std::array<std::string_view, 23> readers{
    "cuda",    "print",  "check",  "verify",  "assert",     "compare",     "equal",      "free",
    "strlen",  "delete", "save",   "write",   "show",       "dump",        "sizeof",     "dim3",
    "shuffle", "sort",   "rotate", "reverse", "accumulate", "max_element", "min_element"};

}  // namespace

void HostCalls::pass_to_unknown(std::size_t i) {
    std::string call(at(i));
    std::ranges::transform(call, call.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool is_declared = i > 0 && (text_.is_word(i - 1) || text_.is(i - 1, ">"));
    if (!text_.is(i + 1, "(") || is_declared || is_known_call(i)) return;
    for (const std::string_view word : readers)
        if (call.find(word) != call.npos) return;
    const auto after = text_.after_closing(i + 1);
    if (!after || *after == i + 3) return;
    for (std::string& array : parts(i + 2, *after - 1)) {
        if (array.starts_with("& ")) array.erase(0, 2);
        for (const std::string_view end : {" [ 0 ]", " ( )", "$data", "$begin", "$end"})
            if (array.ends_with(end)) array.erase(array.size() - end.size());
        if (array.find(' ') == std::string::npos && find_array(program_, array)) fill(array, "");
    }
}

void HostCalls::read_range_loop(std::size_t begin, std::size_t end) {
    const bool is_range = end > begin + 3 && text_.is(end - 2, ":") && text_.is_word(end - 1) &&
                          !text_.is(end - 3, ":");
    if (is_range && text_.is(end - 4, "&") && !text_.is(begin, "const"))
        fill(name_now(text_.text(end - 1)), "");
}

}  // namespace warpscope::experiments
