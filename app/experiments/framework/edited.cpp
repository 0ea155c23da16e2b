#include "experiments/framework/edited.h"

namespace warpscope::experiments {

bool edited(const compute::Device& device, std::string_view file) {
    return device.edits().contains(file);
}

Verdict judged(const compute::Device& device, std::string_view file, bool right) {
    if (right) return Verdict::pass;
    return edited(device, file) ? Verdict::finding : Verdict::fail;
}

}  // namespace warpscope::experiments
