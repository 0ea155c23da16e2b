#pragma once

#include <string_view>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Where a statement of a kernel begins in the PTX text of its module; npos: its line does not have
/// it any more, because the text was changed.
inline std::size_t statement_begin(std::string_view text, const InstructionInfo& info) {
    std::size_t at = 0;
    for (int k = 1; k < info.source.ptx_line; ++k) at = text.find('\n', at) + 1;
    const std::size_t begin = text.find(info.text, at);
    return begin < text.find('\n', at) ? begin : text.npos;
}

}  // namespace warpscope::emulator
