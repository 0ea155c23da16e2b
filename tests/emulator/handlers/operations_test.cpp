#include "emulator/handlers/operations.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "emulator/ptx/opcodes.h"

// The table of meanings, operations.def, and the table of opcodes, opcodes.def, must agree.
namespace warpscope::emulator {
namespace {

using Widths = std::vector<unsigned>;

template <unsigned sources, class Types>
const Widths* widths_of() {
    static const Widths widths = [] {
        Widths found = {8 * sizeof(typename Types::R), 8 * sizeof(typename Types::A)};
        if constexpr (sources > 1) found.push_back(8 * sizeof(typename Types::B));
        if constexpr (sources > 2) found.push_back(8 * sizeof(typename Types::C));
        if constexpr (sources > 3) found.push_back(8 * sizeof(typename Types::D));
        return found;
    }();
    return &widths;
}

template <unsigned sources, template <typename> class Operands, TypeSet set>
const Widths* widths_for(Type type) {
    return with_type<set>(
        type, []<typename T>() -> const Widths* { return widths_of<sources, Operands<T>>(); });
}

struct Row {
    unsigned sources;
    TypeSet types, simd, compiled;
    /// The widths of the result and the sources; nullptr for a type that is not one of `types`.
    const Widths* (*widths)(Type);
};

std::multimap<Operation, Row> rows() {
    using namespace types;
    return {
#define OPERATION(sources, operation, operand_types, types, simd, compiled, ...) \
    {Operation::operation,                                                       \
     {sources, types, simd, compiled, widths_for<sources, operands::operand_types, types>}},
#define FLUSHING(...)
#include "emulator/handlers/operations.def"
    };
}

TEST(Operations, EveryArithmeticOpcodeHasOneRowWithItsSources) {
    const auto all = rows();
    for (const Opcode& opcode : opcode_table()) {
        SCOPED_TRACE(opcode.spelling);
        // mad of floats is decoded as fma. min and max of floats have a row, and a decoder of their
        // own for their modifiers.
        const bool is_extremum =
            opcode.operation == Operation::fmin || opcode.operation == Operation::fmax;
        const bool has_row = is_extremum || (opcode.grammar == Grammar::arithmetic &&
                                             opcode.operation != Operation::fmad);
        ASSERT_EQ(all.count(opcode.operation), has_row ? 1u : 0u);
        if (!has_row) continue;
        EXPECT_EQ(all.find(opcode.operation)->second.sources, opcode.operands.least - 1u);
    }
}

TEST(Operations, OperandsHaveTheWidthsOfTheirOpcodes) {
    for (const auto& [operation, row] : rows()) {
        const Opcode& opcode = opcode_of(operation);
        for (unsigned t = 0; t <= unsigned(Type::tf32); ++t) {
            const Type type{std::uint8_t(t)};
            SCOPED_TRACE(testing::Message() << opcode.spelling << " of " << name_of(type));
            const Widths* widths = row.widths(type);
            ASSERT_EQ(widths != nullptr, contains(row.types, type));
            if (!widths) continue;
            for (unsigned k = 0; k < widths->size(); ++k) {
                const OperandRole& role = opcode.operands.roles[k];
                const unsigned expected = role.value == OperandRole::Value::own ? bits_of(role.own)
                                          : role.value == OperandRole::Value::wide
                                              ? 2 * bits_of(type)
                                              : bits_of(type);
                EXPECT_EQ((*widths)[k], expected) << "operand " << k;
            }
        }
    }
}

TEST(Operations, OnlyTypesOfAnOperationAreSimdOrCompiled) {
    for (const auto& [operation, row] : rows()) {
        SCOPED_TRACE(opcode_of(operation).spelling);
        EXPECT_EQ(row.simd & ~row.types, 0u);
        EXPECT_EQ(row.compiled & ~(row.types | types::pred), 0u);
    }
}

}  // namespace
}  // namespace warpscope::emulator
