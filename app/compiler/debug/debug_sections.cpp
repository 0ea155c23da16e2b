#include "compiler/debug/debug_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/debug/dwarf.h"

namespace warpscope::compiler {
namespace {

constexpr std::string_view separators = " \t\r\n,";

/// The words of a text that blanks and commas separate. "//" begins a comment.
class Words {
  public:
    explicit Words(std::string_view text) : left_(text) {}

    /// Returns the next word; empty at the end of the text.
    std::string_view next() {
        for (;;) {
            left_.remove_prefix(std::min(left_.find_first_not_of(separators), left_.size()));
            if (!left_.starts_with("//")) break;
            left_.remove_prefix(std::min(left_.find('\n'), left_.size()));
        }
        const bool brace = left_.starts_with('{') || left_.starts_with('}');
        const std::size_t bytes =
            brace ? 1 : std::min(left_.find_first_of(" \t\r\n,{}"), left_.size());
        const std::string_view word = left_.substr(0, bytes);
        left_.remove_prefix(bytes);
        return word;
    }

    std::string_view left() const { return left_; }

  private:
    std::string_view left_;
};

/// Returns the bytes of ".b8", ".b16", ".b32" or ".b64"; 0 for another word.
std::size_t width_of(std::string_view word) {
    return word == ".b8" ? 1 : word == ".b16" ? 2 : word == ".b32" ? 4 : word == ".b64" ? 8 : 0;
}

class SectionReader {
  public:
    /// Reads what follows the word ".section". Returns the text behind the section.
    std::string_view read(std::string_view text) {
        Words words(text);
        std::string& bytes = sections_[std::string(words.next())];
        if (words.next() != "{") throw DebugInfoError("a section of the PTX has no \"{\"");
        std::size_t width = 0;
        for (std::string_view word = words.next(); word != "}"; word = words.next()) {
            if (word.empty()) throw DebugInfoError("a section of the PTX has no \"}\"");
            if (const std::size_t next = width_of(word)) {
                width = next;
            } else if (word.ends_with(':')) {
                labels_[std::string(word.substr(0, word.size() - 1))] = bytes.size();
            } else {
                if (width == 0) throw DebugInfoError("a section of the PTX has no list of numbers");
                values_.push_back({&bytes, bytes.size(), width, word});
                bytes.append(width, '\0');
            }
        }
        return words.left();
    }

    /// Returns the bytes of all sections. It is called at the end of the text, because numbers may
    /// be labels that are defined later.
    std::unordered_map<std::string, std::string> sections() {
        for (const Value& value : values_) {
            std::uint64_t number = evaluate(value.text);
            for (std::size_t i = 0; i < value.width; ++i, number >>= 8)
                (*value.section)[value.at + i] = char(number & 0xFF);
        }
        return std::move(sections_);
    }

  private:
    struct Value {
        std::string* section;
        std::size_t at, width;
        std::string_view text;
    };

    /// A sum of numbers and labels: "-5", ".debug_str+12", "$L__end-$L__begin".
    std::uint64_t evaluate(std::string_view text) const {
        std::uint64_t sum = 0;
        while (!text.empty()) {
            const bool negative = text.starts_with('-');
            if (negative || text.starts_with('+')) text.remove_prefix(1);
            const std::string_view term = text.substr(0, text.find_first_of("+-"));
            text.remove_prefix(term.size());
            const std::uint64_t number = value_of(term);
            sum += negative ? 0 - number : number;
        }
        return sum;
    }

    std::uint64_t value_of(std::string_view term) const {
        if (term.empty()) throw DebugInfoError("a number is missing in a section of the PTX");
        std::uint64_t number = 0;
        const bool hexadecimal = term.starts_with("0x");
        const char* const end = term.data() + term.size();
        const char* const digits = term.data() + (hexadecimal ? 2 : 0);
        const auto read = std::from_chars(digits, end, number, hexadecimal ? 16 : 10);
        if (read.ec == std::errc() && read.ptr == end) return number;
        const auto label = labels_.find(std::string(term));
        return label == labels_.end() ? 0 : label->second;
    }

    std::unordered_map<std::string, std::string> sections_;
    std::unordered_map<std::string, std::size_t> labels_;
    std::vector<Value> values_;
};

}  // namespace

std::unordered_map<std::string, std::string> debug_sections(std::string_view ptx) {
    constexpr std::string_view directive = ".section";
    SectionReader reader;
    while (!ptx.empty()) {
        const std::size_t end = std::min(ptx.find('\n'), ptx.size());
        const std::size_t word = ptx.substr(0, end).find_first_not_of(" \t");
        const bool section =
            word != std::string_view::npos && ptx.substr(word).starts_with(directive);
        if (section)
            ptx = reader.read(ptx.substr(word + directive.size()));
        else
            ptx.remove_prefix(std::min(end + 1, ptx.size()));
    }
    return reader.sections();
}

}  // namespace warpscope::compiler
