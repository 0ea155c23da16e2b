#pragma once

#include <functional>
#include <memory>

#include "options.h"

namespace warpscope {

namespace compute {
class Processes;
}
using SharedProcesses = std::shared_ptr<compute::Processes>;

/// Throws UsageError if mpirun has started several processes and the options ask for something that
/// only one process can do.
void check_processes(const Options& options);

/// Calls `work` with the processes that mpirun has started; with nullptr where there is only one.
/// Process 0 works and then ends the others, which do what it tells them. Returns the exit code.
int run_with_processes(const Options& options,
                       const std::function<int(const SharedProcesses&)>& work);

}  // namespace warpscope
