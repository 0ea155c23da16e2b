#include "option_values.h"

#include <algorithm>
#include <charconv>

#include "compiler/nvrtc.h"
#include "compiler/source_file.h"
#include "files/text.h"
#include "programs/report/program_control.h"

namespace warpscope {

using jobs::UsageError;

namespace {
constexpr int largest_side = 16384;
}

std::uint64_t parse_count(std::string_view option, const std::string& text, std::uint64_t high) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || value > high) {
        throw UsageError(
            fmt::format("{} {}: write a whole number from 0 to {}", option, text, high));
    }
    return value;
}

std::filesystem::path parse_png_name(std::string_view option, const std::string& text) {
    const std::filesystem::path file = text;
    const std::string extension = files::lower_case(file.extension().string());
    if (extension.empty() || extension == ".png") return file;
    throw UsageError(
        fmt::format("{} {}: it is saved as PNG; name a file that ends in .png", option, text));
}

void parse_schedule(const std::string& text, compute::RunSettings& run) {
    run.turns.reset();
    std::error_code error;
    if (!std::filesystem::is_regular_file(text, error)) {
        try {
            run.schedule = compute::parse<compute::Schedule>(text);
            return;
        } catch (const std::invalid_argument& e) {
            throw UsageError(fmt::format("--schedule {}, and no file has this name", e.what()));
        }
    }
    try {
        run.turns = std::make_shared<emulator::ScheduleFile>(
            emulator::ScheduleFile::parse(compiler::read_source_file(text), text));
    } catch (const std::exception& e) {
        throw UsageError(fmt::format("--schedule {}", e.what()));
    }
}

experiments::Size parse_size(const std::string& text) {
    experiments::Size size;
    const char* end = text.data() + text.size();
    const auto width = std::from_chars(text.data(), end, size.width);
    if (width.ec == std::errc() && width.ptr != end && *width.ptr == 'x') {
        const auto height = std::from_chars(width.ptr + 1, end, size.height);
        const bool legal = std::min(size.width, size.height) >= 1 &&
                           std::max(size.width, size.height) <= largest_side;
        if (height.ec == std::errc() && height.ptr == end && legal) return size;
    }
    throw UsageError(
        fmt::format("--size {}: write WIDTHxHEIGHT in pixels, 1x1 to {}x{}, e.g. "
                    "1280x720",
                    text, largest_side, largest_side));
}

const experiments::Entry& parse_experiment(const std::string& argument, const std::string& id) {
    try {
        return experiments::find_experiment(id);
    } catch (const experiments::ParameterError& e) {
        throw UsageError(fmt::format("{}: {}", argument, e.what()));
    }
}

namespace {

/// The id of an experiment, and the assignment, of "ripple.sync=off".
std::pair<std::string, experiments::Assignment> split_set(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::size_t dot = text.substr(0, equals).find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equals) {
        throw UsageError(
            fmt::format("--set {}: write EXPERIMENT.PARAMETER=VALUE, e.g. "
                        "ripple.sync=off (--list shows all)",
                        text));
    }
    return {text.substr(0, dot), {text.substr(dot + 1, equals - dot - 1), text.substr(equals + 1)}};
}

}  // namespace

Setting parse_set(const std::string& text, bool of_launch_file) {
    const auto [id, assignment] = split_set(text);
    if (of_launch_file) {
        const experiments::Entry& launch = experiments::launch_experiment();
        if (id == launch.id) return {&launch, assignment};
        throw UsageError(
            fmt::format("--set {}: with --launch, write {}.SCALAR=VALUE, e.g. {}.n=1000", text,
                        launch.id, launch.id));
    }
    const experiments::Entry& entry = parse_experiment("--set " + text, id);
    try {
        entry.make_parameters()->parse({&assignment, 1});
    } catch (const experiments::ParameterError& e) {
        throw UsageError(fmt::format("{}: {}", entry.id, e.what()));
    }
    return {&entry, assignment};
}

void parse_ranges(std::string_view option, const std::string& text) {
    const auto ranges = programs::read_launch_ranges(text);
    if (!ranges || ranges->empty())
        throw UsageError(
            fmt::format("{} {}: write numbers from 1 and ranges, e.g. 3,17-20", option, text));
}

unsigned parse_target(const std::string& text) {
    if (text == "auto") return 0;
    for (const unsigned target : compiler::targets)
        if (text == std::to_string(target)) return target;
    throw jobs::UsageError(fmt::format("--target {}: write auto or one of {}", text,
                                       fmt::join(compiler::targets, ", ")));
}

}  // namespace warpscope
