#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/host/host_code.h"
#include "compiler/signature.h"
#include "compute/helper/helpers.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// A source and what the compiler says of it.
struct CompiledLaunch {
    compute::CompiledSource compiled;
    std::vector<compiler::Signature> signatures;
    std::vector<compiler::ModuleVariable> variables;
    std::vector<std::string> templates;  ///< name expressions of those of its kernels
    std::map<std::string, std::string> headers;
    std::vector<compiler::LeftOut> left_out;  ///< of the host code
    std::string unoptimized;  ///< its PTX with debug information; empty: there is none
};

/// Compiles the source of a launch file. `names`: the name expressions of its templates. A captured
/// launch runs the PTX that the program ran. Throws CompileError, NoCompiler, LaunchError.
CompiledLaunch compile_source(compute::Helpers& helpers, const launches::LaunchFile& file,
                              const std::string& source, std::vector<std::string> names,
                              compute::Math math, const std::stop_token& stop);

}  // namespace warpscope::experiments
