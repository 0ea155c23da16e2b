#include "compute/device/enum_words.h"

#include <gtest/gtest.h>

#include <set>

namespace warpscope::compute {
namespace {

template <class Enum>
class WordsTest : public testing::Test {};
using Enums = testing::Types<bool, DeviceKind, Math, Schedule, BarrierPolicy>;
TYPED_TEST_SUITE(WordsTest, Enums);

TYPED_TEST(WordsTest, EveryNameParsesToItsValue) {
    for (const Word<TypeParam>& word : words_of<TypeParam>) {
        EXPECT_EQ(name(word.value), word.name);
        EXPECT_EQ(parse<TypeParam>(word.name), word.value);
    }
}

TYPED_TEST(WordsTest, NamesAndLabelsAreDistinctAndNotEmpty) {
    std::set<std::string_view> names{""}, labels{""};
    for (const Word<TypeParam>& word : words_of<TypeParam>) {
        EXPECT_TRUE(names.insert(word.name).second) << word.name;
        EXPECT_TRUE(labels.insert(word.label).second) << word.label;
    }
}

TEST(Words, NamesAreThoseOfTheCommandLine) {
    EXPECT_EQ(names<Math>(), "precise, fast");
    EXPECT_EQ(names<Schedule>(), "random, run-to-barrier, reverse");
    EXPECT_EQ(names<BarrierPolicy>(), "volta, before-volta, strict");
}

TEST(Words, AnUnknownNameIsRefusedWithTheLegalNames) {
    try {
        parse<Schedule>("fifo");
        FAIL() << "parsed";
    } catch (const std::invalid_argument& e) {
        EXPECT_STREQ(e.what(), "fifo: write one of random, run-to-barrier, reverse");
    }
    EXPECT_THROW(parse<Math>(""), std::invalid_argument);
    EXPECT_THROW(parse<Math>("Fast"), std::invalid_argument);
}

}  // namespace
}  // namespace warpscope::compute
