#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A line from a lane to a bank that holds one of the words that the lane accesses.
struct BankLine {
    unsigned lane = 0, bank = 0;
    bool conflict = false;  ///< the bank has to serve several words in the pass of this lane
};

/// One access of a warp to shared memory, seen by its banks.
struct BankPicture {
    std::vector<BankLine> lines;            ///< ordered by lane, then by word
    std::array<unsigned, 32> words{};       ///< for each bank, the most different words in one pass
    std::array<std::uint32_t, 32> lanes{};  ///< for each bank, the mask of the lanes that it serves
    unsigned degree = 0;                    ///< the largest of `words`: n-way conflict
    /// Passes that the access takes, and passes without conflicts.
    unsigned passes = 0, least = 0;
    std::string sentence;  ///< "8-way conflict: 8 passes where 1 would be enough"
};

BankPicture bank_picture(const emulator::AccessView& access);

/// The newest access to shared memory: the lanes of the warp above the 32 banks.
class BanksPanel {
  public:
    explicit BanksPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
};

}  // namespace warpscope::ui
