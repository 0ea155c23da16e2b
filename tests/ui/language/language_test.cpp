#include "ui/language/language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <stdexcept>

#include "ui/widgets/format.h"

namespace warpscope::ui {
namespace {

class Languages : public testing::Test {
  protected:
    Languages() { clear(); }
    ~Languages() override {
        clear();
        set_language(Language::english);
    }
    static void clear() {
        for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"}) ::unsetenv(name);
    }
};

TEST_F(Languages, ACatalogueIsReadWithItsEscapesAndContinuations) {
    const Catalogue read = read_catalogue(
        "msgid \"\"\nmsgstr \"Language: xx\\n\"\n\n#: app/ui/a.cpp\nmsgid \"one\\n\"\n\"two\"\n"
        "msgstr \"eins\\n\"\n\"zwei \\\"2\\\"\"\n\nmsgid \"not yet\"\nmsgstr \"\"\n");
    EXPECT_EQ(read, (Catalogue{{"one\ntwo", "eins\nzwei \"2\""}}));
    try {
        read_catalogue("msgid \"a\"\nmsgstr \"b\"\nmsgctxt \"c\"\n");
        FAIL() << "line 3 is none that it knows";
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 7), "line 3:");
    }
}

TEST_F(Languages, WordsFollowTheLanguageAndEnglishStandsInForWhatIsMissing) {
    EXPECT_STREQ(tr("Warps"), "Warps");
    set_language(Language::russian);
    EXPECT_STREQ(tr("Warps"), "Варпы");
    EXPECT_STREQ(tr("no catalogue has these words"), "no catalogue has these words");
    set_language(Language::chinese);
    EXPECT_STREQ(tr("Warps"), "线程束");
    EXPECT_EQ(tr(std::string_view("Shared memory")), "共享内存");
}

TEST_F(Languages, ATranslationHasItsOwnOrderOfValues) {
    EXPECT_EQ(tr("The first {} of {} blocks finish.", 3, 64), "The first 3 of 64 blocks finish.");
    set_language(Language::chinese);
    EXPECT_EQ(tr("The first {} of {} blocks finish.", 3, 64), "64 个线程块中的前 3 个完成。");
}

TEST_F(Languages, WordsThatAreMadeBelowTheWindowAreTranslatedWithTheirValues) {
    EXPECT_EQ(tr(std::string_view("Median of the last 60")), "Median of the last 60");
    set_language(Language::chinese);
    EXPECT_EQ(tr(std::string_view("Median of the last 60")), "最近 60 次的中位数");
    set_language(Language::russian);
    EXPECT_EQ(tr(std::string_view("Rank 2, which moves 1 024 of the bodies")),
              "Ранг 2, который двигает 1 024 тел");
    EXPECT_EQ(tr(std::string_view("Minimum of the last ")), "Minimum of the last ");
    // A value may have a translation of its own.
    EXPECT_EQ(tr(std::string_view("Wrong pixels: Minimum of the last 5")),
              std::string(tr("Wrong pixels")) + ": минимум последних 5");
    EXPECT_EQ(tr(std::string_view("Minimum of the first 5")), "Minimum of the first 5");
}

TEST_F(Languages, SentencesOfTheChecksAreTranslatedWithTheirParts) {
    const std::string race =
        "Thread (15,13,0) of block (0,0,0) (warp 6) read byte 8 of shared memory at "
        "kernels/a.cu:54 "
        "before thread (0,2,0) of warp 1 wrote it at kernels/a.cu:50: __syncthreads() is missing "
        "between kernels/a.cu:50 and kernels/a.cu:54.";
    EXPECT_EQ(tr(std::string_view(race)), race);
    set_language(Language::chinese);
    EXPECT_EQ(tr(std::string_view(race)),
              "线程块 (0,0,0) 的线程 (15,13,0)（线程束 6）在 kernels/a.cu:54 读取了共享内存的字节 "
              "8，而线程束 1 的线程 (0,2,0)之后才在 kernels/a.cu:50 写入它：kernels/a.cu:50 与 "
              "kernels/a.cu:54 之间缺少 __syncthreads()。");
    set_language(Language::russian);
    EXPECT_EQ(tr(std::string_view(race)),
              "Поток (15,13,0) блока (0,0,0) (варп 6) прочитал байт 8 разделяемой памяти в "
              "kernels/a.cu:54 раньше, чем поток (0,2,0) варпа 1 записал его в kernels/a.cu:50: "
              "не хватает __syncthreads() между kernels/a.cu:50 и kernels/a.cu:54.");
    // Of two forms that fit, that with more of the words.
    EXPECT_EQ(tr(std::string_view("Thread 0 of block 1 (warp 2) overwrites address 0x8 at a.cu:1 "
                                  "after thread 3 of the same warp wrote it at a.cu:2, with the "
                                  "same value: x.")),
              "Поток 0 блока 1 (варп 2) перезаписывает адрес 0x8 в a.cu:1 после того, как поток 3 "
              "того же варпа записал его в a.cu:2, тем же значением: x.");
}

// The sentences of witnesses, as witness_words.cpp makes them, and of reasons.
constexpr const char* sentences_of_orders[] = {
    "With 0 preemptions, warp 0 runs to kernels/a.cu:54 before warp 7 has passed kernels/a.cu:50: "
    "then byte 960 of an allocation of 16384 bytes is 0x00ff8000 instead of 0xff123456, and 127 "
    "more words differ from the order in which all warps advance together, access by access.",
    "With 1 preemption, warp 3 of block (0,0,0) runs to kernels/a.cu:7 (store) before warp 0 of "
    "block (1,0,0) has passed kernels/a.cu:7 (load): then y[12] is 3 instead of 5, which is "
    "expected.",
    "With 2 preemptions, the copy that warp 1 starts at kernels/a.cu:14 lands as late as it may, "
    "and so do 2 more: then y[0] is 3 instead of 5 of the order in which each warp runs until it "
    "waits or ends. That order does not give the expected result either.",
    "With 1 preemption, warp 0 runs to kernels/a.cu:2 before warp 1 has passed kernels/a.cu:3: "
    "then y[1] is 0 instead of 1, and 1 more word differs from what is expected.",
    "copy 2 of warp 1 lands at the end of its turn",
    "all other copies land at once",
    "after 3 barriers: warp 2 of block (0,1,0) runs until it is before kernels/a.cu:9, access 2, "
    "for the 3rd time",
    "after 1 barrier: warp 2 runs until it waits or ends",
    "then the next warps in their order, each until it waits or ends",
    "Both threads are of one warp, and only warps are reordered. All orders with at most 2 "
    "preemptions and copies that do not land at once give the expected result where they end.",
    "All 2 187 orders of the warps of blocks (0,0,0), (1,0,0) with at most 1 preemption leave the "
    "words that are expected as they are. In each of them 2 expected words are wrong. Orders with "
    "2 preemptions were not all run. Older values that loads may get change nothing. No order "
    "shows "
    "what a load does that a GPU executes later than it stands, and what an atomic operation does "
    "whose scope is too small.",
    "With 0 preemptions, warp 0 of block (1,0,0) reads at kernels/a.cu:9 what the word held before "
    "warp 1 "
    "of block (0,0,0) stored to it at kernels/a.cu:5, as it may, since nothing orders the two: "
    "then y[1] "
    "is 0 instead of 1, which is expected.",
    "after 1 barrier: warp 2 reads old values, and runs until it waits or ends",
    "thread (0,0,0) reads 0, as it may: nothing orders the write of 5 before it",
    "The orders of the warps of blocks (0,0,0), (1,0,0) without a preemption are too many: in 9 "
    "turns no result differed.",
    "No order was searched: the run was stopped.",
    "0.5, expected 0.7: thread 3 read what the block had not written",
    "Thread 3 of warp 0 read word 5 of shared memory, which the block had not written at "
    "kernels/a.cu:3. The order of the warps is not the reason.",
    "None of 6 other orders of the warps gives the right value: the order is not the reason.",
    "warp 3 lane 4  kernels/a.cu:3  = 5",
    "Nothing needed it for this input: without it, 64 words stay as they are in 5 orders of all 4 "
    "blocks (in the emulator the accesses of a thread stay in order, so no result can show a "
    "missing fence), and there is no race.",
    "Warp 3, lane 4, reaches kernels/a.cu:3.",
    "Warp 3 writes word 7, kernels/a.cu:3."};

TEST_F(Languages, SentencesOfOrdersAreTranslatedToTheirLastWord) {
    const std::regex kept(R"(kernels/a\.cu|0x\w+|y\[|GPU|fence)"), english("[A-Za-z]{2}");
    for (const Language language : {Language::chinese, Language::russian}) {
        set_language(language);
        for (const char* sentence : sentences_of_orders) {
            const std::string said = tr(std::string_view(sentence));
            EXPECT_FALSE(std::regex_search(std::regex_replace(said, kept, ""), english)) << said;
        }
    }
    EXPECT_EQ(tr(std::string_view(sentences_of_orders[1])),
              "При 1 вытеснении варп 3 блока (0,0,0) доходит до kernels/a.cu:7 (запись) раньше, "
              "чем варп 0 блока (1,0,0) проходит kernels/a.cu:7 (чтение): тогда y[12] — 3, а "
              "ожидается 5.");
    set_language(Language::chinese);
    EXPECT_EQ(tr(std::string_view(sentences_of_orders[6])),
              "3 个屏障之后：线程块 (0,1,0) 的线程束 2 运行到 kernels/a.cu:9 之前，其第 2 "
              "次访问，第 3 次");
}

TEST_F(Languages, EachOfSeveralSentencesIsTranslated) {
    const std::string two =
        "No pixel is wrong this time. That proves nothing: without __syncthreads() at "
        "kernels/a.cu:50 nothing orders the reads after the writes.";
    set_language(Language::russian);
    EXPECT_EQ(tr(std::string_view(two)),
              "На этот раз неверных пикселей нет. Это ничего не доказывает: без __syncthreads() "
              "(kernels/a.cu:50) чтения после записей ничто не упорядочивает.");
    set_language(Language::chinese);
    EXPECT_EQ(
        tr(std::string_view("No pixel is wrong this time. xyz. No read was stale this time.")),
        "这次没有错误的像素。xyz. 这次没有过时的读取。");
    EXPECT_EQ(tr(std::string_view("no. such; sentence.")), "no. such; sentence.");
}

TEST_F(Languages, NounsAreCounted) {
    EXPECT_EQ(counted(1, "lane"), "1 lane");
    EXPECT_EQ(counted(5, "lane"), "5 lanes");
    EXPECT_EQ(counted(1234, "hazard", "1 234"), "1 234 hazards");
    set_language(Language::russian);
    EXPECT_EQ(counted(5, "lane"), "полос: 5");
}

TEST_F(Languages, ALocaleMeansALanguage) {
    EXPECT_EQ(language_of("zh_CN.UTF-8"), Language::chinese);
    EXPECT_EQ(language_of("ru"), Language::russian);
    EXPECT_EQ(language_of("rup_MK"), Language::english) << "Aromanian";
    EXPECT_EQ(language_of("de_DE"), Language::english);

    EXPECT_EQ(language_of_locale(), Language::english);
    ::setenv("LANG", "ru_RU.UTF-8", 1);
    EXPECT_EQ(language_of_locale(), Language::russian);
    ::setenv("LC_MESSAGES", "zh_CN.UTF-8", 1);
    EXPECT_EQ(language_of_locale(), Language::chinese);
    ::setenv("LANGUAGE", "ru:en", 1);
    EXPECT_EQ(language_of_locale(), Language::russian);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    EXPECT_EQ(language_of_locale(), Language::english) << "LANGUAGE counts only beside a locale";
}

TEST(LineBreaks, StandAtSpacesAndBetweenChineseCharacters) {
    // A letter is one column wide, a Chinese character two: three bytes.
    const auto broken = [](std::string_view words, std::size_t columns) {
        return with_line_breaks(words, [columns](const std::string& line) {
            const auto wide = std::count_if(line.begin(), line.end(), [](char c) {
                return static_cast<unsigned char>(c) >= 0xE3;
            });
            return line.size() - std::size_t(wide) <= columns;
        });
    };
    EXPECT_EQ(broken("one two  three", 7), "one two\nthree");
    EXPECT_EQ(broken("2.6e-06 is\nsmall", 3), "2.6e-06\nis\nsmall");
    EXPECT_EQ(broken("共享内存", 4), "共享\n内存");
    EXPECT_EQ(broken("共享。内存", 4), "共\n享。\n内存") << "no line begins with a full stop";
    EXPECT_EQ(broken("等待（warp）到", 8), "等待\n（warp）\n到");
}

}  // namespace
}  // namespace warpscope::ui
