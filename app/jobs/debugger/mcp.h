#pragma once

#include <istream>

namespace warpscope::jobs {

/// Serves an agent: answers the requests of the Model Context Protocol, one a line, on standard
/// output, until the input ends. Returns the exit code. Source: MCP specification 2025-06-18.
int run_mcp(std::istream& requests);

}  // namespace warpscope::jobs
