#include "compute/libraries/installed_files.h"

#include <filesystem>
#include <system_error>

namespace warpscope::compute {

std::vector<std::filesystem::path> places_of_library(const std::string& name) {
    std::error_code none;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    return {folder / name, folder.parent_path() / "lib/warpscope" / name};
}

namespace fs = std::filesystem;

std::string shared_file(std::string_view name) {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const char* folder : {"../share/warpscope", "../../assets", "../assets", "../..", ".."}) {
        const fs::path file = (program / folder / name).lexically_normal();
        if (program.is_absolute() && fs::exists(file, error)) return file.string();
    }
    return {};
}

}  // namespace warpscope::compute
