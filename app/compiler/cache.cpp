#include "compiler/cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// FNV-1a, 64 bits. It names files and detects damage; keys are compared in full.
std::uint64_t hash(std::string_view bytes) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        value *= 0x100000001b3;
    }
    return value;
}

/// False if the source may include another file of the user, because the key does not show changes
/// of that file. #include <name> is a header of the toolkit and is allowed.
bool stands_alone(std::string_view source) {
    constexpr std::string_view word = "include", blanks = " \t";
    for (std::size_t at = 0; (at = source.find(word, at)) != std::string_view::npos;) {
        const std::size_t before = source.substr(0, at).find_last_not_of(blanks);
        at += word.size();
        const bool directive =
            before != std::string_view::npos &&
            std::string_view("#:_\\\n\r").find(source[before]) != std::string_view::npos;
        const std::size_t after = source.find_first_not_of(blanks, at);
        if (!directive || after == std::string_view::npos) continue;
        const bool toolkit = source[after] == '<' && after + 1 < source.size() &&
                             source[after + 1] != '/' && source[after + 1] != '.';
        if (!toolkit) return false;
    }
    return true;
}

/// Everything that the PTX depends on.
Json key_of(const Request& request, std::string_view version) {
    return {{"format", 1},
            {"compiler", version},
            {"options", options_of(request)},
            {"file", request.file},
            {"source", request.source}};
}

/// As CBOR, because sources may not be UTF-8.
std::string bytes_of(const Json& json) {
    std::string bytes;
    Json::to_cbor(json, bytes);
    return bytes;
}

fs::path name_of(const Json& key) {
    return fmt::format("{:016x}.kernel", hash(bytes_of(key)));
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

Json to_json(const Compiled& compiled) {
    Json warnings = Json::array();
    for (const Diagnostic& d : compiled.warnings)
        warnings.push_back({d.line, d.column, int(d.severity), d.text});
    return {{"ptx", compiled.ptx}, {"warnings", std::move(warnings)}};
}

Compiled from_json(const Json& json) {
    Compiled compiled{json.at("ptx").get<std::string>(), {}};
    for (const Json& d : json.at("warnings")) {
        const int severity = std::clamp(d.at(2).get<int>(), 0, int(Severity::error));
        compiled.warnings.push_back({d.at(0).get<int>(), d.at(1).get<int>(),
                                     static_cast<Severity>(severity), d.at(3).get<std::string>()});
    }
    return compiled;
}

/// With a checksum in front, so that a damaged file is detected before it is parsed.
std::string sealed(const Json& json) {
    const std::string bytes = bytes_of(json);
    return fmt::format("{:016x}", hash(bytes)) + bytes;
}

std::optional<Json> unsealed(std::string_view bytes) {
    const std::string_view sum = bytes.substr(0, 16);
    bytes.remove_prefix(sum.size());
    if (bytes.empty() || sum != fmt::format("{:016x}", hash(bytes))) return {};
    return Json::from_cbor(bytes);
}

/// Writes a temporary file and renames it, so that readers see a complete file.
void write(const fs::path& file, std::string_view bytes) {
    static std::atomic<unsigned> count{0};
    fs::path part = file;
    part += fmt::format(".{}.{}.part", ::getpid(), count++);
    bool written = false;
    {
        std::ofstream out(part, std::ios::binary);
        out.write(bytes.data(), std::streamsize(bytes.size()));
        out.close();
        written = out.good();
    }
    std::error_code error;
    if (written) fs::rename(part, file, error);
    if (!written || error) fs::remove(part, error);
}

/// Removes the least recently used files, including temporary files of processes that were killed.
void shrink(const fs::path& folder, std::uintmax_t limit) {
    struct File {
        fs::path path;
        std::uintmax_t bytes;
        fs::file_time_type used;
    };
    std::vector<File> files;
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string extension = entry.path().extension().string();
        if (extension != ".kernel" && extension != ".part") continue;
        files.push_back({entry.path(), entry.file_size(error), entry.last_write_time(error)});
        if (error)
            files.pop_back();
        else
            bytes += files.back().bytes;
    }
    std::sort(files.begin(), files.end(),
              [](const File& a, const File& b) { return a.used < b.used; });
    for (const File& file : files) {
        if (bytes <= limit) return;
        if (fs::remove(file.path, error)) bytes -= file.bytes;
    }
}

}  // namespace

Cache::Cache(fs::path folder, std::uintmax_t limit) : folder_(std::move(folder)), limit_(limit) {}

fs::path Cache::default_folder() {
    const auto absolute = [](const char* name) -> fs::path {
        const char* const value = std::getenv(name);
        return value && *value == '/' ? value : "";
    };
    if (const fs::path cache = absolute("XDG_CACHE_HOME"); !cache.empty())
        return cache / "warpscope/kernels";
    const fs::path home = absolute("HOME");
    return home.empty() ? home : home / ".cache/warpscope/kernels";
}

std::optional<Compiled> Cache::find(const Request& request,
                                    std::string_view version) const noexcept {
    try {
        if (folder_.empty() || !stands_alone(request.source)) return {};
        const Json key = key_of(request, version);
        const fs::path file = folder_ / name_of(key);
        const auto stored = unsealed(text_of(file));
        if (!stored || stored->at("key") != key) return {};
        std::error_code ignored;
        fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
        return from_json(stored->at("compiled"));
    } catch (...) {
        return {};
    }
}

void Cache::keep(const Request& request, std::string_view version,
                 const Compiled& compiled) const noexcept {
    try {
        if (folder_.empty() || !stands_alone(request.source)) return;
        const Json key = key_of(request, version);
        const std::string bytes = sealed({{"key", key}, {"compiled", to_json(compiled)}});
        if (bytes.size() > limit_) return;
        std::error_code error;
        fs::create_directories(folder_, error);
        write(folder_ / name_of(key), bytes);
        shrink(folder_, limit_);
    } catch (...) {
        return;  // The source will be compiled again.
    }
}

}  // namespace warpscope::compiler
