#include "ui/commands/book_page.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compute/libraries/shared_file.h"
#include "gl/png.h"
#include "gl/texture.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
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

}  // namespace warpscope::ui
