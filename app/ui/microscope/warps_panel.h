#pragma once

#include <cstdint>

#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Every warp of the microscope's block: its state in words, its lanes, and a button that steps it.
class WarpsPanel {
  public:
    explicit WarpsPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
    std::uint64_t drawn_version_ = 0;  ///< Microscope::version() that was drawn last
};

}  // namespace warpscope::ui
