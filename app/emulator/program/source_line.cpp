#include "emulator/program/source_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace warpscope::emulator {

namespace {

constexpr std::string_view toolkit_folder = "cuda/";
constexpr std::string_view intrinsics = ".hpp";  // device_atomic_functions.hpp, cuda_fp16.hpp, …

bool has_file(std::int32_t file, const std::vector<std::string>& files) {
    return file >= 0 && std::size_t(file) < files.size() && !files[std::size_t(file)].empty();
}

std::string place(const std::string& own, const std::vector<HeaderLine>& inlined, bool full) {
    std::string notes;
    if (full && !inlined.empty() && inlined.front().toolkit) {
        std::string_view name = inlined.front().file;
        name.remove_prefix(name.starts_with(toolkit_folder) ? toolkit_folder.size() : 0);
        notes = fmt::format("in the toolkit's {}:{}", name, inlined.front().line);
    }
    const auto users = std::ranges::find(inlined, false, &HeaderLine::toolkit);
    std::string at = own;
    if (users != inlined.end()) {
        at = fmt::format("{}:{}", users->file, users->line);
        notes += fmt::format("{}called at {}", notes.empty() ? "" : ", ", own);
    }
    return notes.empty() ? at : fmt::format("{} ({})", at, notes);
}

}  // namespace

std::vector<HeaderLine> header_lines(const SourceLine& at, const std::vector<std::string>& files) {
    std::vector<HeaderLine> lines;
    if (!at.inlined) return lines;
    for (const FileLine& inlined : *at.inlined) {
        if (!has_file(inlined.file, files)) continue;
        const std::string& file = files[std::size_t(inlined.file)];
        const bool toolkit = file.starts_with(toolkit_folder);
        if (toolkit && file.ends_with(intrinsics)) continue;
        lines.push_back({file, inlined.line, toolkit});
    }
    return lines;
}

std::string users_place(const std::string& own, const std::vector<HeaderLine>& inlined) {
    return place(own, inlined, false);
}

std::string full_place(const std::string& own, const std::vector<HeaderLine>& inlined) {
    return place(own, inlined, true);
}

std::string own_line(const SourceLine& at, const std::vector<std::string>& files) {
    if (!has_file(at.file, files)) return fmt::format("PTX line {}", at.ptx_line);
    return fmt::format("{}:{}", files[std::size_t(at.file)], at.line);
}

std::string place_of(const SourceLine& at, const std::vector<std::string>& files) {
    return full_place(own_line(at, files), header_lines(at, files));
}

std::string load_place(const SourceLine& at, const std::vector<std::string>& files) {
    if (!has_file(at.file, files)) return place_of(at, files);
    return fmt::format("{}, PTX line {}", place_of(at, files), at.ptx_line);
}

}  // namespace warpscope::emulator
