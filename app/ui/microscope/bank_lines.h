#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::ui {

/// From a lane to a bank that one of its words lies in.
struct BankLine {
    unsigned lane = 0, bank = 0;
    bool conflict = false;  ///< the bank has to serve several words in this lane's pass
};

/// One shared access of a warp, laid over the banks.
struct BankPicture {
    std::vector<BankLine> lines;            ///< by lane, then by word
    std::array<unsigned, 32> words{};       ///< by bank: the most distinct words in one pass
    std::array<std::uint32_t, 32> lanes{};  ///< by bank: the lanes that it serves
    unsigned degree = 0;                    ///< the largest of `words`
    unsigned passes = 0, least = 0;         ///< taken, and without conflicts
    std::string sentence;                   ///< "8-way conflict: 8 passes where 1 would do"
};

BankPicture bank_picture(const emulator::AccessView& access);

}  // namespace warpscope::ui
