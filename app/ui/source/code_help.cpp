#include "ui/source/code_help.h"

#include <set>
#include <utility>

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

bool CodeHelp::close() {
    return std::exchange(place_, std::nullopt).has_value();
}

void CodeHelp::draw(Ui& ui, std::uint64_t here, const std::vector<ExplainedWord>& words, ImVec2 low,
                    ImVec2 high) {
    const bool asked = std::exchange(asked_, false), was_here = place_ == here;
    const bool stays = was_here && !asked && !ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                       !key_pressed(ImGuiKey_Tab);
    place_.reset();
    if (!stays && (!asked || was_here)) return;
    place_ = here;
    std::string said;
    std::set<std::string> explained;
    for (const ExplainedWord& word : words)
        if (explained.insert(word.explaining).second)
            said += (said.empty() ? "" : "\n\n") + explanation_of(word.explaining);
    if (said.empty()) said = tr("No word here is explained. F2 shows the words that are.");
    if (!words.empty()) point_at_word(words.front().explaining);
    tooltip_beside(ui, low, high, said);
}

}  // namespace warpscope::ui
