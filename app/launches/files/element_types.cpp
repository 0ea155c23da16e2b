#include "launches/files/element_types.h"

#include <algorithm>

namespace warpscope::launches {

using compiler::Type;

std::optional<ElementType> number_type(const Type& type) {
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

std::optional<ElementType> element_type(const Type& type) {
    if (auto number = number_type(type)) return number;
    if (type.kind != Type::Kind::structure || type.members.size() < 2 || type.members.size() > 4)
        return std::nullopt;
    auto lane = number_type(*type.members[0].type);
    for (std::size_t i = 0; lane && i < type.members.size(); ++i)
        if (number_type(*type.members[i].type) != lane || type.members[i].offset != i * lane->bytes)
            return std::nullopt;
    if (!lane || type.bytes != type.members.size() * lane->bytes) return std::nullopt;
    lane->lanes = unsigned(type.members.size());
    return lane;
}

std::optional<Row> row_of(const Type& type) {
    if (const auto number = number_type(type)) return Row{*number, 1};
    if (type.kind == Type::Kind::array && type.target) {
        auto row = row_of(*type.target);
        if (row) row->count *= type.count;
        return row;
    }
    if (type.kind != Type::Kind::structure || type.bytes == 0 || type.members.empty())
        return std::nullopt;
    std::optional<ElementType> number;
    for (const compiler::Member& member : type.members) {
        const auto row = row_of(*member.type);
        const bool fits =
            row && (!number || row->number == *number) && member.offset % row->number.bytes == 0;
        if (!fits) return Row{{ElementKind::unsigned_integer, 1}, type.bytes};
        number = row->number;
    }
    return Row{*number, type.bytes / number->bytes};
}

bool is_function_pointer(const Type& type) {
    return type.kind == Type::Kind::pointer && type.target &&
           type.target->kind == Type::Kind::function;
}

bool is_union(const Type& type) {
    return type.members.size() > 1 &&
           std::ranges::all_of(type.members, [](const compiler::Member& member) {
               return member.offset == 0 && member.type->first_bit == 0;
           });
}

bool is_surface(const Type& type) {
    return type.name.find("SurfaceObject") != std::string::npos;
}

bool is_image(const Type& type) {
    return type.name.find("TextureObject") != std::string::npos || is_surface(type);
}

}  // namespace warpscope::launches
