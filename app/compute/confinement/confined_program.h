#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/programs/run_command.h"

namespace warpscope::compute {

/// Calls `work` on a thread of its own, which is confined with all processes that it starts. They
/// write files only below `writable`, open no socket, and reach only processes that descend from
/// this one. They change permissions only there, no owners and times of files, and nothing of the
/// system. They may read files and start programs. Returns what was refused to them, in order, each
/// once: "connecting to a network", "writing /home/x/y".
///
/// Throws what `work` throws, and std::runtime_error where the kernel can't confine a thread.
std::vector<std::string> run_confined(const std::vector<std::filesystem::path>& writable,
                                      const std::function<void()>& work);

/// compiler::run_command(), confined: it writes only below `folder`.
compiler::Ended run_confined_command(std::vector<std::string> command,
                                     const std::filesystem::path& folder,
                                     const std::stop_token& stop = {});

}  // namespace warpscope::compute
