#pragma once

#include <optional>

#include "compiler/signature.h"
#include "experiments/arrays/array.h"

namespace warpscope::experiments {

/// The element type of a number of CUDA C++. nullopt for pointers, structs and arrays.
std::optional<ElementType> number_type(const compiler::Type& type);

/// True if all members are at one place.
bool is_union(const compiler::Type& type);

}  // namespace warpscope::experiments
