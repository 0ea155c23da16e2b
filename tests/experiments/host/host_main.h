#pragma once

#include <string>
#include <vector>

#include "experiments/host/host_program.h"
#include "experiments/host/host_values.h"

namespace warpscope::experiments {

using Texts = std::vector<std::string>;

/// The values of texts of a program; "?" where it does not say them.
inline std::string value(const HostProgram& program, const std::string& text) {
    const auto number = HostValues(program).number(text);
    return number ? to_string(*number) : "?";
}

inline Texts values(const HostProgram& program, const Texts& all) {
    Texts found;
    for (const std::string& text : all) found.push_back(value(program, text));
    return found;
}

inline HostProgram main_with(const std::string& statements, const std::string& before = "") {
    return read_host_program(before + "\nint main(int argc, char** argv) {\n" + statements + "\n}");
}

}  // namespace warpscope::experiments
