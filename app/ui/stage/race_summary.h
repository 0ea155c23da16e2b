#pragma once

#include <cstddef>
#include <string>

#include "ui/stage/inspector.h"

namespace warpscope::ui {

/// The result of the checks of the launch on show, as a chip and as a sentence. It comes from the
/// checks alone: a race may leave the picture right.
struct RaceSummary {
    enum class State {
        unknown,  ///< not checked, or about to be
        clean,
        warning,  ///< findings, none of them an error
        race,
        error,  ///< no race, but threads that miss a barrier, or reads of memory that no thread
                ///< wrote
        failed  ///< the launch could not be checked, or ended with an error
    };
    State state = State::unknown;
    std::string chip;      ///< "race: 256 hazards a block", "no race found", "checking…"
    std::string brief;     ///< the chip where there is little room: "race", "no race"
    std::string sentence;  ///< says how many blocks were checked
    std::size_t findings = 0;
    bool checking = false;  ///< the findings are of an earlier state; new ones will follow
};

/// An error, or a race in which a thread reads: its result may be wrong.
bool spoils_results(const emulator::Finding& finding);

RaceSummary summarize(const Checks& checks);

}  // namespace warpscope::ui
