#pragma once

#include <imgui.h>

#include <filesystem>
#include <span>
#include <vector>

#include "ui/language/language.h"

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

/// The colours of the interface. set_theme() changes them.
namespace colour {
inline constexpr ImU32 clear = 0;  ///< transparent
inline ImU32 background, canvas, panel, raised, hovered, line, text, dim, faint, accent,
    accent_deep, good, warning, bad;
inline ImU32 breakpoint;    ///< a dot, never text
inline ImU32 switched_off;  ///< the ground of a switch

/// Text in any of these inks can be read on any of these grounds: contrast 4.5 : 1 or more.
inline ImU32* const inks[] = {&text, &dim, &faint, &accent, &good, &warning, &bad};
inline ImU32* const grounds[] = {&background, &canvas, &panel, &raised};
/// Opacities of an ink as the ground of words in that ink.
inline constexpr float badge_fill = 0.17F, pill_fill = 0.2F, hovered_chip_fill = 0.24F;
/// Opacities over the background of a source line: of the line that runs next, of a race.
inline constexpr float focus_fill = 0.2F, hazard_fill = 0.16F;
inline constexpr float disabled_alpha = 0.75F;
}  // namespace colour

enum class Theme { dark, light };
/// Takes effect for widgets that are drawn later; apply_theme() must follow. Returns whether
/// another theme was in use.
bool set_theme(Theme theme);
bool is_light();

/// The colour of a warp in all panels. The colours repeat after eight warps.
ImU32 warp_colour(unsigned warp);

/// Returns `colour` with an opacity of 0 to 1.
ImU32 faded(ImU32 colour, float opacity);

/// Whether an installed font has the letters of the language.
bool has_font_for(Language language);
/// The name of a language in that language, or in English where no installed font has its letters.
const char* shown_name(Language language);

/// Sets the colours, spacings and fonts of the current ImGui context, for the language of the
/// window. `scale`: layout units per logical pixel. `raster`: framebuffer pixels per layout unit; 2
/// on desktops that scale windows.
Fonts apply_theme(float scale, float raster = 1);
/// Does so with fonts from these folders. Where they have none that is known, Dear ImGui's own font
/// shows each character of the interface, some as a similar one.
Fonts apply_theme(float scale, float raster, std::span<const std::filesystem::path> folders);
/// Where fonts are searched: those that come with Warpscope, then those of the system and the user.
std::vector<std::filesystem::path> font_folders();

}  // namespace warpscope::ui
