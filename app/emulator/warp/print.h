#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace warpscope::emulator {

/// Gives printf() its arguments and strings.
struct PrintSource {
    std::function<std::uint64_t(unsigned bytes)> argument;  ///< the next one, of 4 or 8 bytes
    std::function<std::string(std::uint64_t address)> string;
};
struct PrintedText {
    std::string text;
    int arguments = 0;  ///< that the format has used
};
/// Formats like printf() of C. Fields are at most 1024 wide; %n and unknown conversions are printed
/// as they are.
PrintedText print_text(std::string_view format, const PrintSource& source);

/// The text that printf() has printed in a kernel, up to a limit.
class PrintLog {
  public:
    static constexpr std::size_t most_lines = 4096, most_bytes = 1 << 20;

    void add(std::string_view text);  ///< ignores text beyond the limit
    void cut() { cut_ = true; }       ///< text has been ignored
    const std::string& text() const { return text_; }
    bool is_cut() const { return cut_; }
    bool is_full() const { return lines_ >= most_lines || text_.size() >= most_bytes; }
    std::size_t lines() const { return lines_; }
    /// An earlier state of this log, for back_to().
    struct Mark {
        std::size_t bytes = 0, lines = 0;
        bool cut = false;
    };
    Mark mark() const { return {text_.size(), lines_, cut_}; }
    void back_to(const Mark& mark);

  private:
    std::string text_;
    std::size_t lines_ = 0;
    bool cut_ = false;  ///< text is missing at the end
};

/// The text that the blocks of a launch have printed, in the order of the blocks.
class LaunchPrints {
  public:
    void add(std::uint32_t block, PrintLog log);
    void forget_after(std::uint32_t block);
    void move_into(PrintLog& log);

  private:
    std::map<std::uint32_t, PrintLog> logs_;
    std::size_t lines_ = 0, bytes_ = 0;
    bool cut_ = false;
};

}  // namespace warpscope::emulator
