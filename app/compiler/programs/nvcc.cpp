#include "compiler/programs/nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "files/text.h"

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

namespace {

namespace fs = std::filesystem;

/// How many lines of a source are searched for its options.
constexpr int first_lines = 20;

bool is_program(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// Searches the absolute folders of PATH. Empty: the program is in none.
fs::path in_path(const char* name) {
    const std::string path = environment("PATH");
    for (std::string_view left = path; !left.empty();) {
        const std::size_t end = std::min(left.find(':'), left.size());
        const fs::path program = fs::path(left.substr(0, end)) / name;
        if (program.is_absolute() && is_program(program)) return program;
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return {};
}

/// Where NVIDIA's packages of PyPI lie in the Python environment in use.
std::vector<fs::path> packages_of_python() {
    std::vector<fs::path> found;
    for (const fs::path& prefix :
         {fs::path(environment("VIRTUAL_ENV")), in_path("python3").parent_path().parent_path()}) {
        std::error_code error;
        if (!prefix.is_absolute()) continue;
        for (const auto& version : fs::directory_iterator(prefix / "lib", error))
            for (const char* packages : {"site-packages", "dist-packages"})
                if (version.path().filename().string().starts_with("python3"))
                    found.push_back(version.path() / packages / "nvidia/cu13");
    }
    return found;
}

fs::path nvcc_program() {
    if (const fs::path program = in_path("nvcc"); !program.empty()) return program;
    std::vector<fs::path> folders = toolkits();
    for (fs::path& folder : packages_of_python()) folders.push_back(std::move(folder));
    folders.push_back(fetched_compiler("nvcc"));
    for (const fs::path& folder : folders)
        if (fs::path program = folder / "bin/nvcc"; is_program(program)) return program;
    return {};
}

}  // namespace

Nvcc find_nvcc() {
    Nvcc nvcc{nvcc_program(), in_path("g++"), {}};
    if (nvcc.program.empty())
        throw NoCompiler(
            "nvcc, the compiler of programs, is not installed: install the CUDA Toolkit, or "
            "download nvcc with warpscope --get-nvcc");
    if (nvcc.host.empty())
        throw NoCompiler("g++ is not installed, which nvcc needs: install the package g++");
    // nvcc of a package of PyPI searches lib64, which such packages do not have.
    std::error_code error;
    const fs::path toolkit = fs::canonical(nvcc.program, error).parent_path().parent_path();
    if (fs::exists(toolkit / "lib/libcudart_static.a", error)) nvcc.libraries = toolkit / "lib";
    return nvcc;
}

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (const char c : line) {
        const bool ends = quote ? c == quote : c == '"' || c == '\'';
        const bool is_blank = !quote && (c == ' ' || c == '\t' || c == '\r' || c == '\n');
        if (!is_blank && !in_word) words.emplace_back();
        in_word = !is_blank;
        if (ends)
            quote = quote ? 0 : c;
        else if (!is_blank)
            words.back() += c;
    }
    return words;
}

std::vector<std::string> options_in(std::string_view source, const fs::path& folder) {
    std::vector<std::string> found;
    for (int line = 0; line < first_lines && !source.empty(); ++line) {
        constexpr std::string_view blanks = " \t";
        std::string_view text = files::take_line(source);
        for (const std::string_view word : {"//", "nvcc:"}) {
            text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
            if (text.starts_with(word))
                text.remove_prefix(word.size());
            else
                text = {};
        }
        for (std::string& word : words_of(text)) found.push_back(std::move(word));
    }
    for (std::string& word : found) {
        const std::size_t name = word.starts_with("-I") || word.starts_with("-L") ? 2 : 0;
        std::error_code error;
        if (const fs::path path = folder / word.substr(name);
            word.size() > name && fs::exists(path, error))
            word = word.substr(0, name) + path.string();
    }
    return found;
}

}  // namespace warpscope::compiler
