#pragma once

#include <string>

#include "jobs/output/json.h"

namespace warpscope::jobs {

/// Every experiment of the registry with its parameters: type, range, default and help, in lines
/// of at most 100 columns.
std::string list_text();
/// {experiments: [{id, title, summary, parameters: [{id, label, type, range, default, help}]}]};
/// a parameter's id is what --set takes: "ripple.sync".
Json list_json();

/// --list: prints the text, or the JSON if `json` names a file ("-" is standard output).
int run_list(const std::string& json);

}  // namespace warpscope::jobs
