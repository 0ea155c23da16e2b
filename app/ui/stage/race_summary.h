#pragma once

#include <cstddef>
#include <string>

#include "ui/stage/inspector.h"

namespace warpscope::ui {

/// What the checks say of the launch on show, in a chip and in a sentence. It never comes from the
/// picture: a race that happened to end well is one too.
struct RaceSummary {
    enum class State {
        unknown,  ///< not looked at, or about to be
        clean,
        warning,  ///< findings, none of them an error
        race,
        error,  ///< no race, but threads that don't reach a barrier, or reads of unwritten words
        failed  ///< the launch could not be looked at, or can't go on
    };
    State state = State::unknown;
    std::string chip;      ///< "race: 256 hazards a block", "no race found", "checking…"
    std::string sentence;  ///< with how much was looked at
    std::size_t findings = 0;
    bool checking = false;  ///< new results are on their way; the findings are the ones before
};

RaceSummary summarize(const Inspector& inspector);

}  // namespace warpscope::ui
