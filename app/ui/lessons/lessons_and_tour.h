#pragma once

#include <optional>
#include <string>

#include "ui/lessons/lesson_book.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Five sentences about real widgets of the window, one after the other. What they are not about is
/// dimmed.
class Tour {
  public:
    void start() { step_ = 0; }
    void end() { step_.reset(); }
    bool shows() const { return step_.has_value(); }
    /// Goes to the next sentence (→, Space, Enter) or back (←). Returns false for other keys.
    bool press(int key);
    /// Draws the step over the window, and marks its widget, unless the panels are `covered` by a
    /// popup or a list. Call it when all widgets of the frame were drawn.
    void draw(Ui& ui, bool covered);

  private:
    void go(int by);

    std::optional<std::size_t> step_;
};

/// The column of the lessons: their list, or the lesson that is open.
class LessonPanel {
  public:
    explicit LessonPanel(LessonBook& book) : book_(book) {}

    void draw(Ui& ui);
    /// Draws a frame around the widget of the current step, over the window, unless the panels are
    /// `covered` by a popup or a list. A click on the widget marks that of the next step, and so
    /// does a key or a command that switches it. Call it when all widgets of the frame were drawn.
    void draw_mark(Ui& ui, bool covered);

  private:
    void draw_list(Ui& ui);
    void draw_lesson(Ui& ui);
    void draw_steps(Ui& ui);
    void draw_gate(Ui& ui);
    void draw_buttons(Ui& ui);
    bool is_switched(const Widget& widget);

    LessonBook& book_;
    /// The lesson and the step whose widget is marked, and the widget's value in the newest frame.
    struct {
        std::string lesson;
        std::size_t step = 0;
        std::string value;
    } marked_;
};

}  // namespace warpscope::ui
