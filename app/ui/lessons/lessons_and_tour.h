#pragma once

#include <map>
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
    /// `covered` by a popup or a list, and notes which widgets of the steps are used. Call it when
    /// all widgets of the frame were drawn.
    void draw_mark(Ui& ui, bool covered);

  private:
    void draw_list(Ui& ui);
    void draw_lesson(Ui& ui);
    void draw_steps(Ui& ui);
    void draw_gate(Ui& ui);
    void draw_evidence(Ui& ui);
    void draw_buttons(Ui& ui);
    bool is_switched(const Widget& widget);
    void follow_steps(Ui& ui, bool covered);

    LessonBook& book_;
    std::map<std::string, std::string> values_;  ///< of widgets that steps switch
};

}  // namespace warpscope::ui
