#include "ui/language/language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <stdexcept>

#include "emulator/witness/witness_words.h"
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
    EXPECT_EQ(tr(std::string("Shared memory")), "共享内存");
}

TEST_F(Languages, ATranslationHasItsOwnOrderOfValues) {
    EXPECT_EQ(tr("The first {} of {} blocks finish.", 3, 64), "The first 3 of 64 blocks finish.");
    set_language(Language::chinese);
    EXPECT_EQ(tr("The first {} of {} blocks finish.", 3, 64), "64 个线程块中的前 3 个完成。");
}

using files::sentence;

TEST_F(Languages, SentencesThatAreMadeBelowTheWindowAreTranslatedWithTheirValues) {
    const files::Sentence median = sentence("Median of the last {}", 60);
    EXPECT_EQ(tr(median), "Median of the last 60");
    set_language(Language::chinese);
    EXPECT_EQ(tr(median), "最近 60 次的中位数");
    set_language(Language::russian);
    EXPECT_EQ(tr(sentence("Rank {}, which moves {} of the bodies", 2, "1 024")),
              "Ранг 2, который двигает 1 024 тел");
    // A value may have a translation of its own.
    EXPECT_EQ(tr(sentence("{}: Minimum of the last {}", "Wrong pixels", 5)),
              std::string(tr("Wrong pixels")) + ": минимум последних 5");
    EXPECT_EQ(tr(files::Sentence("a text with {} in it")), "a text with {} in it");
    EXPECT_EQ(tr(files::Sentence("no catalogue has {}", {sentence("warp {}", 3)})),
              "no catalogue has варп 3");
}

TEST_F(Languages, SentencesOfTheChecksAreTranslatedWithTheirParts) {
    const files::Sentence race =
        sentence("{} read {} at {} before {} wrote it at {}: {}.",
                 sentence("Thread {} of block {} (warp {})", "(15,13,0)", "(0,0,0)", 6),
                 sentence("byte {} of shared memory", 8), "kernels/a.cu:54",
                 sentence("thread {} of warp {}", "(0,2,0)", 1), "kernels/a.cu:50",
                 sentence("{} is missing between {} and {}", "__syncthreads()", "kernels/a.cu:50",
                          "kernels/a.cu:54"));
    EXPECT_EQ(tr(race),
              "Thread (15,13,0) of block (0,0,0) (warp 6) read byte 8 of shared memory at "
              "kernels/a.cu:54 before thread (0,2,0) of warp 1 wrote it at kernels/a.cu:50: "
              "__syncthreads() is missing between kernels/a.cu:50 and kernels/a.cu:54.");
    EXPECT_EQ(tr(race), race.english());
    set_language(Language::chinese);
    EXPECT_EQ(tr(race),
              "线程块 (0,0,0) 的线程 (15,13,0)（线程束 6）在 kernels/a.cu:54 读取了共享内存的字节 "
              "8，而线程束 1 的线程 (0,2,0)之后才在 kernels/a.cu:50 写入它：kernels/a.cu:50 与 "
              "kernels/a.cu:54 之间缺少 __syncthreads()。");
    set_language(Language::russian);
    EXPECT_EQ(tr(race),
              "Поток (15,13,0) блока (0,0,0) (варп 6) прочитал байт 8 разделяемой памяти в "
              "kernels/a.cu:54 раньше, чем поток (0,2,0) варпа 1 записал его в kernels/a.cu:50: "
              "не хватает __syncthreads() между kernels/a.cu:50 и kernels/a.cu:54.");
}

TEST_F(Languages, TheTurnsOfAnOrderAreTranslatedToTheirLastWord) {
    emulator::ScheduleFile order;
    order.together = true;
    order.landing = emulator::Landing::at_once;
    order.held = {{.warp = 1, .number = 2, .late = false, .block = {0, 1, 0}},
                  {.warp = 0, .number = 1, .late = true, .block = {0, 0, 0}}};
    for (const bool reads_old : {false, true})
        for (const char* until : {"", "kernels/a.cu:9"})
            for (const unsigned pass : {1u, 2u, 3u, 11u, 21u}) {
                emulator::ScheduleFile::Turn turn;
                turn.warp = 2;
                turn.until = until;
                turn.access = pass;
                turn.pass = pass;
                turn.epoch = pass - 1;
                turn.reads_old = reads_old;
                order.turns.push_back(turn);
            }
    const std::regex kept(R"(kernels/a\.cu)"), english("[A-Za-z]{2}");
    for (const Language language : {Language::chinese, Language::russian}) {
        set_language(language);
        for (const files::Sentence& line : emulator::turn_words(order))
            EXPECT_FALSE(std::regex_search(std::regex_replace(tr(line), kept, ""), english))
                << tr(line);
    }
    const files::Sentence turn = emulator::turn_words(order)[2 + 1 + 5 + 2];
    EXPECT_EQ(turn,
              "after 2 barriers: warp 2 of block (0,0,0) runs until it is before "
              "kernels/a.cu:9, access 3, for the 3rd time");
    set_language(Language::chinese);
    EXPECT_EQ(tr(turn),
              "2 个屏障之后：线程块 (0,0,0) 的线程束 2 运行到 kernels/a.cu:9 之前，其第 3 "
              "次访问，第 3 次");
}

TEST_F(Languages, EachOfSeveralSentencesIsTranslated) {
    const files::Sentence two =
        sentence("No pixel is wrong this time.")
            .add(sentence("That proves nothing: without {} nothing orders the reads after the "
                          "writes.",
                          sentence("__syncthreads() at {}", "kernels/a.cu:50")));
    EXPECT_EQ(two,
              "No pixel is wrong this time. That proves nothing: without __syncthreads() at "
              "kernels/a.cu:50 nothing orders the reads after the writes.");
    set_language(Language::russian);
    EXPECT_EQ(tr(two),
              "На этот раз неверных пикселей нет. Это ничего не доказывает: без __syncthreads() "
              "(kernels/a.cu:50) чтения после записей ничто не упорядочивает.");
    set_language(Language::chinese);
    EXPECT_EQ(tr(sentence("No pixel is wrong this time.")
                     .add("xyz.")
                     .add(sentence("No read was stale this time."))),
              "这次没有错误的像素。xyz. 这次没有过时的读取。");
}

TEST_F(Languages, NamesInASentenceChangeAndItsFormStays) {
    files::Sentence words = sentence("Lines of {}", "k_mangled");
    words.add(sentence("{} on one rank", "k_mangled"), "; ");
    words.change_texts([](std::string& text) {
        if (text == "k_mangled") text = "k";
    });
    EXPECT_EQ(words, "Lines of k; k on one rank");
    EXPECT_EQ(files::Sentence().add("x", "; "), "x");
    EXPECT_EQ(files::Sentence("x").add({}, "; "), "x");
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
