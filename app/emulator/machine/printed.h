#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace warpscope::emulator {

// What printf() in a kernel has printed: its first lines.
class PrintLog {
  public:
    static constexpr size_t most_lines = 4096, most_bytes = 1 << 20;

    void add(std::string_view text);
    void cut() { cut_ = true; }
    const std::string& text() const { return text_; }
    bool is_cut() const { return cut_; }
    bool is_full() const { return lines_ >= most_lines || text_.size() >= most_bytes; }
    size_t lines() const { return lines_; }
    // Back to an earlier state of the same log.
    struct Mark {
        size_t bytes = 0, lines = 0;
        bool cut = false;
    };
    Mark mark() const { return {text_.size(), lines_, cut_}; }
    void back_to(const Mark& mark);

  private:
    std::string text_;
    size_t lines_ = 0;
    bool cut_ = false;  // there was more
};

// What the blocks of a launch printed, in the order of their index, whatever order they end in.
class LaunchPrints {
  public:
    void add(uint32_t block, PrintLog log);
    void forget_after(uint32_t block);
    void move_into(PrintLog& log);

  private:
    std::map<uint32_t, PrintLog> logs_;
    size_t lines_ = 0, bytes_ = 0;
    bool cut_ = false;
};

// Where printf() finds its arguments and strings.
struct PrintSource {
    std::function<uint64_t(unsigned bytes)> argument;  // the next one, of 4 or 8 bytes
    std::function<std::string(uint64_t address)> string;
};
struct PrintedText {
    std::string text;
    int arguments = 0;  // that were used
};
// As C's printf(). Fields are at most 1024 wide; %n and what is unknown stay as they are.
PrintedText print_text(std::string_view format, const PrintSource& source);

}  // namespace warpscope::emulator
