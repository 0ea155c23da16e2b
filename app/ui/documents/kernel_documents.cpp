#include "ui/documents/kernel_documents.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "compute/device/kernel_files.h"

namespace warpscope::ui {
namespace {

/// The most that the changes hold: enough to open a large file many times.
constexpr std::size_t most_bytes = std::size_t(64) << 20;
/// The most that a person types within one slow frame. A paste is longer, and a change of its own.
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

/// The change from the current text to another one. Where there are several ("aa" to "aaa"), the
/// one that ends at the cursor.
KernelDocument::TextChange KernelDocument::difference(std::string_view text,
                                                      std::size_t cursor) const {
    const std::string_view now = *text_;
    const std::size_t shorter = std::min(now.size(), text.size());
    cursor = std::min(cursor, text.size());
    std::size_t tail = text.size() - cursor;
    const bool stays = tail <= shorter && now.substr(now.size() - tail) == text.substr(cursor);
    if (!stays) tail = common_end(now, text, shorter - common_begin(now, text, shorter));
    TextChange change;
    change.at = common_begin(now, text, shorter - tail);
    change.removed = now.substr(change.at, now.size() - tail - change.at);
    change.added = text.substr(change.at, text.size() - tail - change.at);
    change.cursor_before = cursor_;
    change.cursor_after = cursor;
    return change;
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

/// Lets a change join the newest one, where a person would call both one change.
bool KernelDocument::join(const TextChange& change) {
    if (done_ == 0 || done_ < changes_.size()) return false;
    TextChange& last = changes_[done_ - 1];
    if (!last.typing || !change.typing) return false;
    if (change.removed.empty() && last.removed.empty()) {
        if (change.at != last.at + last.added.size() || change.added.front() == '\n') return false;
        const bool new_word = !is_space(change.added.front()) && is_space(last.added.back());
        if (new_word) return false;
        last.added += change.added;
    } else if (change.added.empty() && last.added.empty()) {
        const bool back = change.at + change.removed.size() == last.at;
        if (!back && change.at != last.at) return false;
        last.removed = back ? change.removed + last.removed : last.removed + change.removed;
        last.at = change.at;
    } else {
        return false;
    }
    last.cursor_after = change.cursor_after;
    held_ += change.removed.size() + change.added.size();
    return true;
}

void KernelDocument::carry_out(TextChange change) {
    if (change.removed.empty() && change.added.empty()) return set_cursor(change.cursor_after);
    put(change.at, change.removed.size(), change.added, change.cursor_after);
    if (join(change)) return;
    const auto bytes = [](const TextChange& s) { return s.removed.size() + s.added.size(); };
    for (; done_ < changes_.size(); changes_.pop_back()) held_ -= bytes(changes_.back());
    held_ += bytes(change);
    changes_.push_back(std::move(change));
    for (; held_ > most_bytes && changes_.size() > 1; changes_.pop_front())
        held_ -= bytes(changes_.front());
    done_ = changes_.size();
}

void KernelDocument::typed(std::string_view text, std::size_t cursor) {
    TextChange change = difference(text, cursor);
    change.typing = change.added.size() + change.removed.size() <= most_typed_bytes &&
                    (change.added.empty() || change.removed.empty());
    carry_out(std::move(change));
}

void KernelDocument::replace(std::string_view text) {
    TextChange change = difference(text, text.size());
    change.cursor_after = std::min(cursor_, text.size());
    carry_out(std::move(change));
}

void KernelDocument::follow(SharedText text) {
    if (text == text_) return;
    text_ = std::move(text);
    lines_ = KernelLines(*text_);
    // The changes are those of the text before.
    changes_.clear();
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
    TextChange change;
    change.at = lines_.begin(row);
    change.removed = before;
    change.added = ui::toggle_barriers(before, comment);
    change.cursor_before = cursor_;
    // Behind the line, the cursor keeps its place in the text.
    change.cursor_after = cursor_ <= change.at + before.size()
                              ? std::min(cursor_, change.at + change.added.size())
                              : cursor_ + change.added.size() - before.size();
    carry_out(std::move(change));
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
    TextChange& change = changes_[--done_];
    change.typing = false;
    put(change.at, change.added.size(), change.removed, change.cursor_before);
}

void KernelDocument::redo() {
    if (!can_redo()) return;
    const TextChange& change = changes_[done_++];
    put(change.at, change.removed.size(), change.added, change.cursor_after);
}

int KernelDocument::line_of_change(bool forward) const {
    if (forward ? !can_redo() : !can_undo()) return 0;
    return lines_.row(changes_[forward ? done_ : done_ - 1].at) + 1;
}

EditState KernelDocument::state() const {
    if (outcome_->text == text_ || *outcome_->text == *text_) return outcome_->state;
    return EditState::waiting;
}

void KernelDocument::set_outcome(EditOutcome outcome) {
    outcome_ = std::make_shared<const EditOutcome>(std::move(outcome));
}

std::string_view KernelDocuments::shipped(std::string_view file) {
    return compute::kernel_source(compute::kernel_path(file));
}

KernelDocument& KernelDocuments::operator[](const std::string& file) {
    return documents_.try_emplace(file, shipped(file)).first->second;
}

KernelDocument& KernelDocuments::open(const std::string& file, std::string_view text,
                                      const std::string& path) {
    const auto found = documents_.find(file);
    if (found != documents_.end() && found->second.path() == path &&
        found->second.shipped() == text)
        return found->second;
    closed_ += 1 + (found == documents_.end() ? 0 : found->second.version());
    return documents_.insert_or_assign(file, KernelDocument(text, path)).first->second;
}

const KernelDocument* KernelDocuments::find(const std::string& file) const {
    const auto found = documents_.find(file);
    return found == documents_.end() ? nullptr : &found->second;
}

std::string_view KernelDocuments::text_before_edits(const std::string& file) const {
    const KernelDocument* const document = find(file);
    return document ? std::string_view(document->shipped()) : shipped(file);
}

std::string KernelDocuments::name_of(const std::string& file) const {
    const KernelDocument* const document = find(file);
    if (!document || !document->has_own_file()) return file + ".cu";
    return std::filesystem::path(document->path()).filename().string();
}

std::uint64_t KernelDocuments::version() const {
    std::uint64_t changes = closed_;
    for (const auto& [file, document] : documents_) changes += document.version();
    return changes;
}

compute::Sources KernelDocuments::edited_sources() const {
    compute::Sources sources;
    for (const auto& [file, document] : documents_)
        if (document.edited()) sources[file] = document.text();
    return sources;
}

std::map<std::string, SharedText> KernelDocuments::texts() const {
    std::map<std::string, SharedText> texts;
    for (const auto& [file, document] : documents_) texts[file] = document.shared_text();
    return texts;
}

std::map<std::string, std::shared_ptr<const EditOutcome>> KernelDocuments::outcomes() const {
    std::map<std::string, std::shared_ptr<const EditOutcome>> outcomes;
    for (const auto& [file, document] : documents_) outcomes[file] = document.outcome();
    return outcomes;
}

std::vector<std::string> KernelDocuments::files(EditState state) const {
    std::vector<std::string> files;
    for (const auto& [file, document] : documents_)
        if (document.state() == state) files.push_back(file);
    return files;
}

}  // namespace warpscope::ui
