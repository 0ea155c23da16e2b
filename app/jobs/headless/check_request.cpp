#include "jobs/headless/check_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

emulator::CheckChoice parse_checks(std::string_view text) {
    emulator::CheckChoice checks;
    while (true) {
        const std::string_view word = text.substr(0, text.find(','));
        const auto known = std::ranges::find(emulator::check_words, word,
                                             &decltype(emulator::check_words)::value_type::first);
        if (known == emulator::check_words.end())
            throw UsageError(
                fmt::format("--check {}: write one or more of {}, with commas between them", word,
                            fmt::join(emulator::check_words | std::views::keys, ", ")));
        checks.*known->second = true;
        if (checks.leaks) checks.memory = true;
        if (word.size() == text.size()) return checks;
        text.remove_prefix(word.size() + 1);
    }
}

}  // namespace warpscope::jobs
