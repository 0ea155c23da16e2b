#include "programs/report/program_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ranges>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace warpscope::programs {

namespace {

using namespace std::chrono_literals;

constexpr const char *counters_word = "counters", *all_word = "all";
constexpr std::pair<const char*, emulator::Schedule> schedule_words[] = {
    {"random", emulator::Schedule::random},
    {"run-to-barrier", emulator::Schedule::run_to_barrier},
    {"reverse", emulator::Schedule::reverse},
};
constexpr std::pair<const char*, emulator::BarrierPolicy> barrier_words[] = {
    {"volta", emulator::BarrierPolicy::volta},
    {"before-volta", emulator::BarrierPolicy::before_volta},
    {"strict", emulator::BarrierPolicy::strict},
};
constexpr std::pair<const char*, emulator::Landing> landing_words[] = {
    {"random", emulator::Landing::random},
    {"at-once", emulator::Landing::at_once},
    {"late", emulator::Landing::late},
};

std::string_view value_of(const char* variable) {
    const char* const value = std::getenv(variable);
    return value ? value : "";
}

template <class T, std::size_t N>
T read_word(const char* variable, const std::pair<const char*, T> (&words)[N], T otherwise) {
    for (const auto& [word, value] : words)
        if (value_of(variable) == word) return value;
    return otherwise;
}

template <class T, std::size_t N>
std::string word_of(T value, const std::pair<const char*, T> (&words)[N]) {
    for (const auto& [word, meaning] : words)
        if (meaning == value) return word;
    return {};
}

bool names(std::string_view list, std::string_view wanted) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        if (list.substr(0, comma) == wanted) return true;
        list = comma == list.npos ? "" : list.substr(comma + 1);
    }
    return false;
}

}  // namespace

std::map<std::string, std::string> ProgramSettings::to_environment() const {
    std::vector<std::string> words = checks.words();
    if (checks.counters) words.emplace_back(counters_word);
    std::string check;
    for (const std::string& word : words) check += (check.empty() ? "" : ",") + word;
    std::map<std::string, std::string> variables{
        {"WARPSCOPE_CHECK", check},
        {"WARPSCOPE_BLOCKS", checks.samples ? "sample" : all_word},
        {"WARPSCOPE_SCHEDULE", word_of(schedule, schedule_words)},
        {"WARPSCOPE_BARRIERS", word_of(barriers, barrier_words)},
        {"WARPSCOPE_LANDING", word_of(landing, landing_words)},
        {"WARPSCOPE_SEED", std::to_string(seed)},
        {"WARPSCOPE_APP", app.string()},
    };
    if (app_process) variables["WARPSCOPE_APP_PROCESS"] = std::to_string(app_process);
    if (deadline)
        variables["WARPSCOPE_DEADLINE"] = std::to_string(deadline->time_since_epoch() / 1ms);
    if (!unoptimized.empty()) variables["WARPSCOPE_UNOPTIMIZED"] = unoptimized.string();
    if (!reports.empty()) variables["WARPSCOPE_REPORTS"] = reports.string();
    if (!captures.empty()) variables["WARPSCOPE_CAPTURE"] = captures.string();
    if (!captured_launches.empty()) variables["WARPSCOPE_CAPTURE_LAUNCHES"] = captured_launches;
    if (!captured_kernel.empty()) variables["WARPSCOPE_CAPTURE_KERNEL"] = captured_kernel;
    return variables;
}

ProgramSettings ProgramSettings::from_environment() {
    ProgramSettings settings;
    for (const auto& [word, member] : emulator::check_words)
        settings.checks.*member = names(value_of("WARPSCOPE_CHECK"), word);
    settings.checks.counters = names(value_of("WARPSCOPE_CHECK"), counters_word);
    settings.checks.samples = value_of("WARPSCOPE_BLOCKS") != all_word;
    settings.schedule = read_word("WARPSCOPE_SCHEDULE", schedule_words, settings.schedule);
    settings.barriers = read_word("WARPSCOPE_BARRIERS", barrier_words, settings.barriers);
    settings.landing = read_word("WARPSCOPE_LANDING", landing_words, settings.landing);
    const std::string seed(value_of("WARPSCOPE_SEED"));
    if (!seed.empty()) settings.seed = std::strtoull(seed.c_str(), nullptr, 10);
    settings.gpus = std::clamp(std::atoi(std::string(value_of("WARPSCOPE_GPUS")).c_str()), 1, 16);
    if (const double version =
            std::strtod(std::string(value_of("WARPSCOPE_COMPUTE_CAPABILITY")).c_str(), nullptr);
        version >= 7.5 && version <= 12.1)
        settings.compute_capability = int(std::lround(version * 10));
    if (const std::string deadline(value_of("WARPSCOPE_DEADLINE")); !deadline.empty())
        settings.deadline.emplace(1ms * std::strtoll(deadline.c_str(), nullptr, 10));
    settings.reports = value_of("WARPSCOPE_REPORTS");
    settings.app = value_of("WARPSCOPE_APP");
    settings.app_process = std::atoi(std::string(value_of("WARPSCOPE_APP_PROCESS")).c_str());
    settings.unoptimized = value_of("WARPSCOPE_UNOPTIMIZED");
    settings.captures = value_of("WARPSCOPE_CAPTURE");
    settings.captured_launches = value_of("WARPSCOPE_CAPTURE_LAUNCHES");
    settings.captured_kernel = value_of("WARPSCOPE_CAPTURE_KERNEL");
    return settings;
}

emulator::CheckChoice read_checks(std::string_view text) {
    emulator::CheckChoice checks;
    while (true) {
        const std::string_view word = text.substr(0, text.find(','));
        const auto known = std::ranges::find(emulator::check_words, word,
                                             &decltype(emulator::check_words)::value_type::first);
        if (known == emulator::check_words.end())
            throw std::invalid_argument(
                fmt::format("{}: write one or more of {}, with commas between them", word,
                            fmt::join(emulator::check_words | std::views::keys, ", ")));
        checks.*known->second = true;
        if (checks.leaks) checks.memory = true;
        if (word.size() == text.size()) return checks;
        text.remove_prefix(word.size() + 1);
    }
}

}  // namespace warpscope::programs
