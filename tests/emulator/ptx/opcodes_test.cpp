#include "emulator/ptx/opcodes.h"

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

std::vector<std::string> words_of(std::string_view spelling) {
    std::vector<std::string> words;
    for (std::size_t dot = spelling.find('.'); dot != spelling.npos;) {
        const std::size_t end = spelling.find('.', dot + 1);
        words.emplace_back(spelling.substr(dot + 1, end - dot - 1));
        dot = end;
    }
    return words;
}

TEST(OpcodeTable, EveryRowIsFoundByItsSpelling) {
    for (const Opcode& row : opcode_table()) {
        if (row.operation == Operation::unknown) continue;
        SCOPED_TRACE(row.spelling);
        std::vector<std::string> modifiers = words_of(row.spelling);
        modifiers.push_back(row.types == TypeList::real ? "f32" : "s32");
        const Opcode& found =
            find_opcode(row.spelling.substr(0, row.spelling.find('.')), modifiers);
        EXPECT_EQ(found.operation, row.operation) << "found " << found.spelling;
        EXPECT_EQ(&opcode_of(row.operation), &row);
    }
}

TEST(OpcodeTable, TypeSelectsBetweenRowsOfOneSpelling) {
    EXPECT_EQ(find_opcode("add", {"s32"}).operation, Operation::add);
    EXPECT_EQ(find_opcode("add", {"ftz", "f32"}).operation, Operation::fadd);
    EXPECT_EQ(find_opcode("mad", {"lo", "cc", "u32"}).operation, Operation::mad_lo_cc);
    EXPECT_EQ(find_opcode("mad", {"rn", "f32"}).operation, Operation::fmad);
}

TEST(OpcodeTable, OperandRolesHaveTheTypesOfThePtxIsa) {
    const OperandRoles& shift = opcode_of(Operation::shl).operands;
    EXPECT_EQ(shift.count, 3);
    EXPECT_TRUE(shift.roles[0].is_destination);
    EXPECT_EQ(shift.roles[1].value, OperandRole::Value::of_instruction);
    EXPECT_EQ(shift.roles[2].value, OperandRole::Value::own);
    EXPECT_EQ(shift.roles[2].own, Type::b32);
    const OperandRoles& wide = opcode_of(Operation::mad_wide).operands;
    EXPECT_EQ(wide.roles[0].value, OperandRole::Value::wide);
    EXPECT_EQ(wide.roles[3].value, OperandRole::Value::wide);
    const OperandRoles& store = opcode_of(Operation::st).operands;
    EXPECT_EQ(store.destinations(), 0);
    const OperandRoles& atomic = opcode_of(Operation::atom).operands;
    EXPECT_EQ(atomic.least, 3);
    EXPECT_EQ(atomic.count, 5);  // a value to compare with, and a cache policy
    EXPECT_TRUE(atomic.roles[0].may_be_sink);
}

TEST(OpcodeTable, UnknownFormsSayWhatTheEmulatorKnows) {
    EXPECT_EQ(why_unknown("frobnicate", {"b32"}), "unknown opcode");
    expect_contains(why_unknown("mul24", {"u32"}), "the emulator knows mul24.lo, mul24.hi");
    expect_contains(why_unknown("shfl", {"idx", "b32"}), "shfl.sync");
    expect_contains(why_unknown("rem", {"f32"}), "rem does not have the type .f32");
}

TEST(OpcodeTable, DecodedInstructionsNameTheirOperationAndTypes) {
    const auto module = Module::parse(
        kernel_text("mul.wide.s32 %rd2, %r0, %r1; cvt.rn.f32.u32 %f1, %r1;"
                    "@%p1 fma.rn.ftz.sat.f32 %f2, %f1, %f1, %f1; st.global.f32 [%rd2], %f2;"),
        "t");
    const Kernel& kernel = *module->find("k");
    // The last one: the statements before the test's own have some of these operations, too.
    const auto find = [&](Operation operation) -> const Instruction& {
        for (std::size_t k = kernel.code.size(); k-- > 0;)
            if (kernel.code[k].operation == operation) return kernel.code[k];
        throw Error("no such instruction");
    };
    EXPECT_EQ(find(Operation::mul_wide).type, Type::s32);
    EXPECT_EQ(find(Operation::cvt).type, Type::f32);
    EXPECT_EQ(find(Operation::cvt).second_type, Type::u32);
    EXPECT_EQ(find(Operation::fma).type, Type::f32);
    EXPECT_EQ(find(Operation::fma).modifiers, Instruction::saturates | Instruction::flushes);
    EXPECT_EQ(find(Operation::mul_wide).modifiers, 0);
    EXPECT_EQ(find(Operation::st).role, Role::operation);
    EXPECT_EQ(find(Operation::ret).role, Role::exit);
    EXPECT_TRUE(is_prefix((&find(Operation::fma) - 1)->role));
}

}  // namespace
}  // namespace warpscope::emulator
