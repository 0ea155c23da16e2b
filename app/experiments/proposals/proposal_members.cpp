#include <fmt/format.h>

#include "experiments/launch_files/element_types.h"
#include "experiments/proposals/proposal.h"

// The members of structures that a kernel gets by value.
namespace warpscope::experiments {

using compiler::KernelParameter;

/// `object`: of the host program, which has the members.
ArgumentSpec Proposal::members(const std::string& name, const Type& type,
                               const std::optional<std::string>& object) {
    ArgumentSpec argument;
    for (const compiler::Member& member : type.members) {
        if (is_union(type) && &member != type.members.data()) break;  // it gets one of its members
        const std::string own = name + "_" + member.name;
        const auto index = std::size_t(&member - type.members.data());
        const auto text =
            object ? std::optional(member_of(program_, *object, index, member.name)) : std::nullopt;
        argument.members.emplace_back(member.name, this->member(own, member.type, text));
    }
    return argument;
}

/// The elements of an array in a structure. Numbers of which the host program says none have one
/// value, and no elements.
ArgumentSpec Proposal::elements(const std::string& name, const Type& type,
                                const std::optional<std::string>& text) {
    constexpr std::size_t most = 64;
    const Type::Kind kind = type.target->kind;
    const bool of_pointers = kind == Type::Kind::pointer;
    const auto element = [&](std::size_t k) {
        if (!text) return text;
        return std::optional(of_pointers ? fmt::format("{} [ {} ]", *text, k)
                                         : fmt::format("{}$at{}", *text, k));
    };
    bool known = of_pointers || kind == Type::Kind::structure;
    for (std::size_t k = 0; k < type.count && text && !known; ++k)
        known = values_.expression(*element(k)).has_value();
    ArgumentSpec array;
    for (std::size_t k = 0; k < type.count && known && type.count <= most; ++k)
        array.elements.push_back(member(fmt::format("{}_{}", name, k), type.target, element(k)));
    return array;
}

ArgumentSpec Proposal::member(const std::string& name, const std::shared_ptr<const Type>& type,
                              const std::optional<std::string>& text) {
    if (type->kind == Type::Kind::structure) return members(name, *type, text);
    if (type->kind == Type::Kind::pointer)
        return pointer({name, type}, text,
                       {.reads = type->target_is_const || members_use_.reads,
                        .writes = !type->target_is_const,
                        .steers = members_use_.steers});
    if (type->kind == Type::Kind::array && type->target)
        if (ArgumentSpec array = elements(name, *type, text); !array.elements.empty()) return array;
    if (const auto known = members_.find(name); known != members_.end())
        return {.text = known->second};
    const KernelParameter number{name, type->kind == Type::Kind::bit_field ? type->target : type};
    return {.text = text ? number_text(number, *text) : guessed_number(number)};
}

}  // namespace warpscope::experiments
