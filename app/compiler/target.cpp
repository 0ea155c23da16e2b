#include "compiler/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

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

unsigned target_named_in(std::string_view message) {
    unsigned named = 0;
    for (const unsigned target : targets)
        for (const std::string_view word :
             {"sm_", "SM_", "compute_", "compute capability ", "__CUDA_ARCH__ >= "}) {
            const std::string number = word.ends_with(' ') && word.starts_with("compute")
                                           ? fmt::format("{}.{}", target / 10, target % 10)
                                           : std::to_string(target);
            if (message.find(std::string(word) + number) != message.npos) named = target;
        }
    return named;
}

}  // namespace warpscope::compiler
