#include "programs/report/program_control.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "files/regular_file.h"

namespace warpscope::programs {
namespace {

constexpr const char* file_name = "control.json";

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramControl, until, kernel, process)

}  // namespace

bool is_alive(int process) {
    return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

void write_control(const std::filesystem::path& folder, const ProgramControl& control) {
    nlohmann::json json;
    to_json(json, control);
    files::write_whole_file(folder / file_name, json.dump());
}

bool has_to_wait(const std::filesystem::path& folder, std::uint64_t launch,
                 const std::string& kernel) {
    std::ifstream from(folder / file_name);
    if (!from) return false;
    try {
        ProgramControl control;
        from_json(nlohmann::json::parse(from), control);
        return launch >= control.until && is_alive(control.process) &&
               (control.kernel.empty() || control.kernel == kernel);
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

std::optional<std::vector<LaunchRange>> read_launch_ranges(const std::string& text) {
    std::vector<LaunchRange> ranges;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        std::uint64_t first = 0, last = 0;
        auto [rest, error] = std::from_chars(at, end, first);
        if (error != std::errc() || first == 0) return {};
        last = first;
        if (rest < end && *rest == '-') {
            const auto second = std::from_chars(rest + 1, end, last);
            if (second.ec != std::errc() || last < first) return {};
            rest = second.ptr;
        }
        ranges.push_back({first, last});
        if (rest < end && (*rest != ',' || rest + 1 == end)) return {};
        at = rest + 1;
    }
    return ranges;
}

bool is_in(const std::vector<LaunchRange>& ranges, std::uint64_t number) {
    return ranges.empty() || std::ranges::any_of(ranges, [&](const LaunchRange& range) {
               return number >= range.first && number <= range.last;
           });
}

}  // namespace warpscope::programs
