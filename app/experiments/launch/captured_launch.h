#pragma once

#include <span>

#include "compiler/signature.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// Returns the file with the arguments of captured launches as a person writes them, which needs
/// the types of the parameters: buffers get the names of the parameters that they are passed to,
/// and variables that the source does not have are left out. Throws LaunchError for other types
/// than those that were captured, for an address of no buffer, and for infinite numbers, which
/// launch files cannot have.
launches::LaunchFile with_named_arguments(launches::LaunchFile file,
                                          std::span<const compiler::Signature> signatures,
                                          std::span<const compiler::ModuleVariable> variables);

}  // namespace warpscope::experiments
