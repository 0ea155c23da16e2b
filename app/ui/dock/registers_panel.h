#pragma once

#include <cstdint>

#include "ui/microscope/microscope.h"
#include "ui/source/recent_registers.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The registers that the picked lane has written, newest first.
class RegistersPanel {
  public:
    explicit RegistersPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
    std::uint64_t writes_copy_ = 0;  ///< Microscope::copy() that writes_ belongs to
    RegisterWrites writes_;
};

}  // namespace warpscope::ui
