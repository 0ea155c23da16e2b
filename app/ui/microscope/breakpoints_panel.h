#pragma once

#include <cstddef>
#include <string>

#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The breakpoints and watchpoints of the microscope: a row for each, the buttons that run to them,
/// and the fields that add one.
class BreakpointsPanel {
  public:
    explicit BreakpointsPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    void head(Ui& ui);
    void adding(Ui& ui);
    void point_row(Ui& ui, std::size_t index);
    void watch_row(Ui& ui, std::size_t index);
    template <class Number>
    void number_field(Ui& ui, const std::string& id, std::optional<Number>& number, Number end,
                      const char* label);
    void complaint_at(Ui& ui, const std::string& id);
    void add_line(const std::string& typed);
    void add_word(const std::string& typed);

    Microscope& microscope_;
    bool global_ = false;    ///< the field of the words takes global addresses
    std::string field_;      ///< the field whose text was wrong
    std::string complaint_;  ///< why it was wrong
};

}  // namespace warpscope::ui
