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

#if IMGUI_VERSION_NUM < 19200
TEST_F(ThemeTest, TheEllipsisHasThreeDotsWithoutAnyFontFile) {
    for (const float scale : {1.F, 2.F}) {
        const Fonts fonts = apply_theme(scale, 1, {});
        const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
        const ImFontGlyph& glyph = *fonts.body->FindGlyphNoFallback(0x2026);
        const int left = int(glyph.U0 * float(atlas.TexWidth) + 0.5F),
                  right = int(glyph.U1 * float(atlas.TexWidth) + 0.5F),
                  top = int(glyph.V0 * float(atlas.TexHeight) + 0.5F);
        int dots = 0;
        for (int x = left; x < right; ++x) {
            const auto at = [&](int column) {
                return column >= left && atlas.TexPixelsAlpha8[top * atlas.TexWidth + column] > 0;
            };
            dots += at(x) && !at(x - 1);
        }
        EXPECT_EQ(dots, 3) << scale;
        EXPECT_EQ(glyph.AdvanceX, fonts.body->FindGlyph('.')->AdvanceX);
    }
}
#endif

TEST_F(ThemeTest, FontsAreFoundInFoldersOfAFolder) {
    const Fonts own = apply_theme(1, 1, {});
    const float before = own.body->FallbackAdvanceX;
    const Fonts found = apply_theme(1, 1);
    expect_all(found);
    EXPECT_NE(found.body->FallbackAdvanceX, before) << "no known font is installed here";
}

}  // namespace
}  // namespace warpscope::ui
