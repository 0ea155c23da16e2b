#include "experiments/launch_files/number_types.h"

#include <algorithm>

namespace warpscope::experiments {

std::optional<ElementType> number_type(const compiler::Type& type) {
    using compiler::Type;
    const auto bytes = unsigned(type.bytes);
    switch (type.kind) {
        case Type::Kind::boolean:
            return ElementType{ElementKind::boolean, 1};
        case Type::Kind::character:
        case Type::Kind::signed_integer:
            return ElementType{ElementKind::signed_integer, bytes};
        case Type::Kind::unsigned_integer:
        case Type::Kind::enumeration:
            return ElementType{ElementKind::unsigned_integer, bytes};
        case Type::Kind::floating:
            if (type.canonical == "__nv_bfloat16") return ElementType{ElementKind::bfloat, bytes};
            if (bytes > 8) return std::nullopt;
            return ElementType{ElementKind::floating, bytes};
        default:
            return std::nullopt;
    }
}

bool is_union(const compiler::Type& type) {
    return type.members.size() > 1 &&
           std::ranges::all_of(type.members,
                               [](const compiler::Member& member) { return member.offset == 0; });
}

}  // namespace warpscope::experiments
