#include "ui/documents/kernel_document.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace warpscope::ui {
namespace {

/// The most that the steps hold: enough to open a large file many times.
constexpr std::size_t most_bytes = std::size_t(64) << 20;
/// The most that a person types within one slow frame. A paste is longer, and a step of its own.
constexpr std::size_t most_typed_bytes = 16;

bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// The number of equal bytes at the beginning, up to `most`.
std::size_t common_begin(std::string_view a, std::string_view b, std::size_t most) {
    const auto end = a.begin() + std::ptrdiff_t(most);
    return std::size_t(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

std::size_t common_end(std::string_view a, std::string_view b, std::size_t most) {
    const auto end = a.rbegin() + std::ptrdiff_t(most);
    return std::size_t(std::mismatch(a.rbegin(), end, b.rbegin()).first - a.rbegin());
}

}  // namespace

KernelDocument::KernelDocument(std::string_view shipped, std::string path)
    : shipped_(std::make_shared<const std::string>(shipped)),
      text_(shipped_),
      has_own_file_(!path.empty()),
      path_(std::move(path)),
      saved_(has_own_file_ ? shipped_ : nullptr),
      lines_(*text_),
      outcome_(
          std::make_shared<const EditOutcome>(EditOutcome{EditState::shipped, text_, {}, {}})) {}

void KernelDocument::set_saved(const std::string& path) {
    if (has_own_file_ && path != path_) return;  // a copy
    path_ = path;
    saved_ = text_;
    if (has_own_file_) shipped_ = text_;
}

/// The step from the current text to another one. Where there are several ("aa" to "aaa"), the one
/// that ends at the cursor.
KernelDocument::Step KernelDocument::difference(std::string_view text, std::size_t cursor) const {
    const std::string_view now = *text_;
    const std::size_t shorter = std::min(now.size(), text.size());
    cursor = std::min(cursor, text.size());
    std::size_t tail = text.size() - cursor;
    const bool stays = tail <= shorter && now.substr(now.size() - tail) == text.substr(cursor);
    if (!stays) tail = common_end(now, text, shorter - common_begin(now, text, shorter));
    Step step;
    step.at = common_begin(now, text, shorter - tail);
    step.removed = now.substr(step.at, now.size() - tail - step.at);
    step.added = text.substr(step.at, text.size() - tail - step.at);
    step.cursor_before = cursor_;
    step.cursor_after = cursor;
    return step;
}

void KernelDocument::put(std::size_t at, std::size_t removed, std::string_view added,
                         std::size_t cursor) {
    std::string changed = *text_;
    changed.replace(at, removed, added);
    text_ = std::make_shared<const std::string>(std::move(changed));
    lines_.change(*text_, at, removed, added.size());
    set_cursor(cursor);
    ++version_;
}

/// Lets a step join the newest one, where a person would call both one step.
bool KernelDocument::join(const Step& step) {
    if (done_ == 0 || done_ < steps_.size()) return false;
    Step& last = steps_[done_ - 1];
    if (!last.typing || !step.typing) return false;
    if (step.removed.empty() && last.removed.empty()) {
        if (step.at != last.at + last.added.size() || step.added.front() == '\n') return false;
        const bool new_word = !is_space(step.added.front()) && is_space(last.added.back());
        if (new_word) return false;
        last.added += step.added;
    } else if (step.added.empty() && last.added.empty()) {
        const bool back = step.at + step.removed.size() == last.at;
        if (!back && step.at != last.at) return false;
        last.removed = back ? step.removed + last.removed : last.removed + step.removed;
        last.at = step.at;
    } else {
        return false;
    }
    last.cursor_after = step.cursor_after;
    held_ += step.removed.size() + step.added.size();
    return true;
}

void KernelDocument::carry_out(Step step) {
    if (step.removed.empty() && step.added.empty()) return set_cursor(step.cursor_after);
    put(step.at, step.removed.size(), step.added, step.cursor_after);
    if (join(step)) return;
    const auto bytes = [](const Step& s) { return s.removed.size() + s.added.size(); };
    for (; done_ < steps_.size(); steps_.pop_back()) held_ -= bytes(steps_.back());
    held_ += bytes(step);
    steps_.push_back(std::move(step));
    for (; held_ > most_bytes && steps_.size() > 1; steps_.pop_front())
        held_ -= bytes(steps_.front());
    done_ = steps_.size();
}

void KernelDocument::typed(std::string_view text, std::size_t cursor) {
    Step step = difference(text, cursor);
    step.typing = step.added.size() + step.removed.size() <= most_typed_bytes &&
                  (step.added.empty() || step.removed.empty());
    carry_out(std::move(step));
}

void KernelDocument::replace(std::string_view text) {
    Step step = difference(text, text.size());
    step.cursor_after = std::min(cursor_, text.size());
    carry_out(std::move(step));
}

void KernelDocument::follow(SharedText text) {
    if (text == text_) return;
    text_ = std::move(text);
    lines_ = KernelLines(*text_);
    // They are changes of the text before.
    steps_.clear();
    done_ = held_ = 0;
    set_cursor(cursor_);
    ++version_;
}

bool KernelDocument::toggle_barriers(int line) {
    const int row = line - 1;
    if (row < 0 || row >= lines_.count()) return false;
    const std::string_view before = lines_.line(*text_, row);
    const bool comment = lines_.in_comment(row);
    if (find_barriers(before, comment).empty()) return false;
    Step step;
    step.at = lines_.begin(row);
    step.removed = before;
    step.added = ui::toggle_barriers(before, comment);
    step.cursor_before = cursor_;
    // Behind the line, the cursor keeps its place in the text.
    step.cursor_after = cursor_ <= step.at + before.size()
                            ? std::min(cursor_, step.at + step.added.size())
                            : cursor_ + step.added.size() - before.size();
    carry_out(std::move(step));
    return true;
}

std::vector<BarrierLine> KernelDocument::barriers(int line) const {
    const int row = line - 1;
    if (row < 0 || row >= lines_.count()) return {};
    const auto calls = find_barriers(lines_.line(*text_, row), lines_.in_comment(row));
    if (calls.empty()) return {};
    const auto out = std::count_if(calls.begin(), calls.end(), [](auto& c) { return c.out; });
    if (out == 0) return {{line, BarrierState::in}};
    const bool all = std::size_t(out) == calls.size();
    return {{line, all ? BarrierState::out : BarrierState::mixed}};
}

std::string_view KernelDocument::barrier_condition(int line) const {
    const int row = line - 1;
    if (row < 0 || row >= lines_.count()) return {};
    const auto calls = find_barriers(lines_.line(*text_, row), lines_.in_comment(row));
    if (calls.empty()) return {};
    return condition_before(std::string_view(*text_).substr(0, lines_.begin(row) + calls[0].begin));
}

std::vector<BarrierLine> KernelDocument::barriers() const {
    std::vector<BarrierLine> all;
    for (int line = 1; line <= lines_.count(); ++line)
        for (const BarrierLine& one : barriers(line)) all.push_back(one);
    return all;
}

void KernelDocument::undo() {
    if (!can_undo()) return;
    Step& step = steps_[--done_];
    step.typing = false;
    put(step.at, step.added.size(), step.removed, step.cursor_before);
}

void KernelDocument::redo() {
    if (!can_redo()) return;
    const Step& step = steps_[done_++];
    put(step.at, step.removed.size(), step.added, step.cursor_after);
}

EditState KernelDocument::state() const {
    if (outcome_->text == text_ || *outcome_->text == *text_) return outcome_->state;
    return EditState::waiting;
}

void KernelDocument::set_outcome(EditOutcome outcome) {
    outcome_ = std::make_shared<const EditOutcome>(std::move(outcome));
}

}  // namespace warpscope::ui
