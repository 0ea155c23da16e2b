#include "ui/source/find_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "ui/language/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

}  // namespace

std::vector<TextMatch> find_words(const TextRows& text, std::string_view words, std::size_t most) {
    std::vector<TextMatch> found;
    if (words.empty()) return found;
    const auto equal = [](char in_text, char wanted) {
        return in_text == wanted || lower(in_text) == wanted;
    };
    for (int row = 0; row < text.count; ++row) {
        const std::string_view line = text.row(row);
        auto from = line.begin();
        while (found.size() < most) {
            const auto at = std::search(from, line.end(), words.begin(), words.end(), equal);
            if (at == line.end()) break;
            const auto begin = std::size_t(at - line.begin());
            found.push_back({row, begin, begin + words.size()});
            from = at + std::ptrdiff_t(words.size());
        }
    }
    return found;
}

void FindBar::ask(Command command, std::string words, int row) {
    if (command == Command::go_to_line) {
        wish_ = Wish::line;
        line_.clear();
        focus_ = true;
        return;
    }
    const bool opens = wish_ != Wish::find;
    wish_ = Wish::find;
    if (opens || command == Command::find_text) {
        from_ = row;
        searched_.clear();
    }
    if (!words.empty()) words_ = std::move(words);
    if (opens || command == Command::find_text) focus_ = true;
    if (command == Command::find_next && !opens) ++moves_;
    if (command == Command::find_previous && !opens) --moves_;
}

void FindBar::search(const TextRows& text, std::uint64_t version) {
    version_ = version;
    searched_ = words_;
    matches_ = find_words(text, words_);
    const auto next = std::find_if(matches_.begin(), matches_.end(),
                                   [&](const TextMatch& one) { return one.row >= from_; });
    current_ = next == matches_.end() ? 0 : std::size_t(next - matches_.begin());
}

const TextMatch* FindBar::current() const {
    return wish_ == Wish::find && current_ < matches_.size() ? &matches_[current_] : nullptr;
}

std::vector<TextMatch> FindBar::matches(int row) const {
    if (wish_ != Wish::find) return {};
    const auto before = [](const TextMatch& one, int wanted) { return one.row < wanted; };
    const auto begin = std::lower_bound(matches_.begin(), matches_.end(), row, before);
    const auto end = std::lower_bound(begin, matches_.end(), row + 1, before);
    return {begin, end};
}

/// Goes to the next match, or to the previous one. After the last match comes the first one.
std::optional<FindBar::Goal> FindBar::move(int by) {
    if (matches_.empty()) return {};
    const auto count = std::ptrdiff_t(matches_.size());
    current_ = std::size_t(((std::ptrdiff_t(current_) + by) % count + count) % count);
    from_ = matches_[current_].row;
    return Goal{0, matches_[current_]};
}

/// Draws the field. True on Enter, after which the field keeps the keyboard. Esc closes the bar.
bool FindBar::field(Ui& ui, const std::string& id, const char* hint, float width,
                    std::string& typed) {
    std::array<char, 256> buffer{};
    typed.copy(buffer.data(), buffer.size() - 1);
    ImGui::SetNextItemWidth(width);
    grabbing_ = std::max(0, grabbing_ - 1);
    if (std::exchange(focus_, false)) {
        grabbing_ = 4;
        ImGui::SetWindowFocus();
        ImGui::SetKeyboardFocusHere();
    }
    const bool entered =
        ImGui::InputTextWithHint(("##" + id).c_str(), hint, buffer.data(), buffer.size(),
                                 ImGuiInputTextFlags_EnterReturnsTrue);
    typed = buffer.data();
    record(ui, id, typed);
    if (entered) focus_ = true;
    const bool escaped = key_pressed(ImGuiKey_Escape);
    if (ImGui::IsItemDeactivated() && escaped) close();
    return entered;
}

std::optional<FindBar::Goal> FindBar::draw_find(Ui& ui, const std::string& id,
                                                const TextRows& text) {
    const float count_width = ImGui::CalcTextSize(tr("{} of {}", 10000, 10000).c_str()).x;
    const float room = ImGui::GetContentRegionAvail().x - count_width -
                       3 * (icon_button_width(ui) + ui.px(6)) - ui.px(12);
    const bool entered = field(ui, id, "find", std::clamp(room, ui.px(60), ui.px(280)), words_);
    std::optional<Goal> goal;
    if (searched_ != words_) {
        search(text, version_);
        goal = move(0);
    } else if (entered) {
        moves_ += ImGui::GetIO().KeyShift ? -1 : 1;
    }
    ImGui::SameLine(0, ui.px(6));
    if (icon_button(ui, (id + ".previous").c_str(), Icon::unfold,
                    with_key(tr("Previous match"), Command::find_previous), {}, !matches_.empty()))
        --moves_;
    if (icon_button(ui, (id + ".next").c_str(), Icon::fold,
                    with_key(tr("Next match"), Command::find_next), {}, !matches_.empty()))
        ++moves_;
    if (moves_ != 0) goal = move(std::exchange(moves_, 0));
    ImGui::AlignTextToFramePadding();
    const std::string count = words_.empty()     ? ""
                              : matches_.empty() ? tr("no match")
                                                 : tr("{} of {}", current_ + 1, matches_.size());
    ui::text(ui.fonts.small, matches_.empty() ? colour::warning : colour::dim, count);
    record(ui, id + ".count", count);
    ImGui::SameLine(0, ui.px(6));
    return goal;
}

std::optional<FindBar::Goal> FindBar::draw_line(Ui& ui, const std::string& id,
                                                const TextRows& text) {
    ImGui::AlignTextToFramePadding();
    ui::text(ui.fonts.small, colour::dim, tr("Go to line"));
    ImGui::SameLine(0, ui.px(8));
    const std::string range = tr("1 to {}", text.count);
    const bool entered = field(ui, id + ".line", range.c_str(), ui.px(120), line_);
    ImGui::SameLine(0, ui.px(6));
    int line = 0;
    const char* const end = line_.data() + line_.size();
    const bool number = std::from_chars(line_.data(), end, line).ptr == end && line > 0;
    if (!entered || !number) return {};
    close();
    return Goal{line, {}};
}

std::optional<FindBar::Goal> FindBar::draw(Ui& ui, const std::string& id, const TextRows& text,
                                           std::uint64_t version) {
    if (!is_open()) return {};
    if (version != version_) {
        const std::size_t before = current_;
        search(text, version);
        if (before < matches_.size()) current_ = before;
    }
    ImGui::PushFont(ui.fonts.small);
    const auto goal = wish_ == Wish::find ? draw_find(ui, id, text) : draw_line(ui, id, text);
    if (icon_button(ui, (id + ".close").c_str(), Icon::close, tr("Close (Esc)."))) close();
    ImGui::NewLine();
    ImGui::PopFont();
    return goal;
}

}  // namespace warpscope::ui
