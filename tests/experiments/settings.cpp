#include "settings.h"

#include <fstream>
#include <sstream>

#include "compute/device/kernel_files.h"

namespace warpscope::tests {

std::string ptx_without(std::string_view file, std::string_view instruction) {
    std::istringstream lines{std::string(compute::kernel_ptx(file, compute::Math::precise))};
    std::string kept, line;
    while (std::getline(lines, line))
        if (line.find(instruction) == std::string::npos) kept += line + '\n';
    return kept;
}

std::string source_line(const std::string& file, int number) {
    std::ifstream source(WARPSCOPE_SOURCE_DIR "/kernels/" + file);
    std::string line;
    for (int i = 0; i < number; ++i) std::getline(source, line);
    return line;
}

}  // namespace warpscope::tests
