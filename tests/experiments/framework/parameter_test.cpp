#include "experiments/framework/parameter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpscope::experiments {
namespace {

struct Some {
    ParameterSet set;
    Toggle sync{set, "sync", "Barrier", "Help.", true};
    Choice pattern{set, "pattern", "Pattern", "Help.", {{"spheres", "S"}, {"ripple", "R"}}, 1};
    Integer size{set, "size", "Size", "Help.", 1024, 16, 4096};
    Real speed{set, "speed", "Speed", "Help.", 0.1, -1e3, 1e3, "ticks"};
    Text file{set, "file", "File", "Help."};
};

std::string error_of(Parameter& parameter, std::string_view text) {
    try {
        parameter.parse(text);
    } catch (const ParameterError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Parameters, AreListedInTheOrderOfDeclaration) {
    Some some;
    std::string ids;
    for (const Parameter* parameter : some.set.all())
        ids += parameter->id() + ":" + parameter->type() + ":" + parameter->range() + ":" +
               parameter->default_text() + " ";
    EXPECT_EQ(ids,
              "sync:toggle:on|off:on pattern:choice:spheres|ripple:ripple "
              "size:integer:16..4096:1024 speed:real:-1000..1000:0.1 file:text:any text: ");
}

TEST(Parameters, ParseAcceptsEveryTextOfAValue) {
    Some some;
    const std::vector<std::pair<std::string, std::string>> values{
        {"sync", "off"},  {"pattern", "spheres"},           {"size", "16"},
        {"size", "4096"}, {"speed", "0.30000000000000004"}, {"file", "a b=c"}};
    for (const auto& [id, text] : values) {
        some.set.find(id).parse(text);
        EXPECT_EQ(some.set.find(id).text(), text);
    }
    EXPECT_FALSE(some.sync);
    EXPECT_EQ(some.pattern.index(), 0u);
    EXPECT_EQ(some.size, 4096);
    EXPECT_EQ(some.speed, 0.1 + 0.2);
}

TEST(Parameters, ValuesAreReadOnceAndTakenByPlace) {
    Some some, other;
    const auto values = some.set.read(std::vector<Assignment>{{"size", "64"}, {"sync", "off"}});
    EXPECT_EQ(some.size, 1024) << "reading changes nothing";
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].place, 2U);
    EXPECT_EQ(values[1].value, Value(false));
    const auto before = other.set.replace(values);
    EXPECT_EQ(other.size, 64);
    EXPECT_FALSE(other.sync);
    EXPECT_EQ(other.set.assignments(values)[0].text, "64");
    other.set.replace(before);
    EXPECT_EQ(other.set.values(), Some().set.values());
}

TEST(Parameters, OfSeveralAssignmentsNoneIsMadeIfOneIsIllegal) {
    Some some;
    EXPECT_THROW(some.set.parse(std::vector<Assignment>{{"size", "64"}, {"speed", "fast"}}),
                 ParameterError);
    EXPECT_EQ(some.size, 1024);
}

TEST(Parameters, TogglesTakeTheUsualWords) {
    Some some;
    for (const char* off : {"off", "false", "0"}) {
        some.sync.parse("on");
        some.sync.parse(off);
        EXPECT_FALSE(some.sync) << off;
    }
    for (const char* on : {"true", "1", "on"}) {
        some.sync.parse("off");
        some.sync.parse(on);
        EXPECT_TRUE(some.sync) << on;
    }
}

TEST(Parameters, AToggleMayStandForAnotherParameter) {
    Some some;
    int changes = 0;
    some.sync.stands_for([&] { return some.size >= 128; },
                         [&](bool on) {
                             ++changes;
                             some.size.parse(on ? "128" : "64");
                         });
    some.size.parse("64");
    EXPECT_FALSE(some.sync);
    EXPECT_EQ(some.sync.text(), "off");
    some.sync.parse("on");
    EXPECT_EQ(some.size, 128);
    some.size.parse("256");
    some.sync.parse("on");
    EXPECT_EQ(some.size, 256) << "it is on already";
    EXPECT_EQ(changes, 1);
    EXPECT_THROW(some.sync.parse("2"), ParameterError);
}

TEST(Parameters, AnIllegalValueIsAnErrorAndChangesNothing) {
    Some some;
    for (const char* text : {"", " on", "ON", "2"})
        EXPECT_THROW(some.sync.parse(text), ParameterError);
    for (const char* text : {"", "sphere", "Spheres", "0"})
        EXPECT_THROW(some.pattern.parse(text), ParameterError);
    for (const char* text :
         {"", "15", "4097", "64.0", "64x", " 64", "0x40", "1e2", "-64", "99999999999999999999"})
        EXPECT_THROW(some.size.parse(text), ParameterError) << text;
    for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1001", "-1000.5", "1,5", "1.5 "})
        EXPECT_THROW(some.speed.parse(text), ParameterError) << text;
    EXPECT_TRUE(some.sync);
    EXPECT_EQ(some.pattern.text(), "ripple");
    EXPECT_EQ(some.size, 1024);
    EXPECT_EQ(some.speed, 0.1);
}

TEST(Parameters, ErrorsNameTheLegalValues) {
    Some some;
    EXPECT_EQ(error_of(some.size, "12"), "size: \"12\" is not a whole number in 16..4096");
    EXPECT_EQ(error_of(some.sync, "maybe"), "sync: \"maybe\" is not one of on|off");
    EXPECT_EQ(error_of(some.pattern, "x"), "pattern: \"x\" is not one of spheres|ripple");
    EXPECT_EQ(error_of(some.speed, "fast"), "speed: \"fast\" is not a number in -1000..1000");
}

TEST(Parameters, TheErrorOfAnUnknownParameterNamesTheNearestAndAll) {
    Some some;
    try {
        some.set.find("patern");
        FAIL();
    } catch (const ParameterError& error) {
        EXPECT_STREQ(error.what(),
                     "unknown parameter \"patern\": did you mean pattern? Known are sync, pattern, "
                     "size, speed, file");
    }
}

TEST(Parameters, TheLowestValueOfANumberMayHaveAWord) {
    ParameterSet set;
    Integer block(set, "block", "Block", "Help.", -1, -1, 99);
    block.name_lowest("centre");
    EXPECT_EQ(block.text(), "centre");
    EXPECT_EQ(block.default_text(), "centre");
    EXPECT_EQ(block.range(), "centre|0..99");
    block.parse("7");
    EXPECT_EQ(block.text(), "7");
    EXPECT_FALSE(block.is_default());
    block.parse("centre");
    EXPECT_EQ(block, -1);
    block.parse("7");
    block.parse("-1");
    EXPECT_EQ(block.text(), "centre");
    EXPECT_TRUE(block.is_default());
    EXPECT_THROW(block.parse("edge"), ParameterError);
    EXPECT_EQ(block.text_of(0), "0");
}

}  // namespace
}  // namespace warpscope::experiments
