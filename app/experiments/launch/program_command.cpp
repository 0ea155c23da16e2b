#include "experiments/launch/program_command.h"

#include "compute/device/enum_words.h"
#include "launches/files/file_kind.h"

namespace warpscope::experiments {

std::vector<std::string> program_command(const std::filesystem::path& program,
                                         const std::filesystem::path& folder,
                                         const compute::RunSettings& run,
                                         std::vector<std::string> options) {
    std::vector<std::string> command{"/proc/self/exe", "--beside-window", folder.string()};
    const auto add = [&](const char* option, std::string_view value) {
        command.insert(command.end(), {option, std::string(value)});
    };
    add("--math", compute::name(run.math));
    add("--schedule", compute::name(run.schedule));
    add("--seed", std::to_string(run.seed));
    add("--barriers", compute::name(run.barriers));
    add("--landing", compute::name(run.landing));
    command.insert(command.end(), options.begin(), options.end());
    if (launches::file_kind(program) != launches::FileKind::source) command.emplace_back("--");
    command.push_back(program.string());
    return command;
}

}  // namespace warpscope::experiments
