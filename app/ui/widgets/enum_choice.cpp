#include "ui/widgets/enum_choice.h"

namespace warpscope::ui {

std::string barrier_policy_help() {
    return "The threads for which a barrier of the emulator waits. Volta and later: every thread "
           "that "
           "has not exited. Before Volta: one arrival of a warp counts for all its lanes. Strict "
           "PTX "
           "ISA: as Volta, but lanes that arrive without the rest of their warp are an error.";
}

}  // namespace warpscope::ui
