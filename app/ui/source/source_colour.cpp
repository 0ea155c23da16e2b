#include "ui/source/source_colour.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "experiments/framework/cuda_tokens.h"
#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

using Words = std::string_view;
using experiments::CudaToken, experiments::begins_word, experiments::end_of_number,
    experiments::end_of_word;

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

Ink ink_of_word(Words word) {
    // Words of CUDA: __shared__, __global__, __syncthreads(), __float2uint_rz(), atomicAdd(), ...
    if (word.starts_with("__") || word.starts_with("atomic") || among(cuda_words, word))
        return Ink::cuda;
    if (among(keywords, word)) return Ink::keyword;
    return among(types, word) ? Ink::type : Ink::plain;
}

Ink ink_of(CudaToken::Kind kind, Words words) {
    switch (kind) {
        case CudaToken::Kind::number:
            return Ink::number;
        case CudaToken::Kind::literal:
            return Ink::text;
        case CudaToken::Kind::comment:
            return Ink::comment;
        case CudaToken::Kind::directive:
            return Ink::directive;
        case CudaToken::Kind::word:
            break;
    }
    return ink_of_word(words);
}

}  // namespace

ImU32 ink_colour(Ink ink) {
    const bool light = is_light();
    switch (ink) {
        case Ink::keyword:
            return light ? IM_COL32(18, 85, 204, 255) : IM_COL32(140, 178, 245, 255);
        case Ink::type:
            return light ? IM_COL32(44, 103, 94, 255) : IM_COL32(126, 200, 188, 255);
        case Ink::cuda:
            return light ? IM_COL32(127, 85, 13, 255) : IM_COL32(240, 190, 104, 255);
        case Ink::number:
            return light ? IM_COL32(141, 77, 47, 255) : IM_COL32(216, 163, 138, 255);
        case Ink::text:
            return light ? IM_COL32(67, 102, 44, 255) : IM_COL32(163, 204, 136, 255);
        case Ink::comment:
            return light ? IM_COL32(83, 97, 87, 255) : IM_COL32(156, 170, 160, 255);
        case Ink::directive:
            return light ? IM_COL32(106, 79, 159, 255) : IM_COL32(176, 160, 208, 255);
        case Ink::plain:
            break;
    }
    return colour::text;
}

std::vector<InkSpan> ink_cuda(Words line, bool& in_comment) {
    std::vector<InkSpan> spans;
    for (const CudaToken& token : experiments::cuda_tokens(line, in_comment)) {
        const Ink ink = ink_of(token.kind, line.substr(token.begin, token.end - token.begin));
        if (ink != Ink::plain) spans.push_back({token.begin, token.end, ink});
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
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            at = end_of_number(line, at);
            spans.push_back({begin, at, Ink::number});
        } else if (begins_word(c)) {
            at = end_of_word(line, at);
            while (at < line.size() && line[at] == '.') at = end_of_word(line, at + 1);
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
