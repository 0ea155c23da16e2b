#include "experiments/framework/cuda_tokens.h"

#include <algorithm>
#include <cctype>

namespace warpscope::experiments {
namespace {

using Words = std::string_view;
using Kind = CudaToken::Kind;

bool digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool in_word(char c) {
    return begins_word(c) || digit(c);
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
        else if (digit(c) || (c == '.' && at + 1 < line.size() && digit(line[at + 1])))
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

}  // namespace warpscope::experiments
