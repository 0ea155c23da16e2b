#include "experiments/framework/cuda_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "files/text.h"

namespace warpscope::experiments {
namespace {

using Words = std::string_view;
using Kind = CudaToken::Kind;

bool in_word(char c) {
    return begins_word(c) || files::is_digit(c);
}

std::size_t end_of_quote(Words line, std::size_t at) {
    const char quote = line[at++];
    for (; at < line.size(); ++at) {
        if (line[at] == '\\')
            ++at;
        else if (line[at] == quote)
            return at + 1;
    }
    return line.size();
}

}  // namespace

bool begins_word(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

std::size_t end_of_word(Words line, std::size_t at) {
    while (at < line.size() && in_word(line[at])) ++at;
    return at;
}

/// Digits, hexadecimal ones, exponents with their sign, suffixes, digit separators.
std::size_t end_of_number(Words line, std::size_t at) {
    const bool hexadecimal = line.substr(at).starts_with("0x") || line.substr(at).starts_with("0f");
    while (at < line.size()) {
        const char c = line[at];
        const bool exponent = !hexadecimal && (c == 'e' || c == 'E') && at + 1 < line.size() &&
                              (line[at + 1] == '+' || line[at + 1] == '-');
        if (exponent)
            at += 2;
        else if (in_word(c) || c == '.' || c == '\'')
            ++at;
        else
            break;
    }
    return at;
}

std::vector<CudaToken> cuda_tokens(Words line, bool& in_comment) {
    std::vector<CudaToken> tokens;
    const auto add = [&](std::size_t begin, std::size_t end, Kind kind) {
        if (end > begin) tokens.push_back({begin, end, kind});
        return end;
    };
    const auto comment = [&](std::size_t begin, std::size_t from) {
        const std::size_t end = line.find("*/", from);
        in_comment = end == Words::npos;
        return add(begin, in_comment ? line.size() : end + 2, Kind::comment);
    };
    std::size_t at = in_comment ? comment(0, 0) : 0;
    const std::size_t first = line.find_first_not_of(" \t");
    if (at == 0 && first != Words::npos && line[first] == '#')
        at = add(first, end_of_word(line, first + 1), Kind::directive);
    while (at < line.size()) {
        const char c = line[at];
        if (line.substr(at).starts_with("//"))
            at = add(at, line.size(), Kind::comment);
        else if (line.substr(at).starts_with("/*"))
            at = comment(at, at + 2);
        else if (c == '"' || c == '\'')
            at = add(at, end_of_quote(line, at), Kind::literal);
        else if (files::is_digit(c) ||
                 (c == '.' && at + 1 < line.size() && files::is_digit(line[at + 1])))
            at = add(at, end_of_number(line, at), Kind::number);
        else if (begins_word(c))
            at = add(at, end_of_word(line, at), Kind::word);
        else
            ++at;
    }
    return tokens;
}

std::string code_of(std::string_view source) {
    std::string code(source);
    bool in_comment = false;
    for (std::size_t begin = 0, end = 0; begin < source.size(); begin = end + 1) {
        end = std::min(source.find('\n', begin), source.size());
        const auto line = code.begin() + std::ptrdiff_t(begin);
        for (const CudaToken& token : cuda_tokens(source.substr(begin, end - begin), in_comment))
            if (token.kind == Kind::comment || token.kind == Kind::literal)
                std::fill(line + std::ptrdiff_t(token.begin), line + std::ptrdiff_t(token.end),
                          ' ');
    }
    return code;
}

namespace {

/// First character of the body and one past its last; {0, 0} if there is no body.
std::pair<std::size_t, std::size_t> body_of(const std::string& code, std::string_view function) {
    const std::string name = fmt::format(" {}(", function);
    for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
        const std::size_t begin = code.find_first_of("{;", at);
        if (begin == std::string::npos || code[begin] == ';') continue;  // a call
        int depth = 0;
        for (std::size_t i = begin; i < code.size(); ++i) {
            depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
            if (depth == 0) return {begin, i};
        }
        return {begin, code.size()};
    }
    return {0, 0};
}

}  // namespace

std::vector<int> barrier_lines(std::string_view source, std::string_view function) {
    const std::string code = code_of(source);
    const auto [begin, end] =
        function.empty() ? std::pair{std::size_t(0), code.size()} : body_of(code, function);
    std::vector<int> lines;
    for (const std::string_view barrier : {"__syncthreads", "cluster.sync", "cluster_sync();"})
        for (std::size_t at = code.find(barrier, begin); at < end; at = code.find(barrier, at + 1))
            lines.push_back(1 +
                            int(std::count(code.begin(), code.begin() + std::ptrdiff_t(at), '\n')));
    return lines;
}

files::Sentence place(std::string_view file, const std::vector<int>& lines) {
    if (lines.empty()) return fmt::format("{}.cu", file);
    if (lines.size() == 1) return fmt::format("{}.cu:{}", file, lines[0]);
    return files::sentence("{}.cu:{} and {}", file, lines[0],
                           fmt::format("{}", fmt::join(lines.begin() + 1, lines.end(), " and ")));
}

namespace {

constexpr std::string_view spaces = " \t\r\n";

/// The parenthesis behind the name of the kernel where it is declared; npos where it is not.
std::size_t parameters_at(const std::string& code, std::string_view kernel) {
    for (std::size_t at = code.find(kernel); at != std::string::npos;
         at = code.find(kernel, at + 1)) {
        const bool begins = at == 0 || end_of_word(code, at - 1) == at - 1;
        const std::size_t open = code.find_first_not_of(spaces, at + kernel.size());
        if (!begins || open == std::string::npos || code[open] != '(') continue;
        const std::size_t before = code.find_last_of(";{}", at);
        const std::size_t from = before == std::string::npos ? 0 : before;
        if (code.substr(from, at - from).find("__global__") != std::string::npos) return open;
    }
    return std::string::npos;
}

/// The last word of a declaration, before its default and its dimensions; empty where it has no
/// other word, which is then its type.
std::string name_in(std::string_view declaration) {
    declaration = declaration.substr(0, declaration.find_first_of("=["));
    std::string_view last;
    int words = 0;
    for (std::size_t at = 0; at < declaration.size();) {
        if (!begins_word(declaration[at])) {
            ++at;
            continue;
        }
        const std::size_t end = end_of_word(declaration, at);
        last = declaration.substr(at, end - at);
        at = end;
        ++words;
    }
    return words > 1 ? std::string(last) : std::string();
}

}  // namespace

std::vector<std::string> parameter_names(std::string_view source, std::string_view kernel) {
    const std::string code = code_of(source);
    const std::size_t open = kernel.empty() ? std::string::npos : parameters_at(code, kernel);
    std::vector<std::string> names;
    if (open == std::string::npos) return names;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t at = open; at < code.size(); ++at) {
        const char c = code[at];
        if (c == '(' || c == '<' || c == '[') ++depth;
        if (c == ')' || c == '>' || c == ']') --depth;
        const bool ends = depth == 0;
        if (!ends && (c != ',' || depth > 1)) continue;
        const std::string_view declaration = std::string_view(code).substr(begin, at - begin);
        if (declaration.find_first_not_of(spaces) != std::string_view::npos)
            names.push_back(name_in(declaration));
        begin = at + 1;
        if (ends) break;
    }
    return names;
}

}  // namespace warpscope::experiments
