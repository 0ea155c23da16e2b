#pragma once

#include <imgui.h>

#include <filesystem>
#include <span>
#include <vector>

namespace warpscope::ui {

/// Fonts in the sizes in use. Every pointer is valid: where no known font is found, Dear ImGui's
/// own one stands in.
struct Fonts {
    ImFont* body = nullptr;
    ImFont* small = nullptr;
    ImFont* strong = nullptr;      ///< headings, in the body's size
    ImFont* value = nullptr;       ///< the numbers of results
    ImFont* mono = nullptr;        ///< kernel names, tables
    ImFont* mono_small = nullptr;  ///< cells
};

namespace colour {
inline constexpr ImU32 clear = 0;  ///< transparent
inline constexpr ImU32 background = IM_COL32(17, 19, 23, 255);
inline constexpr ImU32 canvas = IM_COL32(11, 12, 15, 255);
inline constexpr ImU32 panel = IM_COL32(24, 27, 32, 255);
inline constexpr ImU32 raised = IM_COL32(33, 37, 44, 255);
inline constexpr ImU32 hovered = IM_COL32(44, 49, 58, 255);
inline constexpr ImU32 line = IM_COL32(43, 48, 56, 255);
inline constexpr ImU32 text = IM_COL32(229, 232, 237, 255);
inline constexpr ImU32 dim = IM_COL32(157, 166, 178, 255);
inline constexpr ImU32 faint = IM_COL32(138, 147, 160, 255);
inline constexpr ImU32 accent = IM_COL32(86, 166, 246, 255);
inline constexpr ImU32 accent_deep = IM_COL32(39, 83, 130, 255);
inline constexpr ImU32 good = IM_COL32(99, 194, 131, 255);
inline constexpr ImU32 finding = IM_COL32(232, 172, 74, 255);
inline constexpr ImU32 bad = IM_COL32(247, 132, 127, 255);
inline constexpr ImU32 breakpoint = IM_COL32(235, 64, 70, 255);  ///< a dot, never text

/// Text in any of these inks can be read on any of these grounds: contrast 4.5 : 1 or more.
inline constexpr ImU32 inks[] = {text, dim, faint, accent, good, finding, bad};
inline constexpr ImU32 grounds[] = {background, canvas, panel, raised};
/// Opacities of an ink as the ground of words in that ink.
inline constexpr float badge_fill = 0.17F, pill_fill = 0.2F, hovered_chip_fill = 0.24F;
/// Opacities over the background of a source line: of the line that runs next, of a race.
inline constexpr float focus_fill = 0.2F, hazard_fill = 0.16F;
inline constexpr float disabled_alpha = 0.75F;
}  // namespace colour

/// The colour of a warp in all panels. The colours repeat after eight warps.
ImU32 warp_colour(unsigned warp);

/// Returns `colour` with an opacity of 0 to 1.
ImU32 faded(ImU32 colour, float opacity);

/// Sets the colours, spacings and fonts of the current ImGui context. `scale`: layout units per
/// logical pixel. `raster`: framebuffer pixels per layout unit; 2 on desktops that scale windows.
Fonts apply_theme(float scale, float raster = 1);
/// Likewise, with fonts from these folders. Where they have none that is known, Dear ImGui's own
/// font shows each character of the interface, some as one that is alike.
Fonts apply_theme(float scale, float raster, std::span<const std::filesystem::path> folders);
/// Where fonts are searched: those that come with Warpscope, then those of the system and the user.
std::vector<std::filesystem::path> font_folders();

}  // namespace warpscope::ui
