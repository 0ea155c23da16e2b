#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

/// The values of an enum that a list such as "race,memory" names, in the order of the list. Throws
/// UsageError that names `option`, the unknown word and the known ones.
template <class Enum>
std::vector<Enum> parse_word_list(std::string_view option, std::string_view text) {
    std::vector<Enum> values;
    while (true) {
        const std::string_view word = text.substr(0, text.find(','));
        try {
            values.push_back(compute::parse<Enum>(word));
        } catch (const std::invalid_argument&) {
            throw UsageError(fmt::format("{} {}: write one or more of {}, with commas between them",
                                         option, word, compute::names<Enum>()));
        }
        if (word.size() == text.size()) return values;
        text.remove_prefix(word.size() + 1);
    }
}

}  // namespace warpscope::jobs
