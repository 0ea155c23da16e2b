#include "ui/widgets/theme.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace warpscope::ui {
namespace {

using Names = std::initializer_list<const char*>;

// Files of fonts, without .ttf or .otf, the best first.
constexpr Names regular{"Inter-Regular",          "DejaVuSans", "NotoSans-Regular",
                        "LiberationSans-Regular", "Ubuntu-R",   "FreeSans"};
constexpr Names medium{"Inter-SemiBold",      "DejaVuSans-Bold", "NotoSans-Bold",
                       "LiberationSans-Bold", "Ubuntu-B",        "FreeSansBold"};
constexpr Names monospace{"JetBrainsMono-Regular",  "DejaVuSansMono", "NotoSansMono-Regular",
                          "LiberationMono-Regular", "UbuntuMono-R",   "FreeMono"};

constexpr Names chinese{"DroidSansFallbackFull", "DroidSansFallback", "wqy-microhei",
                        "NotoSansSC-Regular",    "wqy-zenhei",        "NotoSansCJK-Regular"};

const ImWchar* glyph_ranges() {
    // Latin, Greek, Cyrillic, dashes, quotes and the ellipsis, super- and subscripts, arrows,
    // mathematics.
    static const ImWchar ranges[] = {0x20,   0x17F,  0x370,  0x3FF,  0x400,  0x45F,  0x2010, 0x203A,
                                     0x2070, 0x208E, 0x2190, 0x2199, 0x2200, 0x2265, 0};
    return ranges;
}

/// The characters of the Chinese catalogue, or those of the name of the language alone: a font of
/// Chinese has too many to load them all in each size.
const ImWchar* chinese_ranges() {
    static const auto ranges_of = [](const std::string& text) {
        ImVector<ImWchar> ranges;
        ImFontGlyphRangesBuilder builder;
        builder.AddText(text.c_str(), text.c_str() + text.size());
        builder.BuildRanges(&ranges);
        return ranges;
    };
    static const auto all = ranges_of(characters_of(Language::chinese));
    static const auto name = ranges_of(name_of(Language::chinese).name);
    return language() == Language::chinese ? all.Data : name.Data;
}

using Files = std::map<std::string, std::string>;  ///< by name, without the extension

Files find_fonts(std::span<const std::filesystem::path> folders) {
    namespace fs = std::filesystem;
    Files files;
    for (const fs::path& folder : folders) {
        std::error_code error;
        const auto options = fs::directory_options::skip_permission_denied;
        for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end;
             at.increment(error)) {
            const fs::path& path = at->path();
            if (path.extension() == ".ttf" || path.extension() == ".otf" ||
                path.extension() == ".ttc")
                files.emplace(path.stem().string(), path.string());
        }
    }
    return files;
}

const Files& installed_fonts() {
    static const Files files = find_fonts(font_folders());
    return files;
}

bool has_character(ImFont& font, ImWchar character) {
#if IMGUI_VERSION_NUM < 19200
    return font.FindGlyphNoFallback(character) != nullptr;
#else
    return font.IsGlyphInFont(character);
#endif
}

constexpr ImWchar ellipsis = 0x2026;

/// The font of Dear ImGui has Latin-1 alone: other characters of the interface look like these.
void add_other_characters(ImFont& font) {
    constexpr std::pair<ImWchar, ImWchar> alike[] = {
        {0x201C, '"'}, {0x201D, '"'}, {0x2019, '\''}, {0x2013, '-'}, {0x2212, '-'}, {0x2190, '<'},
        {0x2192, '>'}, {0x2191, '^'}, {0x2193, 'v'},  {0x2264, '<'}, {0x2265, '>'}};
    for (const auto& [from, to] : alike) font.AddRemapChar(from, to);
    if (!has_character(font, ellipsis)) font.AddRemapChar(ellipsis, '.');
}

/// Draws three dots into each of these fonts, which lack them. The atlas is built again.
void add_ellipses([[maybe_unused]] ImFontAtlas& atlas,
                  [[maybe_unused]] const std::vector<ImFont*>& fonts) {
#if IMGUI_VERSION_NUM < 19200
    std::vector<int> places;
    for (ImFont* const font : fonts) {
        const ImFontGlyph& dot = *font->FindGlyph('.');
        const int width = std::max(6, int(dot.AdvanceX)),
                  height = std::max(1, int(dot.Y1 - dot.Y0));
        places.push_back(
            atlas.AddCustomRectFontGlyph(font, ellipsis, width, height, dot.AdvanceX, {0, dot.Y0}));
    }
    if (!atlas.Build()) return;
    for (const int place : places) {
        const ImFontAtlasCustomRect& rect = *atlas.GetCustomRectByIndex(place);
        for (int y = 0; y < rect.Height; ++y)
            for (int x = 0; x < rect.Width; ++x)
                atlas.TexPixelsAlpha8[(rect.Y + y) * atlas.TexWidth + rect.X + x] =
                    x * 6 / rect.Width % 2 == 0 ? 255 : 0;
    }
#endif
}

/// The path of the first of the fonts that is there; empty: none is.
std::string path_of(const Files& files, Names names) {
    for (const char* name : names)
        if (const auto file = files.find(name); file != files.end()) return file->second;
    return {};
}

/// Adds the Chinese characters to the font that was loaded last.
void add_chinese(const Files& files, float pixels, ImFontConfig config) {
    const std::string path = path_of(files, chinese);
    if (path.empty()) return;
    config.MergeMode = true;
    config.OversampleH = 1;
    ImGui::GetIO().Fonts->AddFontFromFileTTF(path.c_str(), pixels, &config, chinese_ranges());
}

ImFont* load(const Files& files, Names names, float pixels) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    ImFontConfig config;
    config.OversampleH = pixels < 24 ? 2 : 1;
    config.OversampleV = 1;
    config.PixelSnapH = false;
    for (const char* name : names) {
        const auto file = files.find(name);
        if (file == files.end()) continue;
        if (ImFont* font =
                atlas.AddFontFromFileTTF(file->second.c_str(), pixels, &config, glyph_ranges())) {
            add_chinese(files, pixels, config);
            return font;
        }
    }
    config.SizePixels = pixels;
    return atlas.AddFontDefault(&config);
}

/// Every colour of a theme, in the order of the declarations in the header.
struct Palette {
    ImU32 background, canvas, panel, raised, hovered, line, text, dim, faint, accent, accent_deep,
        good, warning, bad, breakpoint, switched_off;
    ImU32 warps[8];
};

constexpr Palette dark_palette{
    IM_COL32(17, 19, 23, 255),
    IM_COL32(11, 12, 15, 255),
    IM_COL32(24, 27, 32, 255),
    IM_COL32(33, 37, 44, 255),
    IM_COL32(44, 49, 58, 255),
    IM_COL32(43, 48, 56, 255),
    IM_COL32(229, 232, 237, 255),
    IM_COL32(157, 166, 178, 255),
    IM_COL32(138, 147, 160, 255),
    IM_COL32(86, 166, 246, 255),
    IM_COL32(39, 83, 130, 255),
    IM_COL32(99, 194, 131, 255),
    IM_COL32(232, 172, 74, 255),
    IM_COL32(247, 132, 127, 255),
    IM_COL32(235, 64, 70, 255),
    IM_COL32(78, 86, 98, 255),
    {IM_COL32(107, 169, 245, 255), IM_COL32(232, 178, 87, 255), IM_COL32(103, 199, 140, 255),
     IM_COL32(205, 140, 224, 255), IM_COL32(95, 200, 208, 255), IM_COL32(229, 148, 176, 255),
     IM_COL32(176, 196, 96, 255), IM_COL32(160, 153, 240, 255)}};

constexpr Palette light_palette{
    IM_COL32(247, 248, 250, 255),
    IM_COL32(236, 239, 243, 255),
    IM_COL32(255, 255, 255, 255),
    IM_COL32(230, 234, 240, 255),
    IM_COL32(217, 223, 231, 255),
    IM_COL32(204, 210, 219, 255),
    IM_COL32(24, 28, 34, 255),
    IM_COL32(65, 72, 83, 255),
    IM_COL32(97, 105, 118, 255),
    IM_COL32(17, 96, 187, 255),
    IM_COL32(168, 204, 245, 255),
    IM_COL32(15, 102, 51, 255),
    IM_COL32(125, 78, 0, 255),
    IM_COL32(165, 33, 33, 255),
    IM_COL32(206, 32, 40, 255),
    IM_COL32(150, 158, 170, 255),
    {IM_COL32(12, 87, 179, 255), IM_COL32(124, 84, 17, 255), IM_COL32(38, 103, 63, 255),
     IM_COL32(139, 45, 166, 255), IM_COL32(31, 101, 106, 255), IM_COL32(164, 40, 83, 255),
     IM_COL32(84, 96, 36, 255), IM_COL32(73, 60, 226, 255)}};

const Palette* palette = nullptr;

void use(const Palette& other) {
    palette = &other;
    colour::background = other.background;
    colour::canvas = other.canvas;
    colour::panel = other.panel;
    colour::raised = other.raised;
    colour::hovered = other.hovered;
    colour::line = other.line;
    colour::text = other.text;
    colour::dim = other.dim;
    colour::faint = other.faint;
    colour::accent = other.accent;
    colour::accent_deep = other.accent_deep;
    colour::good = other.good;
    colour::warning = other.warning;
    colour::bad = other.bad;
    colour::breakpoint = other.breakpoint;
    colour::switched_off = other.switched_off;
}

/// Colours are there before any is drawn.
const bool has_colours = (use(dark_palette), true);

void set(ImGuiCol which, ImU32 colour) {
    ImGui::GetStyle().Colors[which] = ImGui::ColorConvertU32ToFloat4(colour);
}

void set_colours() {
    using namespace colour;
    is_light() ? ImGui::StyleColorsLight() : ImGui::StyleColorsDark();
    set(ImGuiCol_Text, colour::text);
    set(ImGuiCol_TextDisabled, faint);
    set(ImGuiCol_WindowBg, background);
    set(ImGuiCol_ChildBg, IM_COL32(0, 0, 0, 0));
    set(ImGuiCol_PopupBg, colour::panel);  // on which buttons, which are raised, are seen
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

Fonts apply(float scale, float raster, const Files& files) {
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
    fonts.body = load(files, regular, pixels(16));
    fonts.small = load(files, regular, pixels(14));
    fonts.strong = load(files, medium, pixels(16));
    fonts.value = load(files, medium, pixels(20));
    fonts.mono = load(files, monospace, pixels(15));
    fonts.mono_small = load(files, monospace, pixels(13));
#if IMGUI_VERSION_NUM < 19200
    io.Fonts->Build();
#endif
    std::vector<ImFont*> poor;
    for (ImFont* font : io.Fonts->Fonts)
        if (!has_character(*font, ellipsis)) poor.push_back(font);
    if (!poor.empty()) add_ellipses(*io.Fonts, poor);
    for (ImFont* font : poor) add_other_characters(*font);
    return fonts;
}

}  // namespace

ImU32 warp_colour(unsigned warp) {
    // Eight hues of equal lightness. Neighbours differ clearly, and none is the red of errors.
    return palette->warps[warp % 8];
}

bool set_theme(Theme theme) {
    const Palette& wanted = theme == Theme::light ? light_palette : dark_palette;
    if (palette == &wanted) return false;
    use(wanted);
    return true;
}

bool is_light() {
    return palette == &light_palette;
}

ImU32 faded(ImU32 colour, float opacity) {
    const auto alpha = ImU32(float(colour >> IM_COL32_A_SHIFT) * opacity + 0.5F);
    return (colour & ~IM_COL32_A_MASK) | (alpha << IM_COL32_A_SHIFT);
}

std::vector<std::filesystem::path> font_folders() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
    std::vector<fs::path> folders{program / "../share/warpscope/fonts", "/usr/share/fonts",
                                  "/usr/local/share/fonts"};
    if (const char* home = std::getenv("HOME"))
        for (const char* folder : {".local/share/fonts", ".fonts"})
            folders.push_back(fs::path(home) / folder);
    return folders;
}

bool has_font_for(Language language) {
    const Files& files = installed_fonts();
    if (language == Language::chinese && path_of(files, chinese).empty()) return false;
    return language == Language::english || !path_of(files, regular).empty();
}

const char* shown_name(Language language) {
    const LanguageName& names = name_of(language);
    return has_font_for(language) ? names.name : names.english;
}

Fonts apply_theme(float scale, float raster) {
    return apply(scale, raster, installed_fonts());
}

Fonts apply_theme(float scale, float raster, std::span<const std::filesystem::path> folders) {
    return apply(scale, raster, find_fonts(folders));
}

}  // namespace warpscope::ui
