#include "launches/files/program_capture.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "files/regular_file.h"

namespace warpscope::launches {

namespace {

constexpr const char* list_name = "program.json";

nlohmann::ordered_json sizes(const emulator::Dim3& d) {
    return {d.x, d.y, d.z};
}

emulator::Dim3 read_sizes(const nlohmann::json& json) {
    return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
            json.at(2).get<std::uint32_t>()};
}

}  // namespace

std::optional<ProgramCapture> read_capture(const std::filesystem::path& folder) {
    std::ifstream from(folder / list_name);
    if (!from) return {};
    try {
        const nlohmann::json json = nlohmann::json::parse(from);
        ProgramCapture capture{.command = json.at("command").get<std::string>(), .launches = {}};
        for (const nlohmann::json& launch : json.at("launches"))
            capture.launches.push_back({.number = launch.at("number").get<std::uint64_t>(),
                                        .file = folder / launch.at("file").get<std::string>(),
                                        .kernel = launch.at("kernel").get<std::string>(),
                                        .grid = read_sizes(launch.at("grid")),
                                        .block = read_sizes(launch.at("block")),
                                        .milliseconds = launch.at("ms").get<double>(),
                                        .findings = launch.at("findings").get<std::size_t>()});
        capture.process = json.value("process", 0);
        return capture;
    } catch (const nlohmann::json::exception&) {
        return {};
    }
}

void write_capture(const std::filesystem::path& folder, const ProgramCapture& capture) {
    nlohmann::ordered_json json{{"command", capture.command},
                                {"launches", nlohmann::ordered_json::array()}};
    for (const CapturedLaunch& launch : capture.launches)
        json["launches"].push_back({{"number", launch.number},
                                    {"file", launch.file.filename().string()},
                                    {"kernel", launch.kernel},
                                    {"grid", sizes(launch.grid)},
                                    {"block", sizes(launch.block)},
                                    {"ms", launch.milliseconds},
                                    {"findings", launch.findings}});
    if (capture.process) json["process"] = capture.process;
    files::write_whole_file(folder / list_name, json.dump(2) + "\n");
}

}  // namespace warpscope::launches
