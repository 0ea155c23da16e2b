#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compute/device/enum_words.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

/// The values of an enum as entries of a list, in the order of compute::words_of.
struct EnumEntries {
    std::vector<std::string> ids, labels;
    std::size_t chosen = 0;
};

template <class Enum>
EnumEntries entries_of(Enum chosen) {
    EnumEntries entries;
    for (const compute::Word<Enum>& word : compute::words_of<Enum>) {
        if (word.value == chosen) entries.chosen = entries.ids.size();
        entries.ids.emplace_back(word.name);
        entries.labels.emplace_back(tr(word.label));
    }
    return entries;
}

template <class Enum>
std::optional<Enum> entry_clicked(int index) {
    if (index < 0 || std::size_t(index) >= compute::words_of<Enum>.size()) return {};
    return compute::words_of<Enum>[std::size_t(index)].value;
}

/// The tooltip of a choice of the barrier policy.
inline constexpr const char* barrier_policy_help = tr_later(
    "The threads for which a barrier of the emulator waits. Volta and later: every thread that has "
    "not exited. Before Volta: one arrival of a warp counts for all its lanes. Strict PTX ISA: as "
    "Volta, but lanes that arrive without the rest of their warp are an error.");

/// Draws a list that opens, of the values of an enum. Returns the value that was clicked.
template <class Enum>
std::optional<Enum> enum_dropdown(Ui& ui, const std::string& id, Enum chosen, float width) {
    const EnumEntries all = entries_of(chosen);
    return entry_clicked<Enum>(dropdown(ui, id, all.ids, all.labels, all.chosen, width));
}

/// Draws the values of an enum side by side. Returns the value that was clicked.
template <class Enum>
std::optional<Enum> enum_segments(Ui& ui, const std::string& id, Enum chosen, float width) {
    const EnumEntries all = entries_of(chosen);
    return entry_clicked<Enum>(segments(ui, id, all.ids, all.labels, all.chosen, width));
}

}  // namespace warpscope::ui
