#include "compiler/dwarf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files/text.h"

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
        const std::string name(words.next());
        std::string& bytes = sections_[name];
        if (words.next() != "{") throw DebugInfoError("a section of the PTX has no \"{\"");
        std::size_t width = 0;
        for (std::string_view word = words.next(); word != "}"; word = words.next()) {
            if (word.empty()) throw DebugInfoError("a section of the PTX has no \"}\"");
            if (const std::size_t next = width_of(word)) {
                width = next;
            } else if (word.ends_with(':')) {
                label(word, bytes.size());
                if (name == ".debug_str") texts_.push_back(word.substr(0, word.size() - 1));
            } else {
                if (width == 0) throw DebugInfoError("a section of the PTX has no list of numbers");
                values_.push_back({&bytes, bytes.size(), width, word});
                bytes.append(width, '\0');
            }
        }
        return words.left();
    }

    /// "name:" stands for this number.
    void label(std::string_view word, std::size_t number) {
        labels_[std::string(word.substr(0, word.size() - 1))] = number;
    }

    /// The variables that numbers of the sections name; a number is an index, from 1 on.
    std::vector<std::string> variables() { return std::move(variables_); }

    /// The labels of .debug_str.
    std::map<std::string, std::size_t> texts() const {
        std::map<std::string, std::size_t> all;
        for (const std::string_view label : texts_)
            all[std::string(label)] = labels_.at(std::string(label));
        return all;
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
    std::uint64_t evaluate(std::string_view text) {
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

    std::uint64_t value_of(std::string_view term) {
        if (term.empty()) throw DebugInfoError("a number is missing in a section of the PTX");
        std::uint64_t number = 0;
        const bool hexadecimal = term.starts_with("0x");
        const char* const end = term.data() + term.size();
        const char* const digits = term.data() + (hexadecimal ? 2 : 0);
        const auto read = std::from_chars(digits, end, number, hexadecimal ? 16 : 10);
        if (read.ec == std::errc() && read.ptr == end) return number;
        if (const auto label = labels_.find(std::string(term)); label != labels_.end())
            return label->second;
        if (term.starts_with('.')) return 0;  // the beginning of a section
        variables_.emplace_back(term);
        return variables_.size();
    }

    std::unordered_map<std::string, std::string> sections_;
    std::unordered_map<std::string, std::size_t> labels_;
    std::vector<std::string> variables_;
    std::vector<std::string_view> texts_;
    std::vector<Value> values_;
};

/// Reads the sections of a PTX text. A label of a section stands for its offset in that section, a
/// label of code for its line. Throws DebugInfoError. Source: PTX ISA "Debugging Directives:
/// .section".
SectionReader read_sections(std::string_view ptx) {
    constexpr std::string_view directive = ".section";
    SectionReader reader;
    for (std::size_t number = 1; !ptx.empty(); ++number) {
        const std::size_t end = std::min(ptx.find('\n'), ptx.size());
        const std::string_view line = files::trimmed(ptx.substr(0, end));
        if (line.starts_with(directive)) {
            const std::string_view begin = ptx;
            ptx = reader.read(ptx.substr(ptx.find(directive) + directive.size()));
            number += std::ranges::count(begin.substr(0, begin.size() - ptx.size()), '\n') - 1;
            continue;
        }
        if (line.ends_with(':')) reader.label(line, number);
        ptx.remove_prefix(std::min(end + 1, ptx.size()));
    }
    return reader;
}

/// Forms of attributes. Source: DWARF 4, figure 21.
enum class Form : std::uint64_t {
    address = 0x01,
    block2 = 0x03,
    block4 = 0x04,
    data2 = 0x05,
    data4 = 0x06,
    data8 = 0x07,
    text = 0x08,
    block = 0x09,
    block1 = 0x0a,
    data1 = 0x0b,
    flag = 0x0c,
    signed_data = 0x0d,
    text_offset = 0x0e,
    unsigned_data = 0x0f,
    global_reference = 0x10,
    reference1 = 0x11,
    reference2 = 0x12,
    reference4 = 0x13,
    reference8 = 0x14,
    unsigned_reference = 0x15,
    section_offset = 0x17,
    expression = 0x18,
    flag_present = 0x19,
};

/// Names of attributes. Source: DWARF 4, figure 20; linkage names before DWARF 4 are MIPS's.
enum class Name : std::uint64_t {
    location = 0x02,
    name = 0x03,
    byte_size = 0x0b,
    bit_offset = 0x0c,
    bit_size = 0x0d,
    low_pc = 0x11,
    high_pc = 0x12,
    const_value = 0x1c,
    abstract_origin = 0x31,
    upper_bound = 0x2f,
    count = 0x37,
    member_location = 0x38,
    file = 0x3a,
    line = 0x3b,
    encoding = 0x3e,
    specification = 0x47,
    type = 0x49,
    call_file = 0x58,
    call_line = 0x59,
    linkage_name = 0x6e,
    mips_linkage_name = 0x2007,
};

constexpr unsigned oldest_version = 2, newest_version = 4;
/// More attributes than any entry has.
constexpr std::size_t most_attributes = 64;
/// Types may contain types this deep, which is more than any source has.
constexpr std::size_t deepest = 200;

/// Reads numbers, low byte first, and texts.
class Bytes {
  public:
    explicit Bytes(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {
        if (at > bytes.size()) throw DebugInfoError("an offset lies behind the end");
    }

    std::size_t at() const { return at_; }
    bool done() const { return at_ == bytes_.size(); }

    std::string_view take(std::uint64_t count) {
        if (count > bytes_.size() - at_) throw DebugInfoError("it ends too early");
        const std::string_view taken = bytes_.substr(at_, std::size_t(count));
        at_ += std::size_t(count);
        return taken;
    }
    std::uint64_t number(std::size_t width) {
        std::uint64_t value = 0;
        const std::string_view digits = take(width);
        for (std::size_t i = width; i-- > 0;)
            value = value << 8 | static_cast<unsigned char>(digits[i]);
        return value;
    }
    /// LEB128. Source: DWARF 4, section 7.6.
    std::uint64_t leb(bool is_signed = false) {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint64_t byte = number(1);
            if (shift < 64) value |= (byte & 0x7F) << shift;
            if (byte >= 0x80) continue;
            const bool is_negative = is_signed && (byte & 0x40) && shift < 57;
            return is_negative ? value | ~std::uint64_t(0) << (shift + 7) : value;
        }
    }
    std::string_view text() {
        const std::size_t end = bytes_.find('\0', at_);
        if (end == std::string_view::npos) throw DebugInfoError("a text has no end");
        const std::string_view taken = take(end - at_);
        ++at_;
        return taken;
    }

  private:
    std::string_view bytes_;
    std::size_t at_;
};

/// How entries of one kind are written.
struct Abbreviation {
    DebugTag tag{};
    bool has_children = false;
    std::vector<std::pair<Name, Form>> attributes;
};
using Abbreviations = std::unordered_map<std::uint64_t, Abbreviation>;

Abbreviations read_abbreviations(Bytes bytes) {
    Abbreviations all;
    while (const std::uint64_t code = bytes.leb()) {
        Abbreviation& one = all[code];
        one = {DebugTag(bytes.leb()), bytes.number(1) != 0, {}};
        for (;;) {
            const auto name = Name(bytes.leb());
            const auto form = Form(bytes.leb());
            if (std::uint64_t(name) == 0 && std::uint64_t(form) == 0) break;
            one.attributes.emplace_back(name, form);
            if (one.attributes.size() > most_attributes)
                throw DebugInfoError("an entry has too many attributes");
        }
    }
    return all;
}

/// The value of an attribute: a number, a text or a block of bytes.
struct Value {
    std::uint64_t number = 0;
    std::string_view text;
};

/// An offset in bytes: a number or the operation DW_OP_plus_uconst.
std::uint64_t offset_of(const Value& value) {
    constexpr std::uint64_t plus_constant = 0x23;
    if (value.text.empty()) return value.number;
    Bytes operations(value.text);
    if (operations.number(1) != plus_constant) throw DebugInfoError("an offset is an expression");
    return operations.leb();
}

}  // namespace

/// Reads the units of .debug_info one after the other.
class DebugInfoReader {
  public:
    DebugInfoReader(std::string_view ptx, DebugInfo& to)
        : DebugInfoReader(read_sections(ptx), to) {}

    void read() {
        while (!bytes_.done()) read_unit();
    }

  private:
    DebugInfoReader(SectionReader reader, DebugInfo& to)
        : sections_(reader.sections()),
          variables_(reader.variables()),
          to_(to),
          bytes_(sections_[".debug_info"]) {
        for (const auto& [label, at] : reader.texts())
            to.texts_[label] = Bytes(sections_[".debug_str"], at).text();
    }

    void read_unit() {
        unit_ = bytes_.at();
        const std::uint64_t size = bytes_.number(4);
        Bytes whole = bytes_;
        whole.take(size);  // throws if the unit is cut
        version_ = bytes_.number(2);
        if (version_ < oldest_version || version_ > newest_version)
            throw DebugInfoError(fmt::format("DWARF {} is unknown", version_));
        const std::uint64_t abbreviations = bytes_.number(4);
        address_bytes_ = bytes_.number(1);
        if (address_bytes_ > 8) throw DebugInfoError("an address has more than 8 bytes");
        abbreviations_ =
            read_abbreviations(Bytes(sections_[".debug_abbrev"], std::size_t(abbreviations)));
        parents_.clear();
        while (bytes_.at() < whole.at()) read_entry();
        if (bytes_.at() != whole.at()) throw DebugInfoError("a unit ends too early");
    }

    void read_entry() {
        const std::size_t offset = bytes_.at();
        const std::uint64_t code = bytes_.leb();
        if (code == 0) {
            if (!parents_.empty()) parents_.pop_back();
            return;
        }
        const auto found = abbreviations_.find(code);
        if (found == abbreviations_.end()) throw DebugInfoError("an abbreviation is missing");
        const std::size_t index = to_.entries_.size();
        DebugEntry& entry = to_.entries_.emplace_back();
        entry.tag = found->second.tag;
        for (const auto& [name, form] : found->second.attributes) set(entry, name, read(form));
        to_.index_of_[offset] = index;
        if (!parents_.empty()) to_.entries_[parents_.back()].children.push_back(index);
        if (found->second.has_children) parents_.push_back(index);
        if (parents_.size() > deepest) throw DebugInfoError("its entries are nested too deeply");
    }

    Value read(Form form) {
        const auto number = [](std::uint64_t value) { return Value{value, {}}; };
        switch (form) {
            case Form::address:
                return number(bytes_.number(std::size_t(address_bytes_)));
            case Form::data1:
            case Form::flag:
                return number(bytes_.number(1));
            case Form::data2:
                return number(bytes_.number(2));
            case Form::data4:
            case Form::section_offset:
                return number(bytes_.number(4));
            case Form::data8:
                return number(bytes_.number(8));
            case Form::signed_data:
                return number(bytes_.leb(true));
            case Form::unsigned_data:
                return number(bytes_.leb());
            case Form::flag_present:
                return number(1);
            case Form::text:
                return {0, bytes_.text()};
            case Form::text_offset:
                return {0, Bytes(sections_[".debug_str"], std::size_t(bytes_.number(4))).text()};
            case Form::block1:
                return {0, bytes_.take(bytes_.number(1))};
            case Form::block2:
                return {0, bytes_.take(bytes_.number(2))};
            case Form::block4:
                return {0, bytes_.take(bytes_.number(4))};
            case Form::block:
            case Form::expression:
                return {0, bytes_.take(bytes_.leb())};
            case Form::global_reference:
                // In DWARF 2 this number is as wide as an address.
                return number(bytes_.number(version_ == 2 ? std::size_t(address_bytes_) : 4));
            case Form::reference1:
                return number(unit_ + bytes_.number(1));
            case Form::reference2:
                return number(unit_ + bytes_.number(2));
            case Form::reference4:
                return number(unit_ + bytes_.number(4));
            case Form::reference8:
                return number(unit_ + bytes_.number(8));
            case Form::unsigned_reference:
                return number(unit_ + bytes_.leb());
        }
        throw DebugInfoError(fmt::format("the form {:#x} is unknown", std::uint64_t(form)));
    }

    /// nvcc has two expressions: a register, whose number is its name, first letter first; and a
    /// variable of the PTX with an offset. Nothing is known of others.
    void add_place(DebugEntry& entry, DebugPlace place, std::string_view expression) const {
        constexpr std::uint64_t address = 0x03, plus_constant = 0x23, register_name = 0x90;
        Bytes bytes(expression);
        if (bytes.done()) return;
        const std::uint64_t operation = bytes.number(1);
        if (operation == register_name) {
            for (std::uint64_t name = bytes.leb(); name; name >>= 8)
                place.name.insert(place.name.begin(), char(name & 0xFF));
        } else if (operation == address) {
            const std::uint64_t variable = bytes.number(std::size_t(address_bytes_));
            if (variable == 0 || variable > variables_.size()) return;
            place.name = variables_[variable - 1];
            if (!bytes.done() && bytes.number(1) == plus_constant) place.offset = bytes.leb();
        }
        if (bytes.done() && !place.name.empty()) entry.places.push_back(std::move(place));
    }

    /// DWARF 4, section 2.6.2: ranges with an expression each, and two zeros.
    void add_list(DebugEntry& entry, std::uint64_t offset) {
        Bytes list(sections_[".debug_loc"], std::size_t(offset));
        while (true) {
            DebugPlace place;
            place.begin = list.number(std::size_t(address_bytes_));
            place.end = list.number(std::size_t(address_bytes_));
            if (place.begin == 0 && place.end == 0) return;
            add_place(entry, std::move(place), list.take(list.number(2)));
        }
    }

    void set(DebugEntry& entry, Name name, const Value& value) {
        switch (name) {
            case Name::location:
                if (value.text.data())
                    add_place(entry, {}, value.text);
                else
                    add_list(entry, value.number);
                break;
            case Name::low_pc:
                entry.low = value.number;
                break;
            case Name::high_pc:
                entry.high = value.number;
                break;
            case Name::name:
                entry.name = value.text;
                break;
            case Name::linkage_name:
            case Name::mips_linkage_name:
                entry.linkage_name = value.text;
                break;
            case Name::byte_size:
                entry.bytes = value.number;
                break;
            case Name::bit_size:
                entry.bits = value.number;
                break;
            case Name::bit_offset:
                entry.bits_above = value.number;
                break;
            case Name::upper_bound:
                entry.count = value.number + 1;
                break;
            case Name::count:
                entry.count = value.number;
                break;
            case Name::const_value:
                entry.offset = value.number;
                if (!value.text.data()) entry.places.push_back({.offset = value.number});
                break;
            case Name::member_location:
                entry.offset = offset_of(value);
                break;
            case Name::call_file:
            case Name::file:
                entry.file = value.number;
                break;
            case Name::call_line:
            case Name::line:
                entry.line = int(value.number & 0x7FFFFFFF);
                break;
            case Name::encoding:
                entry.encoding = value.number;
                break;
            case Name::type:
                entry.type = value.number;
                break;
            case Name::abstract_origin:
            case Name::specification:
                entry.declaration = value.number;
                break;
        }
    }

    std::unordered_map<std::string, std::string> sections_;
    std::vector<std::string> variables_;
    DebugInfo& to_;
    Bytes bytes_;
    std::size_t unit_ = 0;  ///< the offset where the unit begins
    std::uint64_t version_ = 0, address_bytes_ = 0;
    Abbreviations abbreviations_;
    std::vector<std::size_t> parents_;
};

DebugInfo::DebugInfo(std::string_view ptx) {
    DebugInfoReader(ptx, *this).read();
}

const DebugEntry& DebugInfo::at(std::uint64_t offset) const {
    const auto found = index_of_.find(offset);
    if (found == index_of_.end()) throw DebugInfoError("a type is missing");
    return entries_[found->second];
}

}  // namespace warpscope::compiler
