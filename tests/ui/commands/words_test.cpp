#include <imgui.h>
#include <imgui_internal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "experiments/framework/experiment.h"
#include "ui/commands/overlays.h"
#include "ui/language/language.h"
#include "ui/view_fixture.h"
#include "ui/widgets/glossary.h"
#include "ui/window/screenshot.h"

namespace warpscope::ui {
namespace {

constexpr int key_escape = 256, key_page_up = 266, key_page_down = 267, key_f2 = 291, key_f12 = 301;

class Words : public ViewFixture {
  protected:
    void key(int number) {
        view_->press(number, 0);
        frames(3);
    }
};

TEST(Vocabulary, HasTheRowsOfThePage) {
    std::set<std::string> words;
    const BookPage book;
    int pages = 0;
    for (const VocabularyWord& row : vocabulary()) {
        EXPECT_TRUE(words.insert(row.word).second) << row.word;
        EXPECT_EQ(row.meaning.find('`'), std::string::npos) << row.word;
        EXPECT_TRUE(row.meaning.ends_with('.') || row.meaning.ends_with(')')) << row.word;
        EXPECT_TRUE(row.page.empty() || book.has(row.page)) << row.word << ": " << row.page;
        pages += !row.page.empty();
    }
    for (const char* word : {"kernel", "barrier", "warp", "mbarrier", "helper process"})
        EXPECT_TRUE(words.contains(word)) << word;
    EXPECT_GT(pages, 20);
    EXPECT_EQ(page_words("03-warps"), "Page 3 of the book");
    EXPECT_EQ(explaining_word("conflicts"), "bank");
    EXPECT_EQ(explaining_word("frame"), "");
}

TEST_F(Words, TheListOpensAtTheWordUnderTheMouse) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    key(key_f2);
    EXPECT_EQ(value("words:barrier"), "off");
    key(key_escape);
    EXPECT_EQ(value("words:barrier"), "(no such widget)");
    click("race");
    const Widget* const summary = view_->widgets().find("findings.summary");
    ASSERT_NE(summary, nullptr);
    point(float(summary->x + summary->w * 0.1), float(summary->y + summary->h / 2));
    frames(3);
    key(key_f2);
    EXPECT_EQ(value("words:hazard"), "on") << value("findings.summary");
    EXPECT_TRUE(view_->widgets().find("words:hazard")->visible) << "the list begins there";
    EXPECT_FALSE(view_->widgets().find("words:kernel")->visible);
}

TEST(Book, APageIsReadWithoutItsMarks) {
    using Kind = BookPart::Kind;
    const std::vector<BookPart> parts = book_parts(
        "# 2. A race\n\n![the *picture*](pictures/a.png)\n\nRead\n`t[1][2]` and [page "
        "1](01-a.md).\n\n"
        "```cuda\nint i;\n```\n\n## Try it\n\n1. Press\n   `S`.\n2. [Go](b.md) "
        "on\n\n---\n\n[Next](c.md)\n");
    const std::vector<std::pair<Kind, std::string>> wanted{{Kind::title, "2. A race"},
                                                           {Kind::picture, "pictures/a.png"},
                                                           {Kind::text, "Read t[1][2] and page 1."},
                                                           {Kind::code, "int i;"},
                                                           {Kind::heading, "Try it"},
                                                           {Kind::item, "1. Press S."},
                                                           {Kind::item, "2. Go on"}};
    ASSERT_EQ(parts.size(), wanted.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
        EXPECT_EQ(std::pair(parts[i].kind, parts[i].words), wanted[i]) << i;
}

TEST(Book, EveryParagraphHasATranslation) {
    const std::filesystem::path folder = std::filesystem::path(README).parent_path() / "docs/book";
    for (const Language language : {Language::chinese, Language::russian}) {
        set_language(language);
        std::size_t paragraphs = 0;
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            if (file.path().extension() != ".md" || file.path().stem() == "README") continue;
            std::ifstream page(file.path());
            const std::string text{std::istreambuf_iterator<char>(page), {}};
            for (const BookPart& part : book_parts(text)) {
                if (part.kind == BookPart::Kind::code || part.kind == BookPart::Kind::picture)
                    continue;
                EXPECT_NE(tr(part.words), part.words) << file.path();
                ++paragraphs;
            }
        }
        EXPECT_GT(paragraphs, 100);
    }
    set_language(Language::english);
}

TEST(Book, ADamagedPageIsReadToItsEnd) {
    const std::vector<BookPart> parts =
        book_parts("![cut](pictures/a.png\n\n```cuda\nint i;\n\n1. Press [S\n\n```");
    ASSERT_EQ(parts.size(), 4u);
    EXPECT_EQ(parts[0].words, "pictures/a.png");
    EXPECT_EQ(parts[1].words, "int i;");
    EXPECT_EQ(parts[2].words, "1. Press S");
    EXPECT_EQ(parts[3].words, "```");
}

TEST_F(Words, AWordLeadsToItsPageOfTheBook) {
    show("ripple", {{"size", "64"}});
    key(key_f2);
    click("words.page:kernel");
    EXPECT_EQ(value("book"), "01-barrier");
    click("book.next");
    EXPECT_EQ(value("book"), "02-race");
    click("book.words");
    EXPECT_EQ(value("words:kernel"), "off");
    EXPECT_EQ(value("book"), "(no such widget)");
}

TEST_F(Words, ASwitchOfTheBarrierExplainsTheBarrier) {
    show("ripple", {{"size", "64"}});
    const Widget* const sync = view_->widgets().find("ripple.sync");
    point(float(sync->x + 5), float(sync->y + 5));
    frames(60);
    EXPECT_NE(value("tooltip").find(meaning_of("barrier")), std::string::npos) << value("tooltip");
    EXPECT_NE(value("tooltip").find("Page 1 of the book"), std::string::npos) << value("tooltip");
}

TEST_F(Words, PreparedStatesAreThePngsOfAFolder) {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("warpscope-states-" + std::to_string(::getpid()));
    const fs::path screenshots = folder / "screenshots";
    fs::create_directories(screenshots);
    ::setenv("XDG_PICTURES_DIR", screenshots.c_str(), 1);
    show("ripple", {{"size", "64"}});
    key(key_page_down);
    EXPECT_EQ(value("message").find("There is no prepared state."), 0);
    for (const char* size : {"64", "96", "128"}) {
        set("size", size);
        save_screenshot(*stage_, {{64, 64}, true, {}}, folder / ("a" + std::string(size) + ".png"));
    }
    const auto wait_for_size = [&](const char* size) {
        do frames();
        while (view_->moves());
        settle();
        EXPECT_EQ(stage_->parameters().find("size").text(), size);
    };
    // In the order of names: a128, a64, a96.
    view_->open_file((folder / "a128.png").string());
    wait_for_size("128");
    key(key_page_down);
    wait_for_size("64");
    key(key_page_down);
    wait_for_size("96");
    key(key_page_down);
    EXPECT_EQ(value("message"), "This is the last picture of its folder.");
    key(key_page_up);
    wait_for_size("64");
    EXPECT_NE(value("message").find("State 2 of 3."), std::string::npos) << value("message");
    // In a presentation arrows walk, too, and the palette lists them.
    constexpr int key_right = 262, key_left = 263, key_f11 = 300;
    const std::uint64_t frame = stage_->frame();
    key(key_f11);
    key(key_left);
    wait_for_size("128");
    key(key_right);
    wait_for_size("64");
    EXPECT_EQ(stage_->frame(), frame) << "the arrow steps no frame";
    view_->press('P', 3);
    frames(3);
    for (const char* state : {"a128", "a64", "a96"})
        EXPECT_NE(view_->widgets().find("palette:state " + std::string(state)), nullptr) << state;
    fs::remove_all(folder);
}

TEST_F(Words, TheFirstPreparedStateIsTheOldestScreenshot) {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("warpscope-shots-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    ::setenv("XDG_PICTURES_DIR", folder.c_str(), 1);
    show("ripple", {{"size", "96"}});
    save_screenshot(*stage_, {{64, 64}, true, {}}, folder / "warpscope-20200101-000000.png");
    std::ofstream(folder / "holidays.png") << "no picture of Warpscope";
    set("size", "64");
    key(key_page_down);
    do frames();
    while (view_->moves());
    settle();
    EXPECT_EQ(stage_->parameters().find("size").text(), "96") << value("message");
    fs::remove_all(folder);
}

TEST_F(Words, TheKeysThatWerePressedAreShownIfWanted) {
    show("ripple", {{"size", "64"}});
    key('G');
    EXPECT_EQ(value("speaker.key"), "(no such widget)");
    view_->options().marks = true;
    key('G');
    EXPECT_EQ(value("speaker.key"), "G");
    for (const ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows)
        EXPECT_FALSE(window->Active && window->Name == std::string("Debug##Default"))
            << "drawn outside of a window";
    view_->press(key_f12, 1);
    frames(2);
    EXPECT_EQ(value("speaker.key"), "Shift+F12");
}

}  // namespace
}  // namespace warpscope::ui
