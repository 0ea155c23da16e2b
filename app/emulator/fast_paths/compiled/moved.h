#pragma once

#include "emulator/program/access_form.h"
#include "emulator/program/instruction.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

inline bool accesses_shared(const Instruction& i) {
    return AccessForm(i.target).space == Space::shared;
}

/// The data that an access moves for one lane. Four bytes that are stored as a vector (uchar4) move
/// as one word.
struct Moved {
    explicit Moved(const Instruction& i) {
        const AccessForm form(i.target);
        is_pixel = form.bytes == 1;
        elements = is_pixel ? 1 : form.elements;
        bytes = is_pixel ? 4 : form.bytes;
    }
    unsigned total() const { return bytes * elements; }
    unsigned bits() const { return bytes * 8; }

    bool is_pixel;
    unsigned elements, bytes;
};

}  // namespace warpscope::emulator
