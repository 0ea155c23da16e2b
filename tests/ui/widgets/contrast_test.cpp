#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ui/source/kernel_text.h"
#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

/// Of sRGB, by WCAG 2.1: 0 is black, 1 is white.
double luminance(ImU32 colour) {
    const auto linear = [&](int shift) {
        const double c = double(colour >> shift & 255) / 255;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(IM_COL32_R_SHIFT) + 0.7152 * linear(IM_COL32_G_SHIFT) +
           0.0722 * linear(IM_COL32_B_SHIFT);
}

double contrast(ImU32 a, ImU32 b) {
    const double light = std::max(luminance(a), luminance(b));
    const double dark = std::min(luminance(a), luminance(b));
    return (light + 0.05) / (dark + 0.05);
}

/// The colour that is seen where `above` covers `below` with this opacity.
ImU32 blend(ImU32 above, float opacity, ImU32 below) {
    const auto channel = [&](int shift) {
        const auto a = float(above >> shift & 255), b = float(below >> shift & 255);
        return ImU32(std::lround(a * opacity + b * (1 - opacity))) << shift;
    };
    return channel(IM_COL32_R_SHIFT) | channel(IM_COL32_G_SHIFT) | channel(IM_COL32_B_SHIFT) |
           IM_COL32_A_MASK;
}

constexpr double enough = 4.5;

class Contrast : public testing::TestWithParam<Theme> {
  protected:
    Contrast() { set_theme(GetParam()); }
    ~Contrast() override { set_theme(Theme::dark); }
};
INSTANTIATE_TEST_SUITE_P(Themes, Contrast, testing::Values(Theme::dark, Theme::light),
                         [](const auto& one) {
                             return one.param == Theme::light ? "light" : "dark";
                         });

TEST(ContrastTest, IsThatOfWcag) {
    EXPECT_DOUBLE_EQ(contrast(IM_COL32_WHITE, IM_COL32_BLACK), 21);
    // The darkest grey that WCAG's authors name for text on white.
    EXPECT_NEAR(contrast(IM_COL32(118, 118, 118, 255), IM_COL32_WHITE), 4.54, 0.005);
    EXPECT_EQ(blend(IM_COL32_WHITE, 0.5F, IM_COL32_BLACK), IM_COL32(128, 128, 128, 255));
}

TEST_P(Contrast, EveryInkCanBeReadOnEveryGround) {
    for (const ImU32* ink : colour::inks)
        for (const ImU32* ground : colour::grounds)
            EXPECT_GE(contrast(*ink, *ground), enough) << std::hex << *ink << " on " << *ground;
    EXPECT_GE(contrast(colour::text, colour::accent_deep), enough) << "a pressed button";
    for (const ImU32 ink : {colour::text, colour::dim, colour::accent, colour::bad})
        EXPECT_GE(contrast(ink, colour::hovered), enough) << std::hex << ink;
}

TEST_P(Contrast, BadgesCanBeReadOnTheirTint) {
    for (const ImU32 ink : {colour::dim, colour::good, colour::warning, colour::bad})
        for (const float fill : {colour::badge_fill, colour::pill_fill, colour::hovered_chip_fill})
            for (const ImU32 ground : {colour::panel, colour::background})
                EXPECT_GE(contrast(ink, blend(ink, fill, ground)), enough)
                    << std::hex << ink << " at " << fill;
}

TEST_P(Contrast, DisabledWidgetsCanStillBeRead) {
    const ImU32 box = blend(colour::raised, colour::disabled_alpha, colour::panel);
    EXPECT_GE(contrast(blend(colour::dim, colour::disabled_alpha, colour::panel), colour::panel),
              enough);
    EXPECT_GE(contrast(blend(colour::text, colour::disabled_alpha, box), box), enough);
}

TEST_P(Contrast, SourceTextCanBeReadOnEveryLine) {
    const ImU32 race = blend(colour::bad, colour::hazard_fill, colour::background);
    const ImU32 grounds[] = {colour::background, race,
                             blend(colour::accent, colour::focus_fill, colour::background)};
    for (const Ink ink : {Ink::plain, Ink::keyword, Ink::type, Ink::cuda, Ink::number, Ink::text,
                          Ink::comment, Ink::directive})
        for (const ImU32 ground : grounds)
            EXPECT_GE(contrast(ink_colour(ink), ground), enough)
                << "ink " << int(ink) << " on " << std::hex << ground;
}

TEST_P(Contrast, NumbersOfWarpsCanBeRead) {
    for (unsigned warp = 0; warp < 8; ++warp) {
        const ImU32 hue = warp_colour(warp);
        EXPECT_GE(contrast(colour::background, hue), enough) << warp;
        EXPECT_GE(contrast(hue, blend(hue, 0.22F, colour::background)), enough) << warp;
    }
}

}  // namespace
}  // namespace warpscope::ui
