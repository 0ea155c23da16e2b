#pragma once

#include <cstddef>
#include <optional>

#include "compiler/signature.h"
#include "launches/arrays/array.h"

// What the types of a source are as elements of buffers and arguments of launches.
namespace warpscope::launches {

/// Returns the type of a number. nullopt for pointers, structs and arrays.
std::optional<ElementType> number_type(const compiler::Type& type);
/// Returns the type of what a pointer points at: a number, or two to four of one type as in float4.
std::optional<ElementType> element_type(const compiler::Type& type);

/// The numbers of a struct: those of its members if they are of one type, else its bytes.
struct Row {
    ElementType number;
    std::size_t count = 0;
};
std::optional<Row> row_of(const compiler::Type& type);

bool is_function_pointer(const compiler::Type& type);
bool is_union(const compiler::Type& type);  ///< all members are at one place
bool is_image(const compiler::Type& type);  ///< the handle of a texture or a surface
bool is_surface(const compiler::Type& type);

}  // namespace warpscope::launches
