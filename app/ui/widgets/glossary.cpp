#include "ui/widgets/glossary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "files/text.h"
#include "ui/language/language.h"
#include "ui/widgets/tab_stops.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

/// The files that are built in for the interface: "vocabulary.md".
std::string_view page(std::string_view name);

namespace {

/// The rows of the vocabulary that the interface explains: words that a C programmer does not know.
/// "thread" is the last one: in some languages its word is a part of those for a warp and a block.
constexpr std::array<std::string_view, 16> explained{
    "barrier", "warp", "lane",   "hazard",   "race",          "epoch", "sector", "bank",
    "block",   "tile", "kernel", "detector", "shared memory", "fence", "host",   "thread"};

/// Other words, and the word of the vocabulary that explains each.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> aliases{
    {{"byte", "word"},
     {"shared", "shared memory"},
     {"conflict", "bank"},
     {"raw", "hazard"},
     {"war", "hazard"},
     {"waw", "hazard"},
     {"threadidx", "thread"},
     {"blockidx", "block"},
     {"blockdim", "block"},
     {"griddim", "grid"}}};

/// How names of CUDA C++ and instructions of PTX begin.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> beginnings{
    {{"__syncthreads", "barrier"},
     {"__shared__", "shared memory"},
     {"__global__", "kernel"},
     {"__shfl_", "warp shuffle"},
     {"__threadfence", "fence"},
     {"atomic", "atomic operation"},
     {"bar.sync", "barrier"},
     {"bar.red", "barrier"},
     {"bar.arrive", "barrier"},
     {"barrier.", "barrier"},
     {"shfl.sync", "warp shuffle"},
     {"membar.", "fence"},
     {"fence.", "fence"},
     {"atom.", "atomic operation"},
     {"red.global", "atomic operation"},
     {"red.shared", "atomic operation"},
     {"cp.async", "asynchronous copy"}}};

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
        const std::string_view line = files::take_line(rest);
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

/// The word at the beginning of a text: letters, digits and underscores.
std::string_view first_word(std::string_view text) {
    const auto* const end = std::ranges::find_if_not(text, is_of_word);
    return text.substr(0, std::size_t(end - text.begin()));
}

bool has(const ExplainedWord& word, std::size_t byte) {
    return word.begin <= byte && byte < word.end;
}

/// Adds the translations. They are found in their other forms too, where these begin alike.
void find_translations(std::string_view line, std::vector<ExplainedWord>& found) {
    for (const std::string_view word : explained) {
        std::string said = tr(word);
        if (said.ends_with("а")) said.resize(said.size() - std::string_view("а").size());
        for (std::size_t at = line.find(said); at != line.npos; at = line.find(said, at + 1))
            if (std::ranges::none_of(found, [&](const auto& one) { return has(one, at); }))
                found.push_back({at, at + said.size(), std::string(word)});
    }
}

/// hover_word() for a word of a line whose text begins at `low`, if the mouse or the focus is on
/// it.
void hover_in_line(std::string_view line, ImVec2 low, bool hovered) {
    const float mouse = ImGui::GetIO().MousePos.x;
    const auto x_of = [&](std::size_t byte) {
        return low.x + ImGui::CalcTextSize(line.data(), line.data() + byte).x;
    };
    for (const ExplainedWord& one : explained_words(line)) {
        const float left = x_of(one.begin), right = x_of(one.end);
        const ImVec2 high{right, low.y + ImGui::GetTextLineHeight()};
        const bool focused = word_stop({left, low.y}, high, one.explaining);
        if (focused || (hovered && mouse >= left && mouse < right))
            hover_word({left, low.y}, one.explaining);
    }
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
    for (const auto& [beginning, of] : beginnings) {
        // "A fence." ends a sentence; "fence.proxy" is an instruction.
        const std::string_view rest = word.substr(std::min(beginning.size(), word.size()));
        if (word.starts_with(beginning) && (!beginning.ends_with('.') || !first_word(rest).empty()))
            return std::string(of);
    }
    std::string lower = files::lower_case(first_word(word));
    const auto is_explained = [&] {
        return std::ranges::find(explained, lower) != explained.end();
    };
    if (lower.ends_with('s') && !is_explained()) lower.pop_back();
    for (const auto& [alias, of] : aliases)
        if (lower == alias) return std::string(of);
    return is_explained() ? lower : "";
}

std::vector<ExplainedWord> explained_words(std::string_view line) {
    std::vector<ExplainedWord> found;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const std::size_t length = first_word(line.substr(i)).size();
        if (length == 0) continue;
        if (std::string of = explaining_word(line.substr(i)); !of.empty())
            found.push_back({i, i + length, std::move(of)});
        i += length;
    }
    if (language() != Language::english) find_translations(line, found);
    std::ranges::sort(found, {}, &ExplainedWord::begin);
    return found;
}

std::string meaning_of(std::string_view word) {
    const std::string explaining = explaining_word(word);
    const auto row = std::ranges::find(vocabulary(), explaining, &VocabularyWord::word);
    return explaining.empty() || row == vocabulary().end() ? "" : short_meaning(*row);
}

std::string explanation_of(std::string_view explaining) {
    const auto row = std::ranges::find(vocabulary(), explaining, &VocabularyWord::word);
    if (row == vocabulary().end()) return {};
    const std::string page =
        row->page.empty() ? "" : "\n" + tr("{} explains it (F2).", page_words(row->page));
    return short_meaning(*row) + page;
}

void hover_word(ImVec2 corner, std::string_view explaining) {
    hovered_word = {ImGui::GetFrameCount(),
                    {corner, explanation_of(explaining), std::string(explaining)}};
}

void hover_code(ImVec2 corner, std::string_view line, std::size_t byte) {
    for (const ExplainedWord& one : explained_words(line))
        if (has(one, byte)) hover_word(corner, one.explaining);
}

void hover_text(std::string_view words) {
    const bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
    if (!hovered && !keyboard_is_used()) return;
    ImVec2 low = ImGui::GetItemRectMin();
    const float height = ImGui::GetTextLineHeight(), mouse = ImGui::GetIO().MousePos.y;
    while (!words.empty()) {
        const std::string_view line = files::take_line(words);
        hover_in_line(line, low, hovered && mouse >= low.y && mouse < low.y + height);
        low.y += height;
    }
}

void hover_label(std::string_view label) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
    const auto words = explained_words(label);
    if (!words.empty()) hover_word(ImGui::GetItemRectMin(), words.front().explaining);
}

HoveredMeaning take_hovered_meaning() {
    if (std::exchange(hovered_word.frame, -1) != ImGui::GetFrameCount()) return {};
    point_at_word(hovered_word.meaning.explaining);
    return std::exchange(hovered_word.meaning, {});
}

void point_at_word(std::string_view explaining) {
    newest = {ImGui::GetFrameCount(), std::string(explaining)};
}

std::string newest_word() {
    const int frame = ImGui::GetFrameCount();
    return newest.frame + 1 == frame || newest.frame == frame ? newest.word : "";
}

bool CodeHelp::close() {
    return std::exchange(place_, std::nullopt).has_value();
}

void CodeHelp::draw(Ui& ui, std::uint64_t here, const std::vector<ExplainedWord>& words, ImVec2 low,
                    ImVec2 high) {
    const bool asked = std::exchange(asked_, false), was_here = place_ == here;
    const bool stays = was_here && !asked && !ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                       !key_pressed(ImGuiKey_Tab);
    place_.reset();
    if (!stays && (!asked || was_here)) return;
    place_ = here;
    std::string said;
    std::set<std::string> explained;
    for (const ExplainedWord& word : words)
        if (explained.insert(word.explaining).second)
            said += (said.empty() ? "" : "\n\n") + explanation_of(word.explaining);
    if (said.empty()) said = tr("No word here is explained. F2 shows the words that are.");
    if (!words.empty()) point_at_word(words.front().explaining);
    tooltip_beside(ui, low, high, said);
}

}  // namespace warpscope::ui
