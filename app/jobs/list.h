#pragma once

#include <string>

#include "compute/device/device.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// Every experiment of the registry with its parameters: type, range, default and help, in lines
/// of at most 100 columns. The experiments are made on `device`.
std::string list_text(compute::Device& device);
/// {experiments: [{id, title, summary, parameters: [{id, label, type, range, default, help}]}]};
/// a parameter's id is what --set takes: "ripple.sync".
Json list_json(compute::Device& device);

/// --list: prints the text, or the JSON where `json` names a file ("-" is standard output).
int run_list(compute::Device& device, const std::string& json);

}  // namespace warpscope::jobs
