#include "ui/commands/link.h"

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

class LinkTest : public ViewFixture {
  protected:
    std::string text() { return link_text(*stage_, view_->microscope()); }
};

TEST_F(LinkTest, HasWhatDiffersFromTheDefaults) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string first = text();
    EXPECT_TRUE(first.starts_with("ripple?")) << first;
    EXPECT_NE(first.find("size=64"), std::string::npos);
    EXPECT_NE(first.find("sync=off"), std::string::npos);
    EXPECT_EQ(first.find("run."), std::string::npos);
    set("sync", "on");
    auto run = stage_->run();
    run.seed = 7;
    stage_->set_run(run);
    settle();
    EXPECT_EQ(text(), "ripple?size=64&run.seed=7");
}

TEST_F(LinkTest, HasThePlaceOfTheMicroscope) {
    show("ripple", {{"size", "64"}});
    view_->open_microscope({{2, 1, 0}, 5});
    while (view_->microscope().waits()) frames();
    frames(2);
    EXPECT_EQ(text(), "ripple?size=64&microscope=2,1@5");
}

TEST(ReadLink, TakesEachPartOfAState) {
    const Link link =
        read_link("ripple?sync=off&run.seed=3&run.schedule=reverse&microscope=12,7@214");
    EXPECT_EQ(link.experiment, "ripple");
    ASSERT_EQ(link.values.size(), 1U);
    EXPECT_EQ(link.values[0].id + "=" + link.values[0].text, "sync=off");
    EXPECT_EQ(link.run.seed, 3U);
    EXPECT_EQ(link.run.schedule, compute::Schedule::reverse);
    ASSERT_TRUE(link.microscope);
    EXPECT_EQ(link.microscope->text(), "12,7@214");
}

TEST(ReadLink, DecodesCharactersThatDivideALink) {
    const Link link = read_link("nbody?file=a%26b%3D%25%E9&x=%4");
    ASSERT_EQ(link.values.size(), 2U);
    EXPECT_EQ(link.values[0].text, "a&b=%\xE9");
    EXPECT_EQ(link.values[1].text, "%4");
}

TEST(ReadLink, LeavesOutWhatHasNoMeaning) {
    const Link link = read_link(
        "ripple?&=&run.seed=x&run.seed=99999999999999999999&run.barriers=no&run.none=1&microscope="
        "a");
    EXPECT_EQ(link.run, compute::RunSettings());
    EXPECT_FALSE(link.microscope);
    EXPECT_EQ(read_link("").experiment, "");
    EXPECT_EQ(read_link("?").experiment, "");
}

}  // namespace
}  // namespace warpscope::ui
