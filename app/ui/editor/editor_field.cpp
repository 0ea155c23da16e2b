#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "ui/editor/editor_parts.h"
#include "ui/editor/typing_aid.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/tab_stops.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using Data = ImGuiInputTextCallbackData;

#if IMGUI_VERSION_NUM >= 18700
constexpr ImGuiKey keypad_enter = ImGuiKey_KeypadEnter;
bool slash_pressed() {
    return key_pressed(ImGuiKey_Slash);
}
bool k_pressed() {
    return key_pressed(ImGuiKey_K);
}
#else
constexpr ImGuiKey keypad_enter = ImGuiKey_KeyPadEnter;
bool slash_pressed() {
    return ImGui::IsKeyPressed('/');
}  // GLFW's number of the key
bool k_pressed() {
    return ImGui::IsKeyPressed('K');
}
#endif

/// What the callback of ImGui's field gets.
struct Session {
    EditorField& field;
    KernelDocument& document;
    EditorPlaces at;
};

void replace(Data& data, std::size_t begin, std::size_t end, std::string_view added) {
    if (end > begin) data.DeleteChars(int(begin), int(end - begin));
    if (!added.empty()) data.InsertChars(int(begin), added.data(), added.data() + added.size());
}

void select(Data& data, std::size_t cursor, std::size_t anchor) {
    data.CursorPos = data.SelectionEnd = int(cursor);
    data.SelectionStart = int(anchor);
}

void apply(Data& data, const Aid& aid) {
    replace(data, aid.begin, aid.end, aid.added);
    select(data, aid.cursor, aid.anchor);
}

std::string_view text_of(const Data& data) {
    return {data.Buf, std::size_t(data.BufTextLen)};
}

/// Takes the document's text, which was changed elsewhere: by an undo, a click on a mark, a file.
void take_text(Data& data, Session& s) {
    const std::string& text = s.document.text();
    replace(data, 0, std::size_t(data.BufTextLen), text);
    select(data, s.document.cursor(), s.document.cursor());
    s.field.of = s.document.shared_text();
}

std::size_t byte_under_mouse(const Session& s) {
    const KernelLines& lines = s.document.lines();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float y = (mouse.y - s.at.origin.y) / s.at.line;
    const int row = std::clamp(int(std::floor(y)), 0, lines.count() - 1);
    const double column = double(mouse.x - s.at.origin.x) / double(s.at.character);
    return lines.begin(row) + byte_at(lines.line(s.document.text(), row), column);
}

/// Two clicks select a word, three a line.
void many_clicks(Data& data, const Session& s) {
    const int clicks = ImGui::GetMouseClickedCount(ImGuiMouseButton_Left);
    if (clicks < 2 || !ImGui::IsMouseHoveringRect(s.at.low, s.at.high, false)) return;
    const std::string_view text = text_of(data);
    const std::size_t byte = std::min(byte_under_mouse(s), text.size());
    if (clicks == 2) {
        const WordRange word = word_around(text, byte);
        return select(data, word.end, word.begin);
    }
    const int row = s.document.lines().row(byte);
    const bool last = row + 1 == s.document.lines().count();
    select(data, last ? text.size() : s.document.lines().begin(row + 1),
           s.document.lines().begin(row));
}

/// Moves the cursor by a page that is in sight. ImGui's page is as high as the field: the whole
/// text.
void page_keys(Data& data, const Session& s) {
    const bool up = key_pressed(ImGuiKey_PageUp), down = key_pressed(ImGuiKey_PageDown);
    if (up == down) return;
    const KernelLines& lines = s.document.lines();
    const std::string& text = s.document.text();
    const int page = std::max(1, int((s.at.high.y - s.at.low.y) / s.at.line) - 2);
    const int row = lines.row(s.field.cursor);
    const int to = std::clamp(row + (up ? -page : page), 0, lines.count() - 1);
    const std::size_t begin = lines.begin(row);
    const int column = columns_of(std::string_view(text).substr(begin, s.field.cursor - begin));
    const std::size_t cursor = lines.begin(to) + byte_at(lines.line(text, to), column);
    select(data, cursor, ImGui::GetIO().KeyShift ? s.field.anchor : cursor);
}

/// The keys that change whole lines. ImGui's field may have moved the cursor already, but
/// `s.field` has the selection before that.
void line_keys(Data& data, const Session& s) {
    const ImGuiIO& io = ImGui::GetIO();
    using Edit = Aid (*)(std::string_view, std::size_t, std::size_t);
    Edit edit = nullptr;
    if (io.KeyAlt && !io.KeyCtrl && key_pressed(ImGuiKey_UpArrow)) edit = move_lines_up;
    if (io.KeyAlt && !io.KeyCtrl && key_pressed(ImGuiKey_DownArrow)) edit = move_lines_down;
    if (io.KeyCtrl && slash_pressed()) edit = toggle_comment;
    if (io.KeyCtrl && io.KeyShift && k_pressed()) edit = delete_lines;
    const std::size_t size = text_of(data).size();
    if (edit)
        apply(data,
              edit(text_of(data), std::min(s.field.cursor, size), std::min(s.field.anchor, size)));
}

void help_typing(Data& data, const Session& s) {
    const std::string_view text = text_of(data);
    const auto cursor = std::size_t(data.CursorPos);
    if (text.size() == s.document.text().size() || cursor == 0) return;
    const bool enter = key_pressed(ImGuiKey_Enter) || key_pressed(keypad_enter);
    if (enter && text[cursor - 1] == '\n') apply(data, indent_new_line(text, cursor));
    const bool one_more = text.size() == s.document.text().size() + 1;
    if (one_more && text[cursor - 1] == '}') apply(data, align_brace(text, cursor));
}

/// The end of the selection that is not the cursor.
std::size_t anchor_of(const Data& data) {
    const bool none = data.SelectionStart == data.SelectionEnd;
    return std::size_t(none                                    ? data.CursorPos
                       : data.SelectionStart == data.CursorPos ? data.SelectionEnd
                                                               : data.SelectionStart);
}

void follow_cursor(const Data& data, EditorField& field) {
    if (field.cursor != std::size_t(data.CursorPos)) field.moved = ImGui::GetTime();
    field.cursor = std::size_t(data.CursorPos);
    field.anchor = anchor_of(data);
}

int on_text(Data* data) {
    Session& s = *static_cast<Session*>(data->UserData);
    EditorField& field = s.field;
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        field.text.resize(std::size_t(data->BufTextLen));
        data->Buf = field.text.data();
        return 0;
    }
    if (data->EventFlag == ImGuiInputTextFlags_CallbackCompletion) {
        apply(*data, tab_key(text_of(*data), std::size_t(data->CursorPos), anchor_of(*data),
                             ImGui::GetIO().KeyShift));
    } else if (field.of != s.document.shared_text()) {
        take_text(*data, s);
    } else {
        help_typing(*data, s);
        page_keys(*data, s);
        line_keys(*data, s);
        many_clicks(*data, s);
    }
    if (field.go) select(*data, std::min(*field.go, text_of(*data).size()), *field.go);
    field.go.reset();
    follow_cursor(*data, field);
    return 0;
}

int on_read_only_text(Data* data) {
    follow_cursor(*data, static_cast<Session*>(data->UserData)->field);
    return 0;
}

/// Whether ImGui's field gives back the bytes that it is given: valid UTF-8 without bytes of value
/// 0, of characters that ImGui supports.
bool field_can_hold(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const int more = byte < 0x80 ? 0 : byte >> 5 == 6 ? 1 : byte >> 4 == 14 ? 2 : 3;
        if (byte == 0 || byte == '\r' || more == 3 || (byte >= 0x80 && byte < 0xC2)) return false;
        for (int i = 1; i <= more; ++i) {
            if (at + std::size_t(i) >= text.size()) return false;
            if ((static_cast<unsigned char>(text[at + std::size_t(i)]) & 0xC0) != 0x80)
                return false;
        }
        at += std::size_t(more) + 1;
    }
    return true;
}

auto& clipboard_reader() {
#if IMGUI_VERSION_NUM >= 19110
    return ImGui::GetPlatformIO().Platform_GetClipboardTextFn;
#else
    return ImGui::GetIO().GetClipboardTextFn;
#endif
}

/// ImGui's field leaves out the tabs of a text that is pasted. While this lives, the clipboard that
/// it reads has spaces in their place.
class ClipboardWithoutTabs {
  public:
    ClipboardWithoutTabs() {
        newest_ = this;
        clipboard_reader() = [](auto* owner) {
            const char* const text = newest_->read_(owner);
            newest_->text_ = expand_tabs(text ? text : "");
            return text ? newest_->text_.c_str() : nullptr;
        };
    }
    ~ClipboardWithoutTabs() { clipboard_reader() = read_; }
    ClipboardWithoutTabs(const ClipboardWithoutTabs&) = delete;
    ClipboardWithoutTabs& operator=(const ClipboardWithoutTabs&) = delete;

  private:
    static inline ClipboardWithoutTabs* newest_ = nullptr;

    std::remove_reference_t<decltype(clipboard_reader())> read_ = clipboard_reader();
    std::string text_;
};

/// Copies the document's text into the field, unless it has the keyboard and does so itself.
void follow_document(const EditorFrame& frame, const KernelDocument& document) {
    EditorField& field = frame.view.field;
    const bool other = field.file != frame.view.file;
    if (!other && (field.active || field.of == document.shared_text())) return;
    if (other) {
        // EditorPanel::reveal() may have asked for a row of this file.
        const std::optional<int> asked = field.reveal;
        field = {};
        field.file = frame.view.file;
        field.reveal = asked;
        field.cursor = field.anchor = field.seen = document.cursor();
        // The first barrier is scrolled into sight, because people come for it.
        const auto barriers = document.barriers();
        if (document.cursor() == 0 && !barriers.empty() && !field.reveal)
            field.reveal = barriers.front().line - 1;
    }
    field.text = document.text();
    field.of = document.shared_text();
    field.editable = field_can_hold(field.text);
}

}  // namespace

void draw_editor_field(const EditorFrame& frame, KernelDocument& document, const EditorPlaces& at,
                       ImVec2 size) {
    follow_document(frame, document);
    EditorField& field = frame.view.field;
    Session session{field, document, at};
    ImGuiInputTextFlags flags =
        ImGuiInputTextFlags_NoUndoRedo | ImGuiInputTextFlags_NoHorizontalScroll;
    const bool editable = can_edit(frame);
    flags |= editable ? ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackAlways |
                            ImGuiInputTextFlags_CallbackCompletion
                      : ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_ReadOnly;
    const ImVec4 clear(0, 0, 0, 0);
    for (const ImGuiCol colour : {ImGuiCol_Text, ImGuiCol_FrameBg, ImGuiCol_NavHighlight})
        ImGui::PushStyleColor(colour, clear);
    ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, faded(colour::accent, 0.28F));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
    if (!editable) field.go.reset();
    if (field.go && !field.active) {
        // From version 1.90.1 on, ImGui gives the keyboard focus only to an item of the window that
        // has the focus already. A click on a diagnostic gave that to the list's window.
        ImGui::SetWindowFocus();
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::PushID(field.file.c_str());
    const ClipboardWithoutTabs pasted;
    const bool changed =
        ImGui::InputTextMultiline("##text", field.text.data(), field.text.capacity() + 1, size,
                                  flags, editable ? on_text : on_read_only_text, &session);
    tab_stop("editor.text");
    ImGui::PopID();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(4);
    // On Escape, ImGui's field undoes what was typed since it got the focus. The editor's field
    // keeps the text and loses the focus.
    const bool escaped = key_pressed(ImGuiKey_Escape);
    if (escaped && field.active) {
        frame.view.find.close();
        field.help.close();
    }
    if (escaped && field.text != document.text())
        field.text = document.text();
    else if (changed && editable)
        document.typed(field.text, field.cursor);
    else if (field.active)
        document.set_cursor(field.cursor);
    if (changed) field.of = document.shared_text();
    field.active = ImGui::IsItemActive();
}

namespace {

void hover_code_of(const KernelDocument& document, const EditorPlaces& at) {
    // The field is a child window, and an active item while it has the keyboard.
    constexpr auto field =
        ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int row = int(std::floor((mouse.y - at.origin.y) / at.line));
    if (!ImGui::IsWindowHovered(field) || row < at.first || row >= at.end) return;
    const std::string_view line = document.lines().line(document.text(), row);
    const double column = std::floor(double(mouse.x - at.origin.x) / double(at.character));
    hover_code({at.low.x, float(row)}, line, byte_at(line, std::max(0., column)));
}

}  // namespace

void explain_code(const EditorFrame& frame, const KernelDocument& document,
                  const EditorPlaces& at) {
    hover_code_of(document, at);
    EditorField& field = frame.view.field;
    const std::size_t cursor = std::min(field.cursor, document.text().size());
    const int row = document.lines().row(cursor);
    const std::string_view line = document.lines().line(document.text(), row);
    const std::size_t byte = cursor - document.lines().begin(row);
    std::vector<ExplainedWord> words = explained_words(line);
    std::erase_if(words, [&](const auto& word) { return byte < word.begin || byte > word.end; });
    if (field.active && !words.empty()) point_at_word(words.front().explaining);
    const auto place = [&](std::size_t end, int below) -> ImVec2 {
        return {at.origin.x + float(columns_of(line.substr(0, end))) * at.character,
                at.y(row + below)};
    };
    field.help.draw(frame.ui, cursor, words, place(words.empty() ? byte : words.front().begin, 0),
                    place(byte, 1));
}

void keep_cursor_in_sight(const EditorFrame& frame, const KernelDocument& document,
                          const EditorPlaces& at) {
    EditorField& field = frame.view.field;
    const KernelLines& lines = document.lines();
    if (field.wheel != 0) ImGui::SetScrollY(std::max(0.F, ImGui::GetScrollY() + field.wheel));
    field.wheel = 0;
    if (field.reveal)
        ImGui::SetScrollY(std::max(
            0.F, std::round(float(*field.reveal) * at.line - 0.45F * (at.high.y - at.low.y))));
    field.reveal.reset();
    if (!field.active || field.seen == field.cursor) return;
    const int row = lines.row(field.cursor);
    const std::size_t begin = lines.begin(row);
    const float x =
        at.character *
        float(columns_of(std::string_view(document.text()).substr(begin, field.cursor - begin)));
    const float width = at.high.x - at.low.x - 4 * at.character, height = at.high.y - at.low.y;
    const float y = at.line * float(row), margin = std::clamp((height - at.line) / 3, 0.F, at.line);
    const float top = ImGui::GetScrollY(), left = ImGui::GetScrollX();
    const float first = std::max(0.F, y - margin);
    const float last = y + at.line + margin;
    const bool above = first < top;
    const bool below = last > top + height;
    if (above) ImGui::SetScrollY(first);
    if (below) ImGui::SetScrollY(last - height);
    if (x < left) ImGui::SetScrollX(std::max(0.F, x - width / 4));
    if (x > left + width) ImGui::SetScrollX(x - 0.75F * width);
    // ImGui scrolls to the top of a field that has just got the keyboard, instead.
    if (!above && !below) field.seen = field.cursor;
}

}  // namespace warpscope::ui
