#include "emulator/warp/print_log.h"

#include <algorithm>

namespace warpscope::emulator {

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
