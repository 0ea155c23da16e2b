#include "experiments/lessons/lesson_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/programs/run_command.h"
#include "files/regular_file.h"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A folder that is removed at the end.
class Scratch {
  public:
    Scratch() {
        static std::atomic<int> number = 0;
        path_ =
            fs::temp_directory_path() / fmt::format("warpscope-lesson-{}-{}", ::getpid(), ++number);
        fs::create_directories(path_);
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const fs::path& path() const { return path_; }
    /// Paths in the folder begin there.
    std::string shortened(std::string text) const {
        const std::string folder = path_.string() + "/";
        for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
            text.erase(at, folder.size());
        return text;
    }

  private:
    fs::path path_;
};

ProgramEvidence evidence_of(const Json& report) {
    std::int64_t races = 0, findings = 0, launches = 0;
    bool ends = report["signal"].is_null() && !report["timed_out"].get<bool>();
    files::Sentence said;
    for (const Json& finding : report["findings"]) {
        if (finding["severity"] == "note") continue;
        ++findings;
        if (finding["kind"] == "race") races += finding["count"].get<std::int64_t>();
        if (said.empty()) said = finding["form"].get<files::Sentence>();
    }
    for (const Json& process : report["processes"]) {
        ends &= process["errors"].empty() && process["ended"].get<bool>();
        for (const Json& kernel : process["kernels"])
            launches += kernel["launches"].get<std::int64_t>();
    }
    return {{{"races", races},
             {"findings", findings},
             {"launches", launches},
             {"ends", std::int64_t(ends)},
             {"exit_status", report["exit_status"].get<std::int64_t>()}},
            said};
}

/// The first line that says why there is no report.
std::string reason_of(std::string_view output) {
    constexpr std::string_view name = "warpscope: ";
    std::string_view line = output.substr(0, output.find('\n'));
    if (line.starts_with(name)) line.remove_prefix(name.size());
    return std::string(line);
}

}  // namespace

ProgramEvidence run_program(const std::string& name, const std::string& text,
                            const std::stop_token& stop) {
    try {
        const Scratch scratch;
        const fs::path source = scratch.path() / name, report = scratch.path() / "report.json";
        files::write_whole_file(source, text);
        const compiler::Ended ended = compiler::run_command(
            {"/proc/self/exe", "--confined", "--time-limit", "20", "--check", "race,barrier,memory",
             "--with-forms", "--json", report.string(), source.string()},
            stop);
        std::ifstream written(report);
        const Json json = Json::parse(written, nullptr, false);
        if (!json.is_object()) return {{}, scratch.shortened(reason_of(ended.output))};
        ProgramEvidence evidence = evidence_of(json);
        evidence.said.change_texts(
            [&](std::string& text) { text = scratch.shortened(std::move(text)); });
        return evidence;
    } catch (const std::exception& error) {
        return {{}, error.what()};
    }
}

}  // namespace warpscope::experiments
