#include "ui/widgets/glossary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "compiler/take_line.h"
#include "ui/language/language.h"

namespace warpscope::ui {

/// The files that are built in for the interface: "vocabulary.md".
std::string_view page(std::string_view name);

namespace {

/// The rows of the vocabulary that the interface explains: words that a C programmer does not know.
/// "thread" is the last one: in some languages its word is a part of those for a warp and a block.
constexpr std::array<std::string_view, 13> explained{
    "barrier", "warp",  "lane", "hazard", "race",          "epoch", "sector",
    "bank",    "block", "tile", "kernel", "shared memory", "thread"};

/// Other words of the interface, and the word of the vocabulary that explains each.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> aliases{
    {{"__syncthreads", "barrier"},
     {"shared", "shared memory"},
     {"__shared__", "shared memory"},
     {"conflict", "bank"},
     {"raw", "hazard"},
     {"war", "hazard"},
     {"waw", "hazard"}}};

/// Without the marks of Markdown.
std::string plain(std::string_view text) {
    std::string words(text);
    std::erase_if(words, [](char c) { return c == '*' || c == '`'; });
    return words;
}

std::string first_sentence(const std::string& text) {
    for (const std::string_view stop : {". ", "。"})
        if (const std::size_t end = text.find(stop); end != std::string::npos)
            return text.substr(0, end + (stop == ". " ? 1 : stop.size()));
    return text;
}

std::vector<VocabularyWord> read_vocabulary() {
    std::vector<VocabularyWord> words;
    std::string_view rest = page("vocabulary.md");
    constexpr std::string_view begin = "| **", between = "** | ", link_begin = " ([page ";
    while (!rest.empty()) {
        const std::string_view line = compiler::take_line(rest);
        const std::size_t end = line.find(between);
        if (!line.starts_with(begin) || end == std::string_view::npos) continue;
        std::string_view meaning = line.substr(end + between.size());
        meaning = meaning.substr(0, meaning.find(" |"));
        const std::size_t link = std::min(meaning.find(link_begin), meaning.size());
        std::string_view page = meaning.substr(link);
        page = page.substr(0, page.find(".md"));
        page.remove_prefix(std::min(page.find('/') + 1, page.size()));
        words.push_back({std::string(line.substr(begin.size(), end - begin.size())),
                         plain(meaning.substr(0, link)), std::string(page)});
    }
    return words;
}

/// The sentence that tooltips say.
std::string short_meaning(const VocabularyWord& row) {
    const std::string whole = tr(row.meaning);
    // The bank's second sentence says what a bank conflict is.
    std::string meaning = row.word == "bank" ? whole : first_sentence(whole);
    if (language() == Language::english)
        meaning[0] = char(std::tolower(static_cast<unsigned char>(meaning[0])));
    return tr(row.word) + ": " + meaning;
}

/// The explained word that the mouse was over, and the newest frame in which it was.
struct {
    int frame = -1;
    HoveredMeaning meaning;
} hovered_word;

/// The explaining word of the newest meaning that was taken.
struct {
    int frame = -2;
    std::string word;
} newest;

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The explained word whose translation is at a byte of the line, or at any byte; empty: none is.
/// A translation is found in its other forms too, where these begin alike.
std::string_view translated_at(std::string_view line, std::optional<std::size_t> byte) {
    if (language() == Language::english) return {};
    for (const std::string_view word : explained) {
        std::string said = tr(word);
        if (said.ends_with("а")) said.resize(said.size() - std::string_view("а").size());
        for (std::size_t at = line.find(said); at != line.npos; at = line.find(said, at + 1))
            if (!byte || (at <= *byte && *byte < at + said.size())) return word;
    }
    return {};
}

}  // namespace

const std::vector<VocabularyWord>& vocabulary() {
    static const auto words = read_vocabulary();
    return words;
}

std::string page_words(std::string_view page) {
    return tr("Page {} of the book", std::atoi(std::string(page.substr(0, 2)).c_str()));
}

std::string explaining_word(std::string_view word) {
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    const auto is_explained = [&] {
        return std::ranges::find(explained, lower) != explained.end();
    };
    if (lower.ends_with('s') && !lower.starts_with('_') && !is_explained()) lower.pop_back();
    for (const auto& [alias, of] : aliases)
        if (lower == alias) lower = of;
    return is_explained() ? lower : "";
}

std::string meaning_of(std::string_view word) {
    const std::string explaining = explaining_word(word);
    const auto row = std::ranges::find(vocabulary(), explaining, &VocabularyWord::word);
    return explaining.empty() || row == vocabulary().end() ? "" : short_meaning(*row);
}

std::string_view word_at(std::string_view line, std::size_t byte) {
    if (byte >= line.size() || !is_of_word(line[byte])) return {};
    std::size_t begin = byte, end = byte;
    while (begin > 0 && is_of_word(line[begin - 1])) --begin;
    while (end < line.size() && is_of_word(line[end])) ++end;
    return line.substr(begin, end - begin);
}

void hover_word(ImVec2 corner, std::string_view word) {
    std::string words = meaning_of(word);
    if (words.empty()) return;
    const std::string explaining = explaining_word(word);
    const auto row = std::ranges::find(vocabulary(), explaining, &VocabularyWord::word);
    if (!row->page.empty()) words += "\n" + tr("{} explains it (F2).", page_words(row->page));
    hovered_word = {ImGui::GetFrameCount(), {corner, std::move(words), explaining}};
}

void hover_text(std::string_view words) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
    const ImVec2 low = ImGui::GetItemRectMin(), mouse = ImGui::GetIO().MousePos;
    const float height = ImGui::GetTextLineHeight();
    float top = low.y;
    for (; mouse.y >= top + height; top += height) {
        const std::size_t end = words.find('\n');
        if (end == std::string_view::npos) return;
        words.remove_prefix(end + 1);
    }
    words = words.substr(0, words.find('\n'));
    const char *const begin = words.data(), *under = begin;
    ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), mouse.x - low.x, 0, begin,
                                    begin + words.size(), &under);
    const auto byte = std::size_t(under - begin);
    if (const auto known = translated_at(words, byte); !known.empty())
        return hover_word({low.x, top}, known);
    const std::string_view word = word_at(words, byte);
    if (word.empty()) return;
    const float left = ImGui::CalcTextSize(begin, word.data()).x;
    hover_word({low.x + left, top}, word);
}

void hover_label(std::string_view label) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
    for (std::size_t i = 0; i < label.size(); ++i) {
        const std::string_view word = word_at(label, i);
        if (word.empty()) continue;
        if (!meaning_of(word).empty()) return hover_word(ImGui::GetItemRectMin(), word);
        i += word.size();
    }
    if (const auto known = translated_at(label, {}); !known.empty())
        hover_word(ImGui::GetItemRectMin(), known);
}

HoveredMeaning take_hovered_meaning() {
    if (std::exchange(hovered_word.frame, -1) != ImGui::GetFrameCount()) return {};
    newest = {ImGui::GetFrameCount(), hovered_word.meaning.explaining};
    return std::exchange(hovered_word.meaning, {});
}

std::string newest_word() {
    const int frame = ImGui::GetFrameCount();
    return newest.frame + 1 == frame || newest.frame == frame ? newest.word : "";
}

}  // namespace warpscope::ui
