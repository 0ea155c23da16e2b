#pragma once

#include <cstdint>
#include <string>

#include "emulator/stepper/recent_registers.h"
#include "emulator/stepper/stepper.h"
#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The state of a warp: "at line 76", "waits at the barrier, line 68", "split: 12 lanes at line 70,
/// 20 lanes wait to join, line 74", "waits for the mbarrier at byte 64, line 7", "has ended". With
/// `whole` false, in short form: "waits, line 68", "split: 70, 74".
std::string warp_words(const emulator::Stepper& stepper, std::uint32_t warp, bool whole);
/// What a warp waits for: "at the barrier", "for the mbarrier at byte 64".
std::string words_for(const emulator::BarrierWait& wait);

/// Whether the warp has lanes that can run.
bool can_run(const emulator::WarpView& view);

/// Every warp of the microscope's block: its state in words, its lanes, and a button that steps it.
class WarpsPanel {
  public:
    explicit WarpsPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
    std::uint64_t drawn_version_ = 0;  ///< Microscope::version() that was drawn last
};

/// The registers that the picked lane has written, newest first.
class RegistersPanel {
  public:
    explicit RegistersPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
    std::uint64_t writes_copy_ = 0;  ///< Microscope::copy() that writes_ belongs to
    emulator::RegisterWrites writes_;
};

}  // namespace warpscope::ui
