#include "ui/edits/open_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "launches/files/file_kind.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"
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
    if (is_ready(listing_)) choices_ = listing_.get();
    if (listing_.valid() || listed_ == path_) return;
    // A file that was clicked stays in the list of its folder.
    const auto& all = choices_.choices;
    if (!path_.ends_with('/') && std::ranges::find(all, path_) != all.end()) return;
    listed_ = path_;
    listing_ = std::async(std::launch::async, path_choices, path_, files_);
}

/// To the folder above the one that is listed.
void PathPicker::go_up() {
    namespace fs = std::filesystem;
    const std::string path = with_home(path_);
    const fs::path folder = path.substr(0, path.rfind('/'));
    set((folder.parent_path() / "").string());
}

bool PathPicker::list(Ui& ui, ImVec2 size) {
    bool chosen = false;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, colour::background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    begin_padded_child((id_ + ".list").c_str(), size);
    follow_folder();
    if (const std::size_t end = path_.rfind('/'); end != path_.npos && end > 0) {
        ImGui::PushStyleColor(ImGuiCol_Text, colour::accent);
        if (ImGui::Selectable("..", false, ImGuiSelectableFlags_DontClosePopups)) go_up();
        ImGui::PopStyleColor();
        record(ui, id_ + ":up");
    }
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

/// The field begins with the path that was typed last, unless it was opened; then with its folder.
void OpenPanel::begin() {
    const std::vector<std::string>& recent = options_.recent_files;
    std::string path = picker_.path();
    if (path.empty() && recent.empty()) path = std::filesystem::current_path().string() + "/";
    const bool opened = !recent.empty() && (path.empty() || with_home(path) == recent.front());
    if (opened) path = recent.front().substr(0, recent.front().rfind('/') + 1);
    picker_.begin(path, PathFiles::of_window);
}

/// True where a click chose a file.
bool OpenPanel::recent(Ui& ui, float width) {
    std::vector<std::string> files = options_.recent_files;
    if (!galaxy_.empty() && std::find(files.begin(), files.end(), galaxy_) == files.end())
        files.push_back(galaxy_);
    bool chosen = false;
    if (!files.empty()) text(ui.fonts.small, colour::faint, tr("Recent"));
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string& path = files[i];
        const std::size_t name = path.rfind('/') + 1;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushID(int(i));
        if (ImGui::Selectable("##file", false, 0, {width, 0})) {
            ui.later([this, path] { opener_.open(path); });
            chosen = true;
        }
        ImGui::PopID();
        record(ui, fmt::format("open:{}", i), path);
        const ImVec2 next = ImGui::GetCursorScreenPos();
        ImGui::SetCursorScreenPos(at);
        const float begin = ImGui::GetCursorPosX();
        const std::string words = path.substr(name);
        text(ui.fonts.body, colour::text, words);
        ImGui::SameLine(begin + ImGui::CalcTextSize(words.c_str()).x + ui.px(10), 0);
        const std::string folder = path == galaxy_ ? tr("20 000 bodies") : path.substr(0, name);
        clipped_text(ui.fonts.small, colour::dim, folder,
                     std::max(ui.px(20), at.x + width - ImGui::GetCursorScreenPos().x));
        ImGui::SetCursorScreenPos(next);
    }
    return chosen;
}

/// Whether the path is that of a file; otherwise says so.
bool OpenPanel::is_file() {
    std::error_code error;
    const std::string path = with_home(picker_.path());
    if (std::filesystem::is_regular_file(path, error)) return true;
    picker_.refuse(std::filesystem::is_directory(path, error)
                       ? tr("This is a folder. Choose a file in it.")
                       : tr("There is no file with this path."));
    return false;
}

/// Puts the source into the editor. False: it can't be read, and the popup says why.
bool OpenPanel::load(const std::string& edited) {
    const std::string why = opener_.load(picker_.path(), edited);
    if (!why.empty()) picker_.refuse(why);
    return why.empty();
}

void OpenPanel::draw(Ui& ui, const std::string& edited) {
    if (asked_) {
        ImGui::OpenPopup("open");
        begin();
        asked_ = false;
    }
    if (!begin_dialog(ui, "open")) return;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float width = std::min(ui.px(560), screen.x - ui.px(40));
    heading(ui, tr("Open a file"));
    bool done = recent(ui, width);
    ImGui::Dummy({0, ui.px(4)});
    bool go = picker_.draw(ui, width, std::min(ui.px(190), screen.y / 4));
    picker_.draw_error(
        ui, width,
        tr("Bodies (tipsy or CSV), kernels (.cu), a launch file (.launch.json), a capture "
           "(.wslaunch), a lesson (.md), or a PNG that "
           "Warpscope saved, whose settings come back. Tab completes the path. You can drop a file "
           "on the window, too."));
    go |= flat_button(ui, "open.go", tr("Open"));
    const bool is_source = launches::file_kind(picker_.path()) == launches::FileKind::source;
    if (!edited.empty() && is_source) {
        ImGui::SameLine();
        const std::string words = tr("Load into {}.cu", edited);
        if (flat_button(ui, "open.load", words.c_str())) done |= is_file() && load(edited);
        tooltip(ui, tr("This source replaces the text in the editor. Undo brings that back."));
    }
    ImGui::SameLine();
    done |= flat_button(ui, "open.cancel", tr("Cancel")) || key_pressed(ImGuiKey_Escape);
    if (!done && go && is_file()) {
        ui.later([this, path = picker_.path()] { opener_.open(path); });
        done = true;
    }
    ImGui::PopStyleColor();
    end_dialog(done);
}

}  // namespace warpscope::ui
