#include "compiler/programs/toolkits.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

/// Lists /usr/local/cuda-13.0, /usr/local/cuda-12.9, …: the newest first.
std::vector<fs::path> versioned_toolkits(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().starts_with("cuda-")) found.push_back(entry.path());
    const auto version = [](const fs::path& path) {
        return std::strtod(path.filename().c_str() + std::string_view("cuda-").size(), nullptr);
    };
    std::sort(found.begin(), found.end(),
              [&](const fs::path& a, const fs::path& b) { return version(a) > version(b); });
    return found;
}

}  // namespace

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

std::vector<fs::path> toolkits() {
    std::vector<fs::path> found;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const fs::path home = environment(name); home.is_absolute()) found.push_back(home);
    found.emplace_back("/usr/local/cuda");
    for (fs::path& path : versioned_toolkits("/usr/local")) found.push_back(std::move(path));
    found.emplace_back("/opt/cuda");
    return found;
}

fs::path fetched_compiler(const std::string& name) {
    const fs::path data = environment("XDG_DATA_HOME"), home = environment("HOME");
    if (data.is_absolute()) return data / "warpscope" / name;
    return home.is_absolute() ? home / ".local/share/warpscope" / name : "";
}

}  // namespace warpscope::compiler
