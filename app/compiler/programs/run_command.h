#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compiler {

/// How a command has ended.
struct Ended {
    int status = 0;      ///< of waitpid()
    std::string output;  ///< what it has printed, on standard output and standard error

    bool done() const { return status == 0; }
};

/// Runs a program, which is searched for in PATH, with its arguments, in a process group of its own
/// and with nothing to read, and waits for its end. Then all that is left of its group ends. A stop
/// ends the group; a process that ignores that for two seconds is killed. Throws std::system_error
/// where the program can't be started. With a stop, `tell` gets what the command prints as it does.
Ended run_command(std::vector<std::string> command, const std::stop_token& stop = {},
                  const std::function<void(std::string_view printed)>& tell = {});

}  // namespace warpscope::compiler
