#include "compute/libraries/shared_file.h"

#include <filesystem>
#include <system_error>

namespace warpscope::compute {

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
