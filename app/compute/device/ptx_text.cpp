#include "compute/device/ptx_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "emulator/ptx/ptx_lexer.h"

namespace warpscope::compute {
namespace {

using emulator::is_of_name;

constexpr std::string_view blanks = " \t\r\n";

/// Removes the first word of `text` and returns it. A punctuation mark is a word.
std::string_view take_word(std::string_view& text) {
    const std::size_t start = text.find_first_not_of(blanks);
    text.remove_prefix(start == std::string_view::npos ? text.size() : start);
    const std::size_t end = text.find_first_of(" \t\r\n()[],");
    const std::size_t bytes = end == 0 ? 1 : std::min(end, text.size());
    const std::string_view word = text.substr(0, bytes);
    text.remove_prefix(bytes);
    return word;
}

std::optional<std::size_t> number(std::string_view word) {
    std::size_t value = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc() || result.ptr != word.data() + word.size()) return {};
    return value;
}

/// ".u64" -> 8; empty if the word is not a type.
std::optional<std::size_t> type_bytes(std::string_view word) {
    if (word.size() < 3 || word[0] != '.') return {};
    const auto bits = number(word.substr(2));
    if (!bits || *bits % 8 != 0) return {};
    return *bits / 8;
}

/// Reads a parameter, after its ".param": ".u64 .ptr .global .align 16 name", ".align 4 .b8
/// name[12]". `text` then begins after the `mark` that ends the parameter, "," or ")".
std::optional<std::size_t> parameter(std::string_view& text, std::string_view& mark) {
    std::optional<std::size_t> bytes;
    for (std::string_view word = take_word(text);; word = take_word(text)) {
        if (word.empty()) return {};
        if (word == "[") {
            const auto count = number(take_word(text));
            if (!count || !bytes || take_word(text) != "]") return {};
            bytes = *bytes * *count;
        } else if (word == "," || word == ")") {
            mark = word;
            return bytes;
        } else if (word == ".align") {
            take_word(text);
        } else if (!bytes) {
            bytes = type_bytes(word);
        }
    }
}

/// Whether `text` contains `name` as a whole identifier.
bool mentions(std::string_view text, std::string_view name) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !is_of_name(text[at - 1])) &&
            (end == text.size() || !is_of_name(text[end])))
            return true;
    }
    return false;
}

/// Returns "pi" for ".global .align 4 .f32 pi = 0f40490FDB;", "table" for "… table[4];".
std::string_view variable_name(std::string_view declaration) {
    declaration = declaration.substr(0, declaration.find_first_of("[=;"));
    while (!declaration.empty() && !is_of_name(declaration.back())) declaration.remove_suffix(1);
    std::size_t begin = declaration.size();
    while (begin > 0 && is_of_name(declaration[begin - 1])) --begin;
    return declaration.substr(begin);
}

/// Returns the line without its line comment.
std::string_view code_of(std::string_view line) {
    return line.substr(0, line.find("//"));
}

}  // namespace

std::optional<std::string> ptx_of_kernel(std::string_view ptx, std::string_view name) {
    std::string kept, bodies;
    std::vector<std::string_view> variables;
    int depth = 0;
    bool dropping = false, found = false, opened = false;
    while (!ptx.empty()) {
        const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1);
        const std::string_view line = ptx.substr(0, end + 1), code = code_of(line);
        ptx.remove_prefix(end + 1);
        if (depth == 0) {
            const auto has = [&](std::string_view word) {
                return code.find(word) != std::string_view::npos;
            };
            if ((has(".global") || has(".const")) && !dropping && !has(".param"))
                variables.push_back(variable_name(code));
            if (const std::size_t at = code.find(".entry"); at != std::string_view::npos) {
                std::string_view rest = code.substr(at + std::string_view(".entry").size());
                dropping = take_word(rest) != name;
                found |= !dropping;
                opened = false;
            }
        }
        if (!dropping) kept += line;
        if (!dropping && depth > 0) bodies += code;
        const auto braces = [&](char c) { return int(std::count(code.begin(), code.end(), c)); };
        opened |= braces('{') > 0;
        depth += braces('{') - braces('}');
        if (depth < 0) return {};
        if (depth == 0 && opened) dropping = false;
    }
    const auto used = [&](std::string_view variable) { return mentions(bodies, variable); };
    if (!found || depth != 0 || std::any_of(variables.begin(), variables.end(), used)) return {};
    return kept;
}

std::optional<std::vector<std::size_t>> ptx_parameter_bytes(std::string_view ptx,
                                                            std::string_view name) {
    constexpr std::string_view entry = ".entry";
    for (std::size_t at; (at = ptx.find(entry)) != std::string_view::npos;) {
        ptx.remove_prefix(at + entry.size());
        if (take_word(ptx) != name) continue;
        std::vector<std::size_t> all;
        std::string_view mark = take_word(ptx);
        if (mark != "(") return all;  // parentheses are optional for a kernel without parameters
        while (mark != ")") {
            const std::string_view word = take_word(ptx);
            if (word == ")" && all.empty()) return all;
            if (word != ".param") return {};
            const auto bytes = parameter(ptx, mark);
            if (!bytes) return {};
            all.push_back(*bytes);
        }
        return all;
    }
    return {};
}

namespace {

/// Ten times the PTX ISA version that came with a release of CUDA, 11.0 or newer.
int isa_of(int major, int minor) {
    constexpr int of_cuda_12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
    if (major == 11) return 70 + minor;
    if (major == 12 && minor < int(std::size(of_cuda_12))) return of_cuda_12[minor];
    return 90 + 10 * (major - 13) + minor;
}

}  // namespace

std::string ptx_for_driver(std::string_view ptx, int driver_version) {
    const std::size_t at = ptx.find(".version ");
    if (at == std::string_view::npos) return std::string(ptx);
    const std::size_t begin = at + std::string_view(".version ").size();
    const std::size_t end = ptx.find_first_of("\r\n", begin);
    const std::string_view number = ptx.substr(begin, end - begin);
    const std::size_t dot = number.find('.');
    int major = 0, minor = 0;
    if (dot == std::string_view::npos) return std::string(ptx);
    std::from_chars(number.data(), number.data() + dot, major);
    std::from_chars(number.data() + dot + 1, number.data() + number.size(), minor);
    const int known = isa_of(driver_version / 1000, driver_version % 1000 / 10);
    if (10 * major + minor <= known) return std::string(ptx);
    return fmt::format("{}{}.{}{}", ptx.substr(0, begin), known / 10, known % 10,
                       end == std::string_view::npos ? "" : ptx.substr(end));
}

}  // namespace warpscope::compute
