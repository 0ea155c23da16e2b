#include "complaint.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "experiments/bodies/bodies_file.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope {

int complain(std::string text, int code) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    jobs::print_error(fmt::format("warpscope: {}\n", text));
    return code;
}

bool is_of_caller(const std::exception& e) {
    return dynamic_cast<const std::invalid_argument*>(&e) ||
           dynamic_cast<const experiments::BodiesFileError*>(&e);
}

}  // namespace warpscope
