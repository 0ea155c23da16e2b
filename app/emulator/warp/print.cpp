#include "emulator/warp/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

// printf() of a kernel. Its format string is not passed to the host's printf(), which could not
// check it.

namespace warpscope::emulator {
namespace {

constexpr int widest = 1024;

// %[flags][width][.precision][length]conversion
struct Field {
    bool left = false, plus = false, space = false, alternate = false, zeros = false;
    int width = 0;
    int precision = -1;  // -1: none given
    int bytes = 4;       // of an integer
    char conversion = 0;
};

class Printer {
  public:
    Printer(std::string_view format, const PrintSource& source)
        : format_(format), source_(source) {}

    PrintedText print() {
        while (at_ < format_.size()) {
            const std::size_t percent = std::min(format_.find('%', at_), format_.size());
            result_.text += format_.substr(at_, percent - at_);
            at_ = percent;
            if (at_ < format_.size()) field();
        }
        return std::move(result_);
    }

  private:
    char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }
    bool accept(char c) {
        if (peek() != c || c == '\0') return false;
        ++at_;
        return true;
    }
    std::uint64_t argument(unsigned bytes) {
        ++result_.arguments;
        return source_.argument(bytes);
    }
    int number() {
        if (accept('*')) return std::clamp(int(std::uint32_t(argument(4))), -widest, widest);
        int value = 0;
        for (; peek() >= '0' && peek() <= '9'; ++at_)
            value = std::min(value * 10 + (peek() - '0'), widest);
        return value;
    }

    Field parse() {
        Field f;
        for (;;) {
            if (accept('-'))
                f.left = true;
            else if (accept('+'))
                f.plus = true;
            else if (accept(' '))
                f.space = true;
            else if (accept('#'))
                f.alternate = true;
            else if (accept('0'))
                f.zeros = true;
            else
                break;
        }
        f.width = number();
        if (f.width < 0) {
            f.left = true;
            f.width = -f.width;
        }
        if (accept('.')) f.precision = number();
        if (accept('h'))
            f.bytes = accept('h') ? 1 : 2;
        else if (accept('l') || accept('j') || accept('z') || accept('t')) {
            accept('l');
            f.bytes = 8;
        }
        if (at_ < format_.size()) f.conversion = format_[at_++];
        return f;
    }

    void field() {
        const std::size_t begin = at_++;
        const Field f = parse();
        switch (f.conversion) {
            case '%':
                result_.text += '%';
                return;
            case 'd':
            case 'i':
                return signed_integer(f);
            case 'u':
            case 'o':
            case 'x':
            case 'X':
                return integer(f, unsigned_value(f), "");
            case 'p': {
                Field pointer = f;
                pointer.conversion = 'x';
                return integer(pointer, argument(8), "0x");
            }
            case 'c':
                return pad(f, std::string(1, char(argument(4))), 0, false);
            case 's':
                return pad(f, source_.string(argument(8)).substr(0, std::size_t(f.precision)), 0,
                           false);
            default:
                if (std::string_view("fFeEgGaA").find(f.conversion) != std::string_view::npos &&
                    f.conversion)
                    return floating(f);
                result_.text += format_.substr(begin, at_ - begin);
        }
    }

    std::uint64_t unsigned_value(const Field& f) {
        const std::uint64_t value = argument(f.bytes == 8 ? 8 : 4);
        return f.bytes == 8 ? value : value & ((1ull << (8 * f.bytes)) - 1);
    }

    void signed_integer(const Field& f) {
        const unsigned unused = 64 - 8 * unsigned(f.bytes);
        const auto value = std::int64_t(unsigned_value(f) << unused) >> unused;
        const char* sign = value < 0 ? "-" : f.plus ? "+" : f.space ? " " : "";
        integer(f, value < 0 ? 0 - std::uint64_t(value) : std::uint64_t(value), sign);
    }

    void integer(const Field& f, std::uint64_t value, std::string prefix) {
        const int base = f.conversion == 'o'                          ? 8
                         : f.conversion == 'x' || f.conversion == 'X' ? 16
                                                                      : 10;
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof(digits), value, base).ptr;
        std::string text(digits, end);
        if (f.conversion == 'X')
            for (char& c : text)
                if (c >= 'a') c = char(c - 'a' + 'A');
        if (f.precision == 0 && value == 0) text.clear();
        if (int(text.size()) < f.precision)
            text.insert(0, std::size_t(f.precision) - text.size(), '0');
        if (f.alternate && base == 16 && value && prefix.empty())
            prefix = f.conversion == 'X' ? "0X" : "0x";
        if (f.alternate && base == 8 && !text.starts_with('0')) text.insert(0, 1, '0');
        pad(f, prefix + text, prefix.size(), f.zeros && f.precision < 0);
    }

    void floating(const Field& f) {
        const auto value = std::bit_cast<double>(argument(8));
        const bool negative = std::signbit(value);
        const double magnitude = std::abs(value);
        std::string spec = "{:";
        if (f.alternate) spec += '#';
        const bool hexadecimal = f.conversion == 'a' || f.conversion == 'A';
        if (f.precision >= 0)
            spec += fmt::format(".{}", f.precision);
        else if (!hexadecimal)
            spec += ".6";
        spec += f.conversion;
        spec += '}';
        std::string prefix = negative ? "-" : f.plus ? "+" : f.space ? " " : "";
        std::string text = fmt::format(fmt::runtime(spec), magnitude);
        pad(f, prefix + text, prefix.size(), f.zeros && std::isfinite(value));
    }

    // Pads to the width of the field; zeros go behind the first `prefix` characters.
    void pad(const Field& f, std::string text, std::size_t prefix, bool zeros) {
        const std::size_t missing =
            std::size_t(f.width) > text.size() ? std::size_t(f.width) - text.size() : 0;
        if (f.left)
            text.append(missing, ' ');
        else
            text.insert(zeros ? prefix : 0, missing, zeros ? '0' : ' ');
        result_.text += text;
    }

    std::string_view format_;
    const PrintSource& source_;
    std::size_t at_ = 0;
    PrintedText result_;
};

}  // namespace

PrintedText print_text(std::string_view format, const PrintSource& source) {
    return Printer(format, source).print();
}

void PrintLog::add(std::string_view text) {
    while (!text.empty()) {
        if (is_full()) {
            cut_ = true;
            return;
        }
        const std::size_t end =
            std::min({text.find('\n'), text.size() - 1, most_bytes - text_.size() - 1});
        lines_ += text[end] == '\n';
        text_ += text.substr(0, end + 1);
        text.remove_prefix(end + 1);
    }
}

void PrintLog::back_to(const Mark& mark) {
    text_.resize(mark.bytes);
    lines_ = mark.lines;
    cut_ = mark.cut;
}

// Removes the last blocks while the blocks before them fill the log.
void LaunchPrints::add(std::uint32_t block, PrintLog log) {
    if (log.text().empty()) return;
    lines_ += log.lines();
    bytes_ += log.text().size();
    logs_.insert_or_assign(block, std::move(log));
    while (logs_.size() > 1) {
        const PrintLog& last = logs_.rbegin()->second;
        const std::size_t lines = lines_ - last.lines(), bytes = bytes_ - last.text().size();
        if (lines < PrintLog::most_lines && bytes < PrintLog::most_bytes) return;
        lines_ = lines;
        bytes_ = bytes;
        cut_ = true;
        logs_.erase(std::prev(logs_.end()));
    }
}

void LaunchPrints::forget_after(std::uint32_t block) {
    logs_.erase(logs_.upper_bound(block), logs_.end());
}

void LaunchPrints::move_into(PrintLog& log) {
    bool cut = cut_;
    for (const auto& [block, part] : logs_) {
        log.add(part.text());
        cut |= part.is_cut();
    }
    if (cut && !log.is_cut()) log.cut();
    logs_.clear();
}

}  // namespace warpscope::emulator
