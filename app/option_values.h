#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// "auto", which is 0, or one of compiler::targets.
unsigned parse_target(const std::string& text);

/// Sets the schedule: one of its words, or the file of a schedule.
void parse_schedule(const std::string& text, compute::RunSettings& run);

/// Checks a list of numbers and ranges from 1, "3,17-20". Throws jobs::UsageError that names the
/// option.
void parse_ranges(std::string_view option, const std::string& text);

}  // namespace warpscope
