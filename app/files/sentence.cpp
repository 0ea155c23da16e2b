#include "files/sentence.h"

#include <fmt/args.h>

namespace warpscope::files {

std::string Sentence::english() const {
    if (values_.empty()) return words_;
    fmt::dynamic_format_arg_store<fmt::format_context> store;
    for (const Sentence& value : values_) store.push_back(value.english());
    return fmt::vformat(words_, store);
}

Sentence& Sentence::add(Sentence next, std::string_view between) {
    if (next.empty()) return *this;
    if (empty()) return *this = std::move(next);
    return *this = {fmt::format("{{}}{}{{}}", between), {std::move(*this), std::move(next)}};
}

}  // namespace warpscope::files
