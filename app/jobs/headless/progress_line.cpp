#include "jobs/headless/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "experiments/framework/frame_cost.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
namespace {

using experiments::duration_words;

/// A run that ends sooner shows no line.
constexpr std::chrono::milliseconds least_time{300};
constexpr std::chrono::milliseconds between_lines{100};

}  // namespace

ProgressLine::ProgressLine(std::uint64_t frames, double expected_s, int columns, Write write,
                           Clock clock)
    : frames_(frames),
      columns_(std::size_t(std::max(columns, 2) - 1)),
      write_(std::move(write)),
      clock_(std::move(clock)) {
    if (!write_) return;
    began_ = clock_();
    next_ = began_ + least_time;
    if (expected_s * 1000 > double(least_time.count()))
        show(fmt::format("frame 0/{} · about {} a frame · about {} in all", frames_,
                         duration_words(expected_s), duration_words(expected_s * double(frames_))));
}

ProgressLine::~ProgressLine() {
    if (shown_columns_) show("");
}

void ProgressLine::frames_done(std::uint64_t done) {
    if (!write_ || done == 0) return;
    const Time now = clock_();
    if (now < next_) return;
    next_ = now + between_lines;
    const double each = std::chrono::duration<double>(now - began_).count() / double(done);
    std::string text = fmt::format("frame {}/{} · {} a frame", done, frames_, duration_words(each));
    if (done < frames_)
        text += fmt::format(" · about {} left", duration_words(each * double(frames_ - done)));
    show(text);
}

void ProgressLine::say(std::string_view what) {
    if (write_ && (shown_columns_ || clock_() >= next_)) show(std::string(what));
}

/// Overwrites what is left of the previous line with spaces, which every terminal can do.
void ProgressLine::show(const std::string& text) {
    const std::string cut = first_columns(text, columns_);
    const std::size_t wide = columns(cut);
    std::string line = "\r" + cut;
    if (wide < shown_columns_) line.append(shown_columns_ - wide, ' ');
    if (wide < shown_columns_ && text.empty()) line += '\r';
    shown_columns_ = wide;
    write_(line);
}

ProgressLine terminal_line(std::uint64_t frames, double expected_s) {
    winsize size{};
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    if (terminal) ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    ProgressLine::Write write;
    if (terminal)
        write = [](const std::string& line) {
            std::fputs(line.c_str(), stderr);
            std::fflush(stderr);
        };
    return {frames, expected_s, size.ws_col ? size.ws_col : 80, std::move(write),
            [] { return std::chrono::steady_clock::now(); }};
}

}  // namespace warpscope::jobs
