#pragma once

#include "ui/editor/editor_panel.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// What the emulator counted for each kernel: instructions, barriers, memory accesses.
class CountersPanel {
  public:
    explicit CountersPanel(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
};

/// The counters of the newest checked kernel by source line, sorted by the figure that is chosen
/// in the head of the table. A click on a line shows it in the editor.
class LinesPanel {
  public:
    LinesPanel(Stage& stage, ViewOptions& options, EditorPanel& editor)
        : stage_(stage), options_(options), editor_(editor) {}
    void draw(Ui& ui);

  private:
    void head(Ui& ui);
    void row(Ui& ui, const emulator::LineCounters& line, const emulator::KernelCounters& kernel);

    Stage& stage_;
    ViewOptions& options_;
    EditorPanel& editor_;
};

}  // namespace warpscope::ui
