#include "ui/edits/path_picker.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <chrono>
#include <utility>

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

struct Callback {
    PathFiles files;
    bool& moves_cursor;
};

int on_field(ImGuiInputTextCallbackData* data) {
    Callback& callback = *static_cast<Callback*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackCompletion) {
        const std::string common =
            path_choices({data->Buf, std::size_t(data->BufTextLen)}, callback.files).common;
        data->DeleteChars(0, data->BufTextLen);
        data->InsertChars(0, common.c_str());
        return 0;
    }
    if (std::exchange(callback.moves_cursor, false))
        data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
    // A whole path that is typed behind the folder takes its place.
    const std::string_view text(data->Buf, std::size_t(data->BufTextLen));
    const std::size_t root = text.rfind("//"), home = text.rfind("/~/");
    const std::size_t begin = root != text.npos ? root : home;
    if (begin != text.npos) data->DeleteChars(0, int(begin) + 1);
    return 0;
}

}  // namespace

void PathPicker::begin(std::string path, PathFiles files) {
    set(std::move(path));
    files_ = files;
    choices_ = {};
    listed_.reset();
}

void PathPicker::set(std::string path) {
    path_ = std::move(path);
    error_.clear();
    takes_focus_ = moves_cursor_ = true;
}

void PathPicker::refuse(const std::string& why) {
    error_ = why;
    if (!error_.empty()) error_[0] = char(std::toupper(static_cast<unsigned char>(error_[0])));
    takes_focus_ = moves_cursor_ = true;
}

bool PathPicker::field(Ui& ui, float width) {
    std::array<char, 4096> buffer{};
    path_.copy(buffer.data(), buffer.size() - 1);
    ImGui::SetNextItemWidth(width);
    if (std::exchange(takes_focus_, false)) ImGui::SetKeyboardFocusHere();
    Callback callback{files_, moves_cursor_};
    const bool entered = ImGui::InputTextWithHint(
        ("##" + id_).c_str(), tr("path of a file"), buffer.data(), buffer.size(),
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion |
            ImGuiInputTextFlags_CallbackAlways,
        on_field, &callback);
    // Esc gives the field its text of before, and closes the popup.
    if (path_ != buffer.data() && !key_pressed(ImGuiKey_Escape)) {
        path_ = buffer.data();
        error_.clear();
    }
    record(ui, id_, path_);
    return entered;
}

/// Has the folder of the path read, and takes what was read.
void PathPicker::follow_folder() {
    if (listing_.valid() && listing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        choices_ = listing_.get();
    if (listing_.valid() || listed_ == path_) return;
    listed_ = path_;
    listing_ = std::async(std::launch::async, path_choices, path_, files_);
}

bool PathPicker::list(Ui& ui, ImVec2 size) {
    bool chosen = false;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, colour::background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    begin_padded_child((id_ + ".list").c_str(), size);
    follow_folder();
    // A click changes the path, so the choices are those of the next frame.
    const PathChoices& all = choices_;
    for (std::size_t i = 0; i < all.choices.size(); ++i) {
        const std::string& one = all.choices[i];
        const bool folder = one.ends_with('/');
        const std::size_t name = one.rfind('/', one.size() - 2) + 1;
        ImGui::PushStyleColor(ImGuiCol_Text, folder ? colour::accent : colour::text);
        ImGui::PushID(int(i));
        if (ImGui::Selectable(
                one.c_str() + name, one == path_,
                ImGuiSelectableFlags_AllowDoubleClick | ImGuiSelectableFlags_DontClosePopups)) {
            set(one);
            chosen |= !folder && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
        }
        ImGui::PopID();
        ImGui::PopStyleColor();
        record(ui, fmt::format("{}:{}", id_, i), one);
    }
    if (all.choices.empty() && !listing_.valid())
        text(ui.fonts.small, colour::faint,
             files_ == PathFiles::sources
                 ? tr("No folder and no .cu file begins with this path.")
                 : tr("No folder and no file that Warpscope opens begins with this path."));
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    return chosen;
}

bool PathPicker::draw(Ui& ui, float width, float height) {
    const bool entered = field(ui, width);
    return list(ui, {width, height}) || entered;
}

void PathPicker::draw_error(Ui& ui, float width, std::string_view otherwise) const {
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    text(ui.fonts.small, error_.empty() ? colour::dim : colour::bad,
         error_.empty() ? otherwise : std::string_view(error_));
    ImGui::PopTextWrapPos();
    if (!error_.empty()) record(ui, id_ + ".error", error_);
}

}  // namespace warpscope::ui
