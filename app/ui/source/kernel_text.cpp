#include "ui/source/kernel_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>

#include "experiments/framework/cuda_source.h"
#include "files/text.h"
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

namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) lines.push_back(files::take_line(text));
    return lines;
}

/// Returns the line with spaces in place of tabs, because the columns of a listing are characters.
std::string expanded(std::string_view line) {
    std::string text;
    for (const char c : line) {
        if (c == '\t')
            text.append(4 - text.size() % 4, ' ');
        else if (c != '\r')
            text += c;
    }
    return text;
}

/// Returns a PTX statement with its operands aligned in a column.
std::string aligned(std::string_view line) {
    constexpr std::size_t indent = 2, operands = 21;
    const std::size_t first = line.find_first_not_of(" \t");
    std::string text(first == 0 ? 0 : indent, ' ');
    for (const char c : line.substr(first)) {
        if (c == '\t')
            text.append(text.size() < operands ? operands - text.size() : 1, ' ');
        else if (c != '\r')
            text += c;
    }
    return text;
}

/// Returns the index into Module::files() of the file that most instructions come from, among the
/// files whose text is known; -1: none.
int main_file(const emulator::Kernel& kernel, const SourceOf& source) {
    const std::vector<std::string>& files = kernel.module->files();
    std::map<int, int> uses;
    for (const emulator::InstructionInfo& info : kernel.lines)
        if (info.source.file >= 0 && std::size_t(info.source.file) < files.size())
            ++uses[info.source.file];
    int best = -1;
    for (const auto& [file, count] : uses) {
        const bool known = !source(files[std::size_t(file)]).empty();
        if (known && (best < 0 || count > uses[best])) best = file;
    }
    return best;
}

void mark(KernelText& text, std::uint32_t pc, const emulator::InstructionInfo& info,
          std::optional<std::uint32_t> row) {
    text.row_of_pc[pc] = row;
    if (!row || info.pseudo) return;
    text.lines[*row].code = true;
    text.lines[*row].barrier |= info.barrier;
}

std::string_view first_word(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

}  // namespace

std::optional<std::uint32_t> KernelText::row_of_line(int number) const {
    const auto found = std::lower_bound(lines.begin(), lines.end(), number,
                                        [](const Line& l, int n) { return l.number < n; });
    if (found == lines.end() || found->number != number) return {};
    return std::uint32_t(found - lines.begin());
}

KernelText source_text(const emulator::Kernel& kernel, const SourceOf& source) {
    KernelText text;
    const int file = kernel.module ? main_file(kernel, source) : -1;
    if (file < 0) return text;
    text.file = kernel.module->files()[std::size_t(file)];
    bool in_comment = false;
    for (const std::string_view line : split_lines(source(text.file))) {
        std::string words = expanded(line);
        auto inks = ink_cuda(words, in_comment);
        text.lines.push_back({int(text.lines.size()) + 1, std::move(words), std::move(inks)});
    }
    text.row_of_pc.resize(kernel.lines.size());
    std::optional<std::uint32_t> row;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const emulator::SourceLine& place = kernel.lines[pc].source;
        if (place.file == file)
            if (const auto here = text.row_of_line(place.line)) row = here;
        mark(text, pc, kernel.lines[pc], row);
    }
    return text;
}

KernelText ptx_text(const emulator::Kernel& kernel) {
    KernelText text;
    if (!kernel.module || kernel.lines.empty()) return text;
    text.file = "PTX";
    const auto all = split_lines(kernel.module->text());
    const auto by_line = [](const auto& a, const auto& b) {
        return a.source.ptx_line < b.source.ptx_line;
    };
    const auto [low, high] = std::minmax_element(kernel.lines.begin(), kernel.lines.end(), by_line);
    auto first = std::min(std::size_t(std::max(low->source.ptx_line, 1)) - 1, all.size());
    auto last = std::min(std::size_t(std::max(high->source.ptx_line, 1)), all.size());
    while (first > 0 && all[first].find(".entry") == std::string_view::npos) --first;
    while (last < all.size() && all[last - 1] != "}") ++last;
    for (std::size_t i = first; i < last; ++i) {
        const std::string_view word = first_word(all[i]);
        if (word.empty() || word == ".loc") continue;
        std::string words = aligned(all[i]);
        auto inks = ink_ptx(words);
        text.lines.push_back({int(i) + 1, std::move(words), std::move(inks)});
    }
    text.row_of_pc.resize(kernel.lines.size());
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc)
        mark(text, pc, kernel.lines[pc], text.row_of_line(kernel.lines[pc].source.ptx_line));
    return text;
}

}  // namespace warpscope::ui
