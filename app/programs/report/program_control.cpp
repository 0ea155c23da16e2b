#include "programs/report/program_control.h"

#include <signal.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "files/whole_file.h"

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

}  // namespace warpscope::programs
