#pragma once

#include <string>
#include <vector>

namespace warpscope::programs {

/// Links PTX texts of nvcc -rdc=true to one text. Declarations give way to the definitions of other
/// texts; the first of several weak definitions stays; names that a text keeps to itself get a
/// suffix where an earlier text has the name too; files get numbers of their own. Throws CallError
/// if two texts define one visible name.
std::string link_ptx(const std::vector<std::string>& texts);

}  // namespace warpscope::programs
