#pragma once

#include <string>

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The numbers of the buffer on show as a table: a line for each index of the last dimension but
/// one, or 16 numbers a line where there is one dimension. Numbers that differ from what is
/// expected are red. Buttons save the buffer.
class BufferPanel {
  public:
    explicit BufferPanel(Stage& stage) : stage_(stage) {}
    void draw(Ui& ui);

  private:
    void save(const char* ending);
    void head(Ui& ui, const experiments::BufferContents& buffer);
    void table(Ui& ui, const experiments::BufferContents& buffer);

    Stage& stage_;
};

}  // namespace warpscope::ui
