#include "ui/source/source_colour.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

using Words = std::string_view;

constexpr auto keywords = std::to_array<Words>(
    {"alignas", "alignof",   "asm",       "auto",       "break",       "case",
     "class",   "const",     "constexpr", "const_cast", "continue",    "default",
     "delete",  "do",        "else",      "enum",       "explicit",    "extern",
     "false",   "for",       "friend",    "goto",       "if",          "inline",
     "mutable", "namespace", "new",       "noexcept",   "nullptr",     "operator",
     "private", "public",    "return",    "sizeof",     "static",      "struct",
     "switch",  "template",  "this",      "true",       "typedef",     "typename",
     "union",   "using",     "volatile",  "while",      "static_cast", "reinterpret_cast"});

constexpr auto types = std::to_array<Words>(
    {"bool",  "char",     "double", "float",   "float2",   "float3",  "float4",   "int",
     "int2",  "int4",     "long",   "short",   "signed",   "size_t",  "uchar4",   "uint2",
     "uint4", "unsigned", "void",   "int32_t", "uint32_t", "int64_t", "uint64_t", "dim3"});

constexpr auto cuda_words = std::to_array<Words>(
    {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "clock64", "clock"});

template <std::size_t N>
bool among(const std::array<Words, N>& list, Words word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

bool begins_word(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

Ink ink_of(Words word) {
    // __shared__, __global__, __syncthreads(), __float2uint_rz(), atomicAdd(), ...
    if (word.starts_with("__") || word.starts_with("atomic") || among(cuda_words, word))
        return Ink::cuda;
    if (among(keywords, word)) return Ink::keyword;
    return among(types, word) ? Ink::type : Ink::plain;
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

/// The end of the comment that is open at `at`; npos: not in this line.
std::size_t end_of_comment(Words line, std::size_t at) {
    const std::size_t end = line.find("*/", at);
    return end == Words::npos ? end : end + 2;
}

}  // namespace

ImU32 ink_colour(Ink ink) {
    switch (ink) {
        case Ink::keyword:
            return IM_COL32(140, 178, 245, 255);
        case Ink::type:
            return IM_COL32(126, 200, 188, 255);
        case Ink::cuda:
            return IM_COL32(240, 190, 104, 255);
        case Ink::number:
            return IM_COL32(216, 163, 138, 255);
        case Ink::text:
            return IM_COL32(163, 204, 136, 255);
        case Ink::comment:
            return IM_COL32(122, 138, 128, 255);
        case Ink::directive:
            return IM_COL32(176, 160, 208, 255);
        case Ink::plain:
            break;
    }
    return colour::text;
}

std::vector<InkSpan> ink_cuda(std::string_view line, bool& in_comment) {
    std::vector<InkSpan> spans;
    const auto add = [&](std::size_t begin, std::size_t end, Ink ink) {
        if (ink != Ink::plain && end > begin) spans.push_back({begin, end, ink});
        return end;
    };
    const auto comment = [&](std::size_t begin, std::size_t from) {
        const std::size_t end = end_of_comment(line, from);
        in_comment = end == Words::npos;
        return add(begin, in_comment ? line.size() : end, Ink::comment);
    };
    std::size_t at = in_comment ? comment(0, 0) : 0;
    const std::size_t first = line.find_first_not_of(" \t");
    if (at == 0 && first != Words::npos && line[first] == '#')
        at = add(first, end_of_word(line, first + 1), Ink::directive);
    while (at < line.size()) {
        const char c = line[at];
        if (line.substr(at).starts_with("//"))
            at = add(at, line.size(), Ink::comment);
        else if (line.substr(at).starts_with("/*"))
            at = comment(at, at + 2);
        else if (c == '"' || c == '\'')
            at = add(at, end_of_quote(line, at), Ink::text);
        else if (digit(c) || (c == '.' && at + 1 < line.size() && digit(line[at + 1])))
            at = add(at, end_of_number(line, at), Ink::number);
        else if (begins_word(c)) {
            const std::size_t end = end_of_word(line, at);
            at = add(at, end, ink_of(line.substr(at, end - at)));
        } else
            ++at;
    }
    return spans;
}

std::vector<InkSpan> ink_ptx(std::string_view line) {
    std::vector<InkSpan> spans;
    bool opcode = true;  // true until the first word that is neither a label nor a predicate
    for (std::size_t at = 0; at < line.size();) {
        const char c = line[at];
        const std::size_t begin = at;
        if (line.substr(at).starts_with("//")) {
            spans.push_back({at, line.size(), Ink::comment});
            break;
        }
        if (c == '.' && opcode) {
            at = end_of_word(line, at + 1);
            spans.push_back({begin, at, Ink::directive});
        } else if (c == '%') {
            at = end_of_word(line, at + 1);
            while (at < line.size() && line[at] == '.') at = end_of_word(line, at + 1);
            spans.push_back({begin, at, Ink::type});
        } else if (c == '$') {
            at = end_of_word(line, at + 1);
            spans.push_back({begin, at, Ink::directive});
            opcode = opcode && at < line.size() && line[at] == ':';
        } else if (digit(c)) {
            at = end_of_number(line, at);
            spans.push_back({begin, at, Ink::number});
        } else if (begins_word(c)) {
            while (at < line.size() && (in_word(line[at]) || line[at] == '.')) ++at;
            const bool barrier = line.substr(begin).starts_with("bar");
            if (opcode) spans.push_back({begin, at, barrier ? Ink::cuda : Ink::keyword});
            opcode = false;
        } else {
            ++at;
        }
    }
    return spans;
}

}  // namespace warpscope::ui
