#include "ui/widgets/theme.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>

namespace warpscope::ui {
namespace {

using Paths = std::array<const char*, 4>;

constexpr Paths regular{"/usr/share/fonts/opentype/inter/Inter-Regular.otf",
                        "/usr/share/fonts/truetype/inter/Inter-Regular.ttf",
                        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", nullptr};
constexpr Paths medium{"/usr/share/fonts/opentype/inter/Inter-SemiBold.otf",
                       "/usr/share/fonts/truetype/inter/Inter-SemiBold.ttf",
                       "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf", nullptr};
constexpr Paths monospace{"/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf",
                          "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.otf",
                          "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf", nullptr};

const ImWchar* glyph_ranges() {
    // Latin, Greek, dashes, quotes and the ellipsis, super- and subscripts, arrows, mathematics.
    static const ImWchar ranges[] = {0x20,   0x17F,  0x370,  0x3FF,  0x2010, 0x203A, 0x2070,
                                     0x208E, 0x2190, 0x2199, 0x2200, 0x2265, 0};
    return ranges;
}

ImFont* load(const Paths& paths, float pixels) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    ImFontConfig config;
    config.OversampleH = pixels < 24 ? 2 : 1;
    config.OversampleV = 1;
    config.PixelSnapH = false;
    for (const char* path : paths) {
        std::error_code error;
        if (!path || !std::filesystem::is_regular_file(path, error)) continue;
        if (ImFont* font = atlas.AddFontFromFileTTF(path, pixels, &config, glyph_ranges()))
            return font;
    }
    config.SizePixels = pixels;
    return atlas.AddFontDefault(&config);
}

void set(ImGuiCol which, ImU32 colour) {
    ImGui::GetStyle().Colors[which] = ImGui::ColorConvertU32ToFloat4(colour);
}

void set_colours() {
    using namespace colour;
    ImGui::StyleColorsDark();
    set(ImGuiCol_Text, colour::text);
    set(ImGuiCol_TextDisabled, faint);
    set(ImGuiCol_WindowBg, background);
    set(ImGuiCol_ChildBg, IM_COL32(0, 0, 0, 0));
    set(ImGuiCol_PopupBg, raised);
    set(ImGuiCol_Border, line);
    set(ImGuiCol_FrameBg, raised);
    set(ImGuiCol_FrameBgHovered, hovered);
    set(ImGuiCol_FrameBgActive, hovered);
    set(ImGuiCol_Button, raised);
    set(ImGuiCol_ButtonHovered, hovered);
    set(ImGuiCol_ButtonActive, accent_deep);
    set(ImGuiCol_Header, accent_deep);
    set(ImGuiCol_HeaderHovered, hovered);
    set(ImGuiCol_HeaderActive, accent_deep);
    set(ImGuiCol_SliderGrab, accent);
    set(ImGuiCol_SliderGrabActive, accent);
    set(ImGuiCol_CheckMark, accent);
    set(ImGuiCol_Separator, line);
    set(ImGuiCol_SeparatorHovered, accent_deep);
    set(ImGuiCol_SeparatorActive, accent);
    set(ImGuiCol_ScrollbarBg, IM_COL32(0, 0, 0, 0));
    set(ImGuiCol_ScrollbarGrab, hovered);
    set(ImGuiCol_ScrollbarGrabHovered, faint);
    set(ImGuiCol_ScrollbarGrabActive, dim);
    set(ImGuiCol_TextSelectedBg, accent_deep);
    set(ImGuiCol_TableHeaderBg, IM_COL32(0, 0, 0, 0));
    set(ImGuiCol_TableBorderLight, line);
    set(ImGuiCol_TableBorderStrong, line);
    set(ImGuiCol_NavHighlight, accent);
}

void set_shape(float scale) {
    ImGuiStyle& style = ImGui::GetStyle();
    style = ImGuiStyle();
    style.WindowPadding = {0, 0};
    style.FramePadding = {9, 4};
    style.ItemSpacing = {8, 6};
    style.ItemInnerSpacing = {6, 4};
    style.CellPadding = {6, 3};
    style.WindowRounding = 0;
    style.ChildRounding = 0;
    style.FrameRounding = 5;
    style.PopupRounding = 6;
    style.GrabRounding = 4;
    style.GrabMinSize = 12;
    style.ScrollbarSize = 10;
    style.ScrollbarRounding = 5;
    style.WindowBorderSize = 0;
    style.ChildBorderSize = 0;
    style.PopupBorderSize = 1;
    style.DisabledAlpha = colour::disabled_alpha;
    // With fewer segments, corners of curves would be visible at 4K.
    style.CircleTessellationMaxError = 0.2F;
    style.ScaleAllSizes(scale);
}

}  // namespace

ImU32 warp_colour(unsigned warp) {
    // Eight hues of equal lightness. Neighbours differ clearly, and none is the red of errors.
    static constexpr ImU32 hues[8] = {IM_COL32(107, 169, 245, 255), IM_COL32(232, 178, 87, 255),
                                      IM_COL32(103, 199, 140, 255), IM_COL32(205, 140, 224, 255),
                                      IM_COL32(95, 200, 208, 255),  IM_COL32(229, 148, 176, 255),
                                      IM_COL32(176, 196, 96, 255),  IM_COL32(160, 153, 240, 255)};
    return hues[warp % 8];
}

ImU32 faded(ImU32 colour, float opacity) {
    const auto alpha = ImU32(float(colour >> IM_COL32_A_SHIFT) * opacity + 0.5F);
    return (colour & ~IM_COL32_A_MASK) | (alpha << IM_COL32_A_SHIFT);
}

Fonts apply_theme(float scale, float raster) {
    set_shape(scale);
    set_colours();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.FontGlobalScale = 1 / raster;
    io.Fonts->Clear();
    io.Fonts->Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
    const auto pixels = [&](float size) { return std::round(size * scale * raster); };
    Fonts fonts;
    fonts.body = load(regular, pixels(16));
    fonts.small = load(regular, pixels(14));
    fonts.strong = load(medium, pixels(16));
    fonts.value = load(medium, pixels(20));
    fonts.mono = load(monospace, pixels(15));
    fonts.mono_small = load(monospace, pixels(13));
    return fonts;
}

}  // namespace warpscope::ui
