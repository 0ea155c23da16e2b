#include "jobs/output/files_and_terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "compiler/nvrtc_output.h"
#include "experiments/bodies/bodies_file.h"
#include "files/regular_file.h"

namespace warpscope::jobs {

namespace fs = std::filesystem;

namespace {

bool is_special(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Writes to a file that is there and stays, such as a pipe. Returns false if that fails.
bool write_to(const fs::path& path, std::string_view text) {
    std::FILE* const file = std::fopen(path.c_str(), "we");
    if (!file) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return (std::fclose(file) == 0) && written;
}

[[noreturn]] void fail_write(const fs::path& path, const std::string& why) {
    throw std::runtime_error(fmt::format(
        "writing {} failed: {}; free space there or name another file", path.string(), why));
}

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

void check_writable(const fs::path& path, std::string_view argument) {
    const auto fail = [&](std::string_view why) {
        throw UsageError(fmt::format("{} {}: {}; name a file in a folder that you can write to",
                                     argument, path.string(), why));
    };
    std::error_code ignored;
    if (!path.has_filename() || fs::is_directory(path, ignored)) fail("this is a folder");
    if (is_special(path)) {
        if (::access(path.c_str(), W_OK) != 0) fail(std::strerror(errno));
        return;
    }
    if (fs::exists(path, ignored) && ::access(path.c_str(), W_OK) != 0) {
        fail(std::strerror(errno));
    }
    try {
        files::check_whole_file(path);
    } catch (const std::system_error& error) {
        fail(error.code().message());
    }
}

void write_file(const fs::path& path, std::string_view text) {
    if (is_special(path)) {
        if (!write_to(path, text)) fail_write(path, std::strerror(errno));
        return;
    }
    try {
        files::write_whole_file(path, text);
    } catch (const std::system_error& error) {
        fail_write(path, error.code().message());
    }
}

void print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) {
        throw std::runtime_error(
            fmt::format("writing to standard output failed: {}", std::strerror(errno)));
    }
}

std::string visible(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t bytes = compiler::character_bytes(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
        text.remove_prefix(character.size());
        const bool layout = character == "\n" || character == "\t";
        if (layout || (bytes > 0 && !compiler::is_control(character))) {
            shown += character;
            continue;
        }
        for (const char byte : character)
            shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    return shown;
}

void print_error(std::string_view text) {
    std::fputs(visible(text).c_str(), stderr);
}

int complain(std::string text, int code) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    print_error(fmt::format("warpscope: {}\n", text));
    return code;
}

bool is_of_caller(const std::exception& e) {
    return dynamic_cast<const std::invalid_argument*>(&e) ||
           dynamic_cast<const experiments::BodiesFileError*>(&e);
}

std::size_t columns(std::string_view text) {
    std::size_t n = 0;
    for (char c : text) n += !continues_character(c);
    return n;
}

std::string first_columns(std::string_view text, std::size_t most) {
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end)
        if (!continues_character(text[end]) && ++seen > most) break;
    return std::string(text.substr(0, end));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        std::size_t end = text.find_first_of(" |");
        end = end == std::string_view::npos ? text.size() : end + 1;
        const std::string_view piece = text.substr(0, end);
        const bool space_last = piece.back() == ' ';
        if (!lines.back().empty() && columns(lines.back()) + columns(piece) - space_last > width) {
            lines.emplace_back();
        }
        lines.back() += piece;
        text.remove_prefix(end);
    }
    for (std::string& line : lines) {
        while (!line.empty() && line.back() == ' ') line.pop_back();
    }
    return lines;
}

}  // namespace warpscope::jobs
