#pragma once

#include <functional>
#include <string>
#include <utility>

#include "ui/finders/need_finder.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The numbers of the buffer on show as a table: a line for each index of the last dimension but
/// one, or 16 numbers a line where there is one dimension. Numbers that differ from what is
/// expected are red. Buttons save the buffer.
class BufferPanel {
  public:
    /// Says why an element under the mouse is wrong, in lines for its tooltip: ask_why().
    using AskWhy = std::function<std::string(Ui& ui, const std::string& element)>;
    /// Numbers that depend on the barrier at which a person looks get another ground.
    BufferPanel(Stage& stage, const NeedFinder& needs, AskWhy ask_why)
        : stage_(stage), needs_(needs), ask_why_(std::move(ask_why)) {}
    void draw(Ui& ui);

  private:
    void save(const char* ending);
    void save_buttons(Ui& ui);
    void head(Ui& ui, const experiments::BufferContents& buffer);
    void table(Ui& ui, const experiments::BufferContents& buffer);

    Stage& stage_;
    const NeedFinder& needs_;
    AskWhy ask_why_;
};

}  // namespace warpscope::ui
