#pragma once

#include <stop_token>
#include <string>

#include "files/sentence.h"
#include "launches/arrays/expression.h"

namespace warpscope::experiments {

/// What a checked run of a program has shown.
struct ProgramEvidence {
    launches::Names numbers;  ///< for a gate; empty: the program did not run
    files::Sentence said;  ///< the first finding, or why it did not run; empty: nothing was found
};

/// Compiles a source with a main() and runs it under the checks, confined, for at most 20 s, in
/// processes of this program. `name` is that of its file.
ProgramEvidence run_program(const std::string& name, const std::string& text,
                            const std::stop_token& stop = {});

}  // namespace warpscope::experiments
