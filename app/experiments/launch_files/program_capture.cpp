#include "experiments/launch_files/program_capture.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace warpscope::experiments {

namespace {

emulator::Dim3 read_dim3(const nlohmann::json& json) {
    return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
            json.at(2).get<std::uint32_t>()};
}

}  // namespace

std::optional<ProgramCapture> read_capture(const std::filesystem::path& folder) {
    std::ifstream from(folder / "program.json");
    if (!from) return {};
    try {
        const nlohmann::json json = nlohmann::json::parse(from);
        ProgramCapture capture{.command = json.at("command").get<std::string>(), .launches = {}};
        for (const nlohmann::json& launch : json.at("launches"))
            capture.launches.push_back({.number = launch.at("number").get<std::uint64_t>(),
                                        .file = folder / launch.at("file").get<std::string>(),
                                        .kernel = launch.at("kernel").get<std::string>(),
                                        .grid = read_dim3(launch.at("grid")),
                                        .block = read_dim3(launch.at("block")),
                                        .milliseconds = launch.at("ms").get<double>(),
                                        .findings = launch.at("findings").get<std::size_t>()});
        capture.process = json.value("process", 0);
        return capture;
    } catch (const nlohmann::json::exception&) {
        return {};
    }
}

}  // namespace warpscope::experiments
