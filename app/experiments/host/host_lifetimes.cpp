#include <algorithm>
#include <utility>

#include "experiments/host/host_functions.h"

// The ends of objects: their destructors may free memory.
namespace warpscope::experiments {

std::string HostFunctions::walk_block(std::size_t open, std::size_t end, const Body* function) {
    const std::size_t first = locals_.size(), shadowed = shadowed_.size();
    walk(open + 1, end - 1);
    std::string result = function ? returned(*function) : "";
    for (; locals_.size() > first; locals_.pop_back()) {
        const Local local = locals_.back();
        destroy(local.object, local.word, {open, end});
    }
    end_shadows(shadowed);
    return result;
}

/// What one of the statements returns, moves, or passes to code that is not followed may live on.
bool HostFunctions::may_be_moved(std::string_view word, TokenRange block) const {
    for (std::size_t t = block.first; t < block.second; ++t) {
        if (text_.is(t, "return") && text_.is(t + 1, word) && text_.is(t + 2, ";")) return true;
        if (!text_.is(t, "(") || t == 0 || !text_.is_word(t - 1) || text_.is(t - 1, word)) continue;
        const bool is_known =
            bodies_.contains(at(t - 1)) || is_known_call(t - 1) || classes_.contains(at(t - 1));
        const std::size_t after = text_.after_closing(t).value_or(t);
        for (std::size_t k = t + 1; k + 1 < after && !is_known; ++k)
            if (text_.is(k, word) && !text_.is(k + 1, ".") && !text_.is(k - 1, ".")) return true;
    }
    return false;
}

void HostFunctions::destroy(const std::string& object, std::string_view word, TokenRange block) {
    const auto found = objects_.find(object);
    if (found == objects_.end() || depth_ > deepest_call || may_be_moved(word, block)) return;
    const auto destructor = found->second.type->methods.find("~");
    if (destructor == found->second.type->methods.end()) return;
    const Scope before = std::exchange(scope_, found->second.scope);
    ++depth_;
    walk(destructor->second.open + 1, destructor->second.end - 1);
    --depth_;
    scope_ = before;
}

/// A parameter that is passed by value is a copy, which ends with the call. A class without a copy
/// constructor copies pointers, so that its destructor frees the memory of what was passed.
void HostFunctions::destroy_parameters(const Body& body, const Texts& given) {
    for (std::size_t p = 0; p < given.size() && p < body.declarations.size(); ++p) {
        const auto found = objects_.find(given[p]);
        const Passing passing = passing_of(body, p);
        const bool is_value = passing.is_named && !passing.by_reference && !passing.by_pointer;
        if (found == objects_.end() || !is_value) continue;
        const Class& type = *found->second.type;
        const auto [first, last] = type.methods.equal_range(type.name);
        const bool copies = std::any_of(first, last, [&](const auto& method) {
            const auto& declarations = method.second.declarations;
            std::size_t t = declarations.empty() ? method.second.open : declarations[0];
            while (t < method.second.open && !text_.is(t, "&")) ++t;
            return declarations.size() == 1 && text_.is(t, "&") && !text_.is(t + 1, "&");
        });
        if (!copies) destroy(given[p], body.parameters[p], {body.open, body.end});
    }
}

}  // namespace warpscope::experiments
