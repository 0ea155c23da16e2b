#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace warpscope::jobs {

/// Runs a command line, prints what such a run prints, and returns its exit code.
using Answering = std::function<int(const std::vector<std::string>& arguments)>;

/// Answers requests until the input ends. A request is a line with a JSON array of the arguments of
/// a run. Behind what the run has printed, standard output gets a line with its exit code: "exit
/// 0". A line that is no such array has the exit code 2. Throws what print() throws.
void serve(std::istream& requests, const Answering& answer);

/// Runs as a helper process: serves the socket `fd` until its other end is closed, and returns the
/// exit code. Throws UsageError if `fd` is not a socket: only the app starts helper processes.
int run_helper(int fd);

}  // namespace warpscope::jobs
