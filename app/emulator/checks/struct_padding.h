#pragma once

#include <vector>

namespace warpscope::emulator {

/// Whether the words of an array that nobody has written may be the padding of its structures,
/// behind a member of less alignment than the next one or at their end. `written` has each word of
/// 4 bytes of the array, from its begin.
bool may_be_padding(const std::vector<bool>& written);

}  // namespace warpscope::emulator
