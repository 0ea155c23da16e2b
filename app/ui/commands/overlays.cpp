#include "ui/commands/overlays.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "compute/libraries/installed_files.h"
#include "files/text.h"
#include "gl/png.h"
#include "gl/texture.h"
#include "ui/language/language.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// The look of a list that lies over the window, for as long as the object lives.
class OverlayStyle {
  public:
    explicit OverlayStyle(const Ui& ui) {
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(22), ui.px(18)});
        ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
        ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.px(1));
        ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::panel);
    }
    ~OverlayStyle() {
        ImGui::PopStyleColor();
        ImGui::PopStyleVar(3);
    }
    OverlayStyle(const OverlayStyle&) = delete;
    OverlayStyle& operator=(const OverlayStyle&) = delete;
};

}  // namespace

/// Draws the rows of one scope that are searched for, below a title, in a column of this width.
/// False: there is none.
bool KeyList::section(Ui& ui, const char* title, KeyScope scope, float width) const {
    std::vector<const KeyRow*> rows;
    float widest = 0;
    ImGui::PushFont(ui.fonts.mono);
    for (const KeyRow& row : key_table()) {
        const std::string keys = row.keys();
        if (row.scope != scope || keys.empty()) continue;
        widest = std::max(widest, ImGui::CalcTextSize(keys.c_str()).x);
        if (files::lower_case(keys + " " + tr(row.does)).find(files::lower_case(searched_)) !=
            std::string::npos)
            rows.push_back(&row);
    }
    ImGui::PopFont();
    if (rows.empty()) return false;
    heading(ui, title);
    for (const KeyRow* row : rows) {
        text(ui.fonts.mono, colour::accent, row->keys());
        ImGui::SameLine(widest + ui.px(18), 0);
        paragraph(ui.fonts.body, colour::text, tr(row->does), width - widest - ui.px(18));
    }
    ImGui::Dummy({0, ui.px(8)});
    return true;
}

void KeyList::draw(Ui& ui) {
    if (!shown_) return;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, ui.px(20)}, ImGuiCond_Always, {0.5F, 0});
    const OverlayStyle style(ui);
    // A list that is higher than the window scrolls.
    const ImVec2 most{screen.x - ui.px(40), screen.y - ui.px(40)};
    ImGui::SetNextWindowSizeConstraints({0, 0}, most);
    if (begins_) ImGui::SetNextWindowFocus();
    ImGui::Begin("##keys", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings);
    const float room = most.x - ui.px(44) - ImGui::GetStyle().ScrollbarSize, gap = ui.px(36);
    const bool beside = room >= ui.px(900);
    const float width = beside ? (room - gap) / 2 : room;
    if (std::exchange(begins_, false)) ImGui::SetKeyboardFocusHere();
    std::array<char, 64> typed{};
    searched_.copy(typed.data(), typed.size() - 1);
    ImGui::SetNextItemWidth(std::min(room, ui.px(360)));
    ImGui::InputTextWithHint("##search", tr("search the keys"), typed.data(), typed.size());
    searched_ = typed.data();
    record(ui, "keys.search", searched_);
    ImGui::BeginGroup();
    bool found = section(ui, tr("Keys"), KeyScope::general, width);
    ImGui::EndGroup();
    if (beside && found) ImGui::SameLine(0, gap);
    ImGui::BeginGroup();
    found |= section(ui, tr("While the microscope is open"), KeyScope::microscope, width);
    found |= section(ui, tr("In the editor"), KeyScope::editor, width);
    found |= section(ui, tr("In a presentation"), KeyScope::presentation, width);
    ImGui::EndGroup();
    if (!found) text(ui.fonts.small, colour::dim, tr("No key has these words."));
    ImGui::End();
}

namespace {

constexpr double shown_seconds = 2;

}  // namespace

void SpeakerMarks::press(std::string key) {
    key_ = std::move(key);
    at_ = ImGui::GetTime();
}

bool SpeakerMarks::moves() const {
    return ImGui::GetTime() - at_ < shown_seconds;
}

void SpeakerMarks::draw(Ui& ui) const {
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
    const bool down = ImGui::IsMouseDown(ImGuiMouseButton_Left);
    list.AddCircleFilled(mouse, ui.px(22), faded(colour::accent, down ? 0.45F : 0.25F));
    list.AddCircle(mouse, ui.px(22), faded(colour::accent, 0.8F), 0, ui.px(2));
    if (!moves()) return;
    ImGui::PushFont(ui.fonts.value);
    const ImVec2 size = ImGui::CalcTextSize(key_.c_str());
    const float gap = ui.px(14);
    const ImVec2 low{(screen.x - size.x) / 2 - gap, screen.y - size.y - ui.px(120)};
    const ImVec2 high{low.x + size.x + 2 * gap, low.y + size.y + gap};
    list.AddRectFilled(low, high, faded(colour::raised, 0.95F), ui.px(8));
    list.AddRect(low, high, colour::accent, ui.px(8), 0, ui.px(1.5F));
    list.AddText({low.x + gap, low.y + gap / 2}, colour::text, key_.c_str());
    // No window of ImGui is open here, and record_rect() would show one of its own.
    ui.widgets.add({"speaker.key", low.x, low.y, high.x - low.x, high.y - low.y, key_});
    ImGui::PopFont();
}

namespace {

namespace fs = std::filesystem;

/// The book of an installation, or that of the repository.
std::string book_folder() {
    const std::string installed = compute::shared_file("book");
    return installed.empty() ? compute::shared_file("docs/book") : installed;
}

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Without emphasis, and with the words of links alone.
std::string plain_words(std::string_view text) {
    std::string words;
    bool in_link = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // The bracket of a link stands at the beginning of a word; that of an index does not.
        const bool link = c == '[' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n');
        const bool end = in_link && text.substr(i, 2) == "](";
        if (end) i = std::min(text.find(')', i), text.size());
        in_link = link || (in_link && !end);
        const bool space = c == ' ' || c == '\n';
        if (space && words.ends_with(' ')) continue;
        if (!link && !end && c != '*' && c != '`') words += space ? ' ' : c;
    }
    return words;
}

/// Adds the items of a list. Further lines of an item are indented.
void add_items(std::vector<BookPart>& parts, std::string_view list) {
    while (!list.empty()) {
        std::size_t end = list.find('\n');
        while (end != list.npos && list.substr(end + 1, 1) == " ") end = list.find('\n', end + 1);
        parts.push_back({BookPart::Kind::item, plain_words(list.substr(0, end))});
        list.remove_prefix(std::min(end, list.size() - 1) + 1);
    }
}

}  // namespace

std::vector<BookPart> book_parts(std::string_view page) {
    using Kind = BookPart::Kind;
    std::vector<BookPart> parts;
    while (!page.empty()) {
        std::string_view part = page.substr(0, page.find("\n\n"));
        page.remove_prefix(std::min(part.size() + 2, page.size()));
        if (part == "---") break;
        if (part.starts_with("# "))
            parts.push_back({Kind::title, plain_words(part.substr(2))});
        else if (part.starts_with("## "))
            parts.push_back({Kind::heading, plain_words(part.substr(3))});
        else if (part.starts_with("!["))
            parts.push_back({Kind::picture, std::string(part.substr(part.rfind('(') + 1))});
        else if (part.starts_with("```"))
            parts.push_back({Kind::code, std::string(part.substr(part.find('\n') + 1))});
        else if (part.starts_with("1. "))
            add_items(parts, part);
        else
            parts.push_back({Kind::text, plain_words(part)});
        std::string& words = parts.back().words;
        // A damaged page may lack the end of a part.
        if (parts.back().kind == Kind::picture) words = words.substr(0, words.rfind(')'));
        if (parts.back().kind == Kind::code) words = words.substr(0, words.rfind("\n```"));
    }
    return parts;
}

BookPage::BookPage() : folder_(book_folder()) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(folder_, error))
        if (file.path().extension() == ".md" && file.path().stem() != "README")
            names_.push_back(file.path().stem().string());
    std::ranges::sort(names_);
}

BookPage::~BookPage() {
    if (texture_) glDeleteTextures(1, &texture_);
}

bool BookPage::has(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
}

void BookPage::open(const std::string& name) {
    name_ = name;
    parts_ = book_parts(bytes_of(fs::path(folder_) / (name + ".md")));
    begins_ = true;
    if (texture_) glDeleteTextures(1, &texture_);
    texture_ = 0;
    for (const BookPart& part : parts_)
        if (part.kind == BookPart::Kind::picture) try {
                const std::string png = bytes_of(fs::path(folder_) / part.words);
                const gl::Image image =
                    gl::decode_png({reinterpret_cast<const std::uint8_t*>(png.data()), png.size()});
                texture_ = gl::make_texture(width_ = image.width, height_ = image.height);
                glBindTexture(GL_TEXTURE_2D, texture_);
                glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
                glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
                glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE,
                                image.rgba.data());
                glBindTexture(GL_TEXTURE_2D, 0);
            } catch (const std::exception&) {
                // The page is whole without its picture.
            }
}

void BookPage::draw_picture(const std::string& file) {
    if (!texture_ || file.empty()) return;
    const float room = ImGui::GetContentRegionAvail().x;
    const float shown = std::min(1.F, room / float(width_));
    ImGui::Image(ImTextureID(std::intptr_t(texture_)),
                 {float(width_) * shown, float(height_) * shown});
}

void BookPage::draw_buttons(Ui& ui) {
    const auto place = std::ranges::find(names_, name_) - names_.begin();
    const auto turn = [&](const char* id, const char* label, std::ptrdiff_t to) {
        const bool there = to >= 0 && to < std::ssize(names_);
        ImGui::BeginDisabled(!there);
        if (flat_button(ui, id, label)) ui.later([this, to] { open(names_[std::size_t(to)]); });
        ui.widgets.last().enabled = there;
        ImGui::EndDisabled();
        ImGui::SameLine(0, ui.px(4));
    };
    turn("book.previous", tr("Previous page"), place - 1);
    turn("book.next", tr("Next page"), place + 1);
    if (flat_button(ui, "book.words", tr("All words"))) ui.later([this] { close(); });
}

void BookPage::draw(Ui& ui) {
    using Kind = BookPart::Kind;
    draw_buttons(ui);
    ImGui::BeginChild("page");
    if (std::exchange(begins_, false)) ImGui::SetScrollY(0);
    for (const BookPart& part : parts_) {
        switch (part.kind) {
            case Kind::title:
                heading(ui, tr(part.words));
                record(ui, "book", name_);
                break;
            case Kind::heading:
                text(ui.fonts.strong, colour::text, tr(part.words));
                break;
            case Kind::text:
            case Kind::item:
                paragraph(ui.fonts.body, colour::text, tr(part.words));
                break;
            case Kind::code:
                paragraph(ui.fonts.mono, colour::accent, part.words);
                break;
            case Kind::picture:
                draw_picture(part.words);
                break;
        }
        ImGui::Dummy({0, ui.px(4)});
    }
    ImGui::EndChild();
}

void WordList::show(std::string word) {
    shown_ = scrolls_ = true;
    word_ = std::move(word);
    page_.close();
}

void WordList::show_book() {
    shown_ = true;
    page_.open_first();
}

void WordList::draw_words(Ui& ui) {
    heading(ui, tr("Words"));
    for (const auto& [word, meaning, page] : vocabulary()) {
        const bool wanted = word == word_;
        const bool same = tr(word) == word;
        if (page_.has(page)) ImGui::AlignTextToFramePadding();
        text(ui.fonts.strong, wanted ? colour::accent : colour::text,
             same ? word : fmt::format("{} · {}", tr(word), word));
        record(ui, "words:" + word, wanted ? "on" : "off");
        if (wanted && scrolls_) ImGui::SetScrollHereY(0.2F);
        if (page_.has(page)) {
            ImGui::SameLine(0, ui.px(10));
            if (flat_button(ui, "words.page:" + word, page_words(page).c_str()))
                ui.later([this, name = page] { page_.open(name); });
        }
        paragraph(ui.fonts.body, wanted ? colour::text : colour::dim, tr(meaning));
        ImGui::Dummy({0, ui.px(4)});
    }
    scrolls_ = false;
}

void WordList::draw(Ui& ui) {
    if (!shown_) return;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize(
        {std::min(ui.px(720), screen.x - ui.px(40)), std::min(ui.px(520), screen.y - ui.px(40))});
    const OverlayStyle style(ui);
    ImGui::Begin("##words", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings);
    page_.shown() ? page_.draw(ui) : draw_words(ui);
    ImGui::End();
}

}  // namespace warpscope::ui
