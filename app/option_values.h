#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "experiments/framework/experiment.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope {

// The values of options. Each function throws jobs::UsageError that names the option and says what
// to write.

/// A whole number from 0 to `high`.
std::uint64_t parse_count(std::string_view option, const std::string& text, std::uint64_t high);

/// A file name without an extension or with the extension .png.
std::filesystem::path parse_png_name(std::string_view option, const std::string& text);

/// "1280x720".
experiments::Size parse_size(const std::string& text);

/// The experiment with this id; `argument` stands in the message.
const experiments::Entry& parse_experiment(const std::string& argument, const std::string& id);

/// A value for a parameter of an experiment.
struct Setting {
    const experiments::Entry* experiment;
    experiments::Assignment assignment;
};

/// "ripple.sync=off". With a launch file: "launch.n=1000". Only the launch file, which is read
/// later, knows whether it has a scalar n; other values are legal.
Setting parse_set(const std::string& text, bool of_launch_file);

/// The value of an enum from its word: "--math fast".
template <class Enum>
Enum parse_word(std::string_view option, const std::string& text) {
    try {
        return compute::parse<Enum>(text);
    } catch (const std::invalid_argument& e) {
        throw jobs::UsageError(fmt::format("{} {}", option, e.what()));
    }
}

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
            throw jobs::UsageError(
                fmt::format("{} {}: write one or more of {}, with commas between them", option,
                            word, compute::names<Enum>()));
        }
        if (word.size() == text.size()) return values;
        text.remove_prefix(word.size() + 1);
    }
}

/// "auto", which is 0, or one of compiler::targets.
unsigned parse_target(const std::string& text);

/// Sets the schedule: one of its words, or the file of a schedule.
void parse_schedule(const std::string& text, compute::RunSettings& run);

/// Checks a list of numbers and ranges from 1, "3,17-20". Throws jobs::UsageError that names the
/// option.
void parse_ranges(std::string_view option, const std::string& text);

}  // namespace warpscope
