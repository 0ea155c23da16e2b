#include "programs/images/ptx_entries.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <string>

#include "emulator/ptx/ptx_lexer.h"

namespace warpscope::programs {

namespace {

using emulator::is_of_name;

/// Where the comment or string that begins at `at` ends; `at` itself if none begins there.
std::size_t behind_comment_or_string(std::string_view ptx, std::size_t at) {
    const auto behind = [&](std::string_view end, std::size_t from) {
        const std::size_t found = ptx.find(end, from);
        return found == ptx.npos ? ptx.size() : found + end.size();
    };
    if (ptx.substr(at).starts_with("//")) return behind("\n", at);
    if (ptx.substr(at).starts_with("/*")) return behind("*/", at + 2);
    if (ptx[at] == '"') return behind("\"", at + 1);
    return at;
}

/// Where the braces that begin behind `at` end.
std::size_t behind_braces(std::string_view ptx, std::size_t at) {
    int depth = 0;
    while (at < ptx.size()) {
        if (const std::size_t behind = behind_comment_or_string(ptx, at); behind != at) {
            at = behind;
            continue;
        }
        if (ptx[at] == '{') ++depth;
        if (ptx[at++] == '}' && --depth == 0) break;
    }
    return at;
}

/// Where the linking directives (.visible, .weak) of the entry begin.
std::size_t with_linking_directive(std::string_view ptx, std::size_t entry) {
    for (const std::string_view directive : {".visible", ".weak"}) {
        std::size_t at = entry;
        while (at > 0 && std::isspace(static_cast<unsigned char>(ptx[at - 1]))) --at;
        if (ptx.substr(0, at).ends_with(directive)) return at - directive.size();
    }
    return entry;
}

}  // namespace

std::vector<PtxEntry> entries_of(std::string_view ptx) {
    constexpr std::string_view directive = ".entry";
    std::vector<PtxEntry> entries;
    for (std::size_t at = 0; at < ptx.size();) {
        if (const std::size_t behind = behind_comment_or_string(ptx, at); behind != at) {
            at = behind;
        } else if (ptx[at] == '{') {
            at = behind_braces(ptx, at);  // a function
        } else if (ptx.substr(at).starts_with(directive)) {
            std::size_t name = at + directive.size();
            while (name < ptx.size() && !is_of_name(ptx[name])) ++name;
            std::size_t end = name;
            while (end < ptx.size() && is_of_name(ptx[end])) ++end;
            const std::size_t begin = with_linking_directive(ptx, at);
            at = behind_braces(ptx, end);
            entries.push_back({std::string(ptx.substr(name, end - name)), begin, at});
        } else {
            ++at;
        }
    }
    return entries;
}

std::string without(std::string_view ptx, const std::vector<PtxEntry>& entries) {
    std::string text(ptx);
    for (const PtxEntry& entry : entries)
        std::replace_if(
            text.begin() + std::ptrdiff_t(entry.begin), text.begin() + std::ptrdiff_t(entry.end),
            [](char c) { return c != '\n'; }, ' ');
    return text;
}

namespace {

/// Where the name of a header of a CUDA Toolkit begins in its path; npos: it is another file.
/// Folders of toolkits are those with a header that all have, or with a name as NVIDIA gives it.
std::size_t name_in_toolkit(std::string_view path) {
    static std::map<std::string, bool, std::less<>> known;
    constexpr std::string_view include = "/include/";
    const std::size_t at = path.find(include);
    if (at == path.npos) return path.npos;
    const std::string_view folder = path.substr(0, at);
    auto found = known.find(folder);
    if (found == known.end()) {
        const std::string header = std::string(folder) + "/include/cuda_runtime.h";
        found = known
                    .emplace(folder, folder.ends_with("/targets/x86_64-linux") ||
                                         std::filesystem::exists(header))
                    .first;
    }
    return found->second ? at + include.size() : path.npos;
}

}  // namespace

std::string with_names_of_toolkit(std::string_view ptx) {
    constexpr std::string_view directive = ".file";
    std::string text;
    while (!ptx.empty()) {
        const std::string_view line = ptx.substr(0, ptx.find('\n'));
        const std::size_t begin = line.find_first_not_of(" \t"), name = line.find('"');
        const bool is_file =
            begin != line.npos && line.substr(begin).starts_with(directive) && name != line.npos;
        const std::size_t header = is_file ? name_in_toolkit(line.substr(name + 1)) : line.npos;
        if (header != line.npos)
            text.append(line.substr(0, name + 1))
                .append("cuda/")
                .append(line.substr(name + 1 + header));
        else
            text.append(line);
        ptx.remove_prefix(line.size());
        if (!ptx.empty()) ptx.remove_prefix(1), text += '\n';
    }
    return text;
}

unsigned target_of(std::string_view ptx) {
    constexpr std::string_view directive = ".target sm_";
    const std::size_t at = ptx.find(directive);
    unsigned target = 0;
    if (at != ptx.npos)
        std::from_chars(ptx.data() + at + directive.size(), ptx.data() + ptx.size(), target);
    return target;
}

}  // namespace warpscope::programs
