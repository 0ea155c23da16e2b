#include "ui/widgets/glossary.h"

#include <gtest/gtest.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

TEST(Glossary, ExplainsTheWordsOfTheVocabulary) {
    EXPECT_EQ(meaning_of("warp"),
              "warp: 32 threads of a block with consecutive indices, which execute instructions "
              "together.");
    for (const char* word : {"barrier", "lane", "hazard", "race", "epoch", "sector", "bank",
                             "kernel", "block", "thread", "tile", "shared memory"})
        EXPECT_TRUE(meaning_of(word).starts_with(std::string(word) + ": ")) << word;
    EXPECT_NE(meaning_of("bank").find("bank conflict"), std::string::npos);
    EXPECT_EQ(meaning_of("frame"), "");
    EXPECT_EQ(meaning_of(""), "");
}

TEST(Glossary, FindsPluralsCapitalsAndTheWordsOfCuda) {
    EXPECT_EQ(meaning_of("Warps"), meaning_of("warp"));
    EXPECT_EQ(meaning_of("__syncthreads"), meaning_of("barrier"));
    EXPECT_EQ(meaning_of("conflicts"), meaning_of("bank"));
    EXPECT_EQ(meaning_of("RAW"), meaning_of("hazard"));
    EXPECT_EQ(meaning_of("shared"), meaning_of("shared memory"));
    EXPECT_EQ(meaning_of("s"), "");
}

TEST(Glossary, SpeaksTheLanguageOfTheWindow) {
    set_language(Language::chinese);
    EXPECT_EQ(meaning_of("warp"), "线程束: 线程块中索引连续的 32 个线程，它们一起执行指令。");
    set_language(Language::russian);
    EXPECT_EQ(meaning_of("lane"), "полоса: Место потока в его варпе, от 0 до 31.");
    set_language(Language::english);
}

TEST(Glossary, ExplainsNamesOfCudaAndInstructionsOfPtx) {
    const auto explained = [](std::string_view line) {
        std::vector<std::pair<std::string_view, std::string>> words;
        for (const ExplainedWord& word : explained_words(line))
            words.emplace_back(line.substr(word.begin, word.end - word.begin), word.explaining);
        return words;
    };
    using Words = std::vector<std::pair<std::string_view, std::string>>;
    EXPECT_EQ(explained("__shared__ int s[256];"), (Words{{"__shared__", "shared memory"}}));
    EXPECT_EQ(explained("atomicAdd(&n[blockIdx.x], __shfl_down_sync(~0u, v, threadIdx.x));"),
              (Words{{"atomicAdd", "atomic operation"},
                     {"blockIdx", "block"},
                     {"__shfl_down_sync", "warp shuffle"},
                     {"threadIdx", "thread"}}));
    EXPECT_EQ(
        explained("bar.sync 0; red.shared.add.u32 [%r1], 1;"),
        (Words{{"bar", "barrier"}, {"red", "atomic operation"}, {"shared", "shared memory"}}));
    EXPECT_EQ(explained("float bar.x, red.y; // the atom. A bar."), Words{});
    EXPECT_EQ(explained("fence.proxy.async; a fence."),
              (Words{{"fence", "fence"}, {"fence", "fence"}}));
    for (const char* word : {"barrier", "fence", "atomic operation", "warp shuffle", "grid"})
        EXPECT_TRUE(explanation_of(word).starts_with(std::string(word) + ": ")) << word;
}

class GlossaryTest : public ViewFixture {
  protected:
    /// Rests the mouse at a share of the widget's width for a second.
    void rest_on(const std::string& id, float share = 0.5F) {
        const Widget* widget = view_->widgets().find(id);
        ASSERT_NE(widget, nullptr) << id;
        point(float(widget->x + widget->w * share), float(widget->y + widget->h / 2));
        frames(60);
    }
};

TEST_F(GlossaryTest, AWordOfASentenceIsExplainedWhereTheMouseRests) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    click("race");
    rest_on("findings.summary", 0.03F);
    EXPECT_EQ(value("tooltip"), "(no such widget)") << value("findings.summary");
    rest_on("findings.summary", 0.1F);
    EXPECT_EQ(value("tooltip"), meaning_of("hazards") + "\nPage 2 of the book explains it (F2).");
}

TEST_F(GlossaryTest, TheBarrierIsExplainedInTheMicroscopesSource) {
    show("ripple", {{"size", "64"}});
    view_->microscope().open(stage_->launch());
    settle();
    const Widget* source = view_->widgets().find("source");
    ASSERT_NE(source, nullptr);
    bool found = false;
    for (float y = 10; y < float(source->h) && !found; y += 9)
        for (float x = 130; x < 300 && !found; x += 40) {
            point(float(source->x) + x, float(source->y) + y);
            frames(40);
            found = value("tooltip").starts_with(meaning_of("__syncthreads"));
        }
    EXPECT_TRUE(found);
}

TEST_F(GlossaryTest, TheBarrierIsExplainedInTheEditorAlsoWhileItHasTheKeyboard) {
    show("ripple", {{"size", "64"}});
    click("editor.open");
    frames(3);
    const auto is_explained = [&] {
        const Widget text = *view_->widgets().find("editor.text");
        for (float y = float(text.h) * 0.3F; y < float(text.h); y += 9)
            for (float x = 40; x < 240; x += 40) {
                point(float(text.x) + x, float(text.y) + y);
                frames(40);
                if (value("tooltip").starts_with(meaning_of("__syncthreads"))) return true;
            }
        return false;
    };
    EXPECT_TRUE(is_explained());
    point(5, 5);
    const Widget text = *view_->widgets().find("editor.text");
    press(float(text.x + text.w / 2), float(text.y + 5));
    ASSERT_TRUE(ImGui::IsAnyItemActive());
    EXPECT_TRUE(is_explained());
}

TEST_F(GlossaryTest, WordsOfLabelsAreExplained) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const auto explains = [&](const std::string& word) {
        return value("tooltip").find(meaning_of(word)) != std::string::npos;
    };
    rest_on("race");
    EXPECT_TRUE(explains("hazard")) << value("tooltip");
    click("race");
    const Widget row = *view_->widgets().find("finding.0");
    point(float(row.x) + 44, float(row.y) + 18);
    frames(60);
    EXPECT_TRUE(explains("RAW")) << value("tooltip");
    click("dock.lines");
    frames(3);
    rest_on("lines.by.conflicts");
    EXPECT_TRUE(explains("bank")) << value("tooltip");
}

}  // namespace
}  // namespace warpscope::ui
