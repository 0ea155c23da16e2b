#pragma once

#include "ui/lessons/lesson_book.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The column of the lessons: their list, or the lesson that is open.
class LessonPanel {
  public:
    explicit LessonPanel(LessonBook& book) : book_(book) {}

    void draw(Ui& ui);
    /// Draws a frame around the widget of the current step, over the window; a click on the widget
    /// marks that of the next step. Call it when all widgets of the frame were drawn.
    void draw_mark(Ui& ui);

  private:
    void draw_list(Ui& ui);
    void draw_lesson(Ui& ui);
    void draw_steps(Ui& ui);
    void draw_gate(Ui& ui);
    void draw_buttons(Ui& ui);

    LessonBook& book_;
};

}  // namespace warpscope::ui
