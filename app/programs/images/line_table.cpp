#include "programs/images/line_table.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace warpscope::programs {

namespace {

/// Reads values one after the other. Behind the end all of them are 0.
class Reader {
  public:
    Reader(std::span<const std::byte> bytes, std::size_t at, std::size_t end)
        : bytes_(bytes), at_(at), end_(std::min(end, bytes.size())) {}

    std::size_t at() const { return at_; }
    bool is_at_end() const { return at_ >= end_; }
    void go_to(std::size_t at) { at_ = std::max(at_, at); }

    template <class T>
    T next() {
        T value{};
        if (at_ <= end_ && sizeof value <= end_ - at_)
            std::memcpy(&value, &bytes_[at_], sizeof value);
        at_ += sizeof value;
        return value;
    }
    /// A number in 7 bits of each byte, LEB128.
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; !is_at_end(); shift += 7) {
            const auto byte = next<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t(byte & 0x7f) << shift;
            sign_bit_ = shift + 6;
            if (byte < 0x80) break;
        }
        return value;
    }
    std::int64_t signed_number() {
        const std::uint64_t value = number();
        const bool is_negative = sign_bit_ < 63 && value >> sign_bit_ & 1;
        return std::int64_t(is_negative ? value | ~std::uint64_t(0) << sign_bit_ : value);
    }
    std::string text() {
        std::string text;
        while (!is_at_end())
            if (const char c = next<char>())
                text += c;
            else
                break;
        return text;
    }

  private:
    std::span<const std::byte> bytes_;
    std::size_t at_, end_;
    unsigned sign_bit_ = 0;
};

/// One program of a table: the instructions that make its rows.
class LineProgram {
  public:
    LineProgram(Reader reader, const std::map<std::uint64_t, std::uint32_t>& sections)
        : reader_(reader), sections_(sections) {
        reader_.next<std::uint16_t>();  // the version
        const auto header_bytes = reader_.next<std::uint32_t>();
        const std::size_t begin = reader_.at() + header_bytes;
        instruction_bytes_ = reader_.next<std::uint8_t>();
        reader_.next<std::uint8_t>();  // whether instructions begin statements
        line_base_ = reader_.next<std::int8_t>();
        line_range_ = std::max<int>(reader_.next<std::uint8_t>(), 1);
        first_special_ = std::max<int>(reader_.next<std::uint8_t>(), 1);
        for (int i = 1; i < first_special_; ++i) operands_.push_back(reader_.next<std::uint8_t>());
        read_files();
        reader_.go_to(begin);
    }

    void add_rows(std::vector<LineRow>& rows) {
        while (!reader_.is_at_end()) {
            const int code = reader_.next<std::uint8_t>();
            if (code >= first_special_) {
                advance(code);
                line_ += std::uint32_t(line_base_ + (code - first_special_) % line_range_);
                add_row(rows);
            } else if (code == 0) {
                extended();
            } else if (code == copy) {
                add_row(rows);
            } else if (code == advance_address) {
                address_ += reader_.number() * instruction_bytes_;
            } else if (code == advance_line) {
                line_ += std::uint32_t(reader_.signed_number());
            } else if (code == set_file) {
                file_ = reader_.number();
            } else if (code == advance_as_255) {
                advance(255);
            } else if (code == advance_by_word) {
                address_ += reader_.next<std::uint16_t>();
            } else {
                for (int i = 0; i < operands_[std::size_t(code - 1)]; ++i) reader_.number();
            }
        }
    }

  private:
    enum Code {  // DWARF 2, 6.2.5.2 and 6.2.5.3
        copy = 1,
        advance_address = 2,
        advance_line = 3,
        set_file = 4,
        advance_as_255 = 8,
        advance_by_word = 9,
        end_of_sequence = 1,
        set_address = 2,
    };

    void read_files() {
        std::vector<std::string> folders{""};
        for (std::string name; !(name = reader_.text()).empty();) folders.push_back(name);
        files_.emplace_back();
        for (std::string name; !(name = reader_.text()).empty();) {
            const std::uint64_t folder = reader_.number();
            reader_.number();  // the time of the file
            reader_.number();  // its bytes
            const std::filesystem::path in = folder < folders.size() ? folders[folder] : "";
            files_.push_back((in / name).string());
        }
    }

    void extended() {
        const std::uint64_t bytes = reader_.number();
        const std::size_t begin = reader_.at();
        const int code = reader_.next<std::uint8_t>();
        if (code == end_of_sequence) address_ = 0, file_ = 1, line_ = 1;
        if (code == set_address) {
            const auto section = sections_.find(reader_.at());
            section_ = section == sections_.end() ? 0 : section->second;
            address_ = reader_.next<std::uint64_t>();
        }
        reader_.go_to(begin + bytes);  // NVIDIA's own codes say where functions are inlined
    }

    void advance(int code) {
        address_ += std::uint64_t((code - first_special_) / line_range_) * instruction_bytes_;
    }
    void add_row(std::vector<LineRow>& rows) const {
        rows.push_back(
            {section_, address_, file_ < files_.size() ? files_[file_] : "", int(line_)});
    }

    Reader reader_;
    const std::map<std::uint64_t, std::uint32_t>& sections_;
    std::vector<std::uint8_t> operands_;  ///< how many an instruction has
    std::vector<std::string> files_;      ///< from 1
    unsigned instruction_bytes_ = 1;
    int line_base_ = 0, line_range_ = 1, first_special_ = 1;
    std::uint32_t section_ = 0;
    std::uint64_t address_ = 0, file_ = 1;
    std::uint32_t line_ = 1;  ///< damaged tables may have it wrap
};

}  // namespace

std::vector<LineRow> read_line_table(std::span<const std::byte> table,
                                     const std::map<std::uint64_t, std::uint32_t>& sections) {
    std::vector<LineRow> rows;
    for (std::size_t at = 0; at + sizeof(std::uint32_t) < table.size();) {
        const auto bytes = Reader(table, at, table.size()).next<std::uint32_t>();
        at += sizeof bytes;
        LineProgram(Reader(table, at, at + bytes), sections).add_rows(rows);
        at += bytes;
    }
    return rows;
}

}  // namespace warpscope::programs
