#include "compiler/target.h"

#include <algorithm>

namespace warpscope::compiler {

unsigned target_of(std::string_view source) {
    unsigned target = 75;
    const auto note = [&](unsigned capability, std::string_view word) {
        if (source.find(word) != source.npos) target = std::max(target, capability);
    };
#define TARGET_WORD(capability, word) note(capability, word);
#include "compiler/target_words.def"
#undef TARGET_WORD
    return target;
}

}  // namespace warpscope::compiler
