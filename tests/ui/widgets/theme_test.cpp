#include "ui/widgets/theme.h"

#include <gtest/gtest.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

/// Characters of the interface beyond Latin-1.
constexpr ImWchar others[] = {0x2026, 0x201C, 0x201D, 0x2190, 0x2191, 0x2192, 0x2193};

class ThemeTest : public testing::Test {
  protected:
    static void expect_all(const Fonts& fonts) {
        for (ImFont* font : {fonts.body, fonts.small, fonts.strong, fonts.mono, fonts.mono_small})
            for (const ImWchar character : others) {
#if IMGUI_VERSION_NUM < 19200
                EXPECT_NE(font->FindGlyphNoFallback(character), nullptr) << int(character);
#else
                EXPECT_NE(font->GetFontBaked(16)->FindGlyphNoFallback(character), nullptr);
#endif
            }
    }
    gl::OffscreenContext context_;
    Gui gui_;
};

TEST_F(ThemeTest, EachCharacterOfTheInterfaceIsShownWithoutAnyFontFile) {
    expect_all(apply_theme(1, 1, {}));
}

TEST_F(ThemeTest, FontsAreFoundInFoldersOfAFolder) {
    const Fonts own = apply_theme(1, 1, {});
    const float before = own.body->FallbackAdvanceX;
    const Fonts found = apply_theme(1, 1);
    expect_all(found);
    EXPECT_NE(found.body->FallbackAdvanceX, before) << "no known font is installed here";
}

}  // namespace
}  // namespace warpscope::ui
