#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/framework/report.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Puts the last ImGui item into the widget map.
void record(Ui& ui, std::string id, std::string value = {}, bool enabled = true);
void record_rect(Ui& ui, ImVec2 low, ImVec2 high, std::string id, std::string value = {});

/// Width of a character of the current, monospaced font; not rounded, unlike CalcTextSize().
float character_width();

/// Text in a font and colour, on the current line.
void text(ImFont* font, ImU32 colour, std::string_view words);
/// The same, wrapped at the panel's right edge.
void paragraph(ImFont* font, ImU32 colour, std::string_view words);
/// Text that ends in "…" where `width` is too narrow; whole in a tooltip.
void clipped_text(ImFont* font, ImU32 colour, std::string_view words, float width);
void heading(Ui& ui, std::string_view words);
/// A thin line between two parts of a panel.
void rule(Ui& ui);
/// A small filled label. Returns its width.
float badge(Ui& ui, std::string_view words, ImU32 colour);
ImU32 verdict_colour(experiments::Verdict verdict);

/// A sentence near the mouse once it has rested on the last item for a moment.
void tooltip(Ui& ui, std::string_view words);
/// The same for something that is no item, known by a corner of it, while the mouse is on it.
void tooltip_at(Ui& ui, ImVec2 corner, std::string_view words);
/// The same at once: for what changes with every pixel of the mouse.
void quick_tooltip(Ui& ui, std::string_view words);

/// A switch with its state drawn, `width` wide; true when clicked.
bool toggle_switch(Ui& ui, const std::string& id, bool on, float width);
/// Width of a button with this label.
float button_width(const char* label);
/// A push button that says whether it is on.
bool flat_button(Ui& ui, const std::string& id, const char* label, bool on = false,
                 ImVec2 size = {0, 0});
/// Words side by side of which one is chosen; the index of the one clicked, or -1.
int segments(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width);
float segments_width(const std::vector<std::string>& labels);
/// A list that opens; the index of the one clicked, or -1. Entries are recorded as "ID:ENTRY".
int dropdown(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width);
/// A field that shows `current` until a person types; true when Enter or leaving it makes `typed`
/// the wish.
bool field(Ui& ui, const std::string& id, const std::string& current, float width,
           std::string& typed);

/// The values as a line, oldest left. Changes under a fifth look as small as they are.
void sparkline(Ui& ui, const std::vector<float>& values, ImVec2 size);

}  // namespace warpscope::ui
