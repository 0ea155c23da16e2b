#pragma once

#include <cfenv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/handlers/handlers.h"
#include "emulator/handlers/lane_operations.h"
#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

// Where a symbol lies: a host address for .global and .const, an offset for the other spaces.
struct Symbol {
    Space space = Space::global;
    std::uint64_t address = 0;
};

// Hands out slots of the register file. Vectors get offsets of their own until finish() puts them
// behind the uniform slots.
class RegisterFile {
  public:
    static constexpr std::uint32_t vector_flag = 1u << 31;

    std::uint32_t uniform(std::uint32_t bytes = 8);
    std::uint32_t vector(unsigned bits);
    std::uint32_t constant(std::uint64_t value);
    std::uint32_t special(Special special);

    // Final operand of a slot handed out before.
    std::uint32_t final_operand(std::uint32_t operand) const;
    void finish(Kernel& kernel) const;

  private:
    std::uint32_t uniform_bytes_ = 8;  // 0 means "no operand"
    std::uint32_t vector_bytes_ = 0;
    std::map<std::uint64_t, std::uint32_t> constants_;
    std::map<Special, std::uint32_t> specials_;
};

Special special_named(std::string_view name);  // Special::none when unknown or a clock
bool varies_by_lane(Special special);

// The modifiers of a statement, crossed off as the decoder understands them.
class Modifiers {
  public:
    explicit Modifiers(const Statement& s) : left_(s.modifiers.begin(), s.modifiers.end()) {}
    bool take(std::string_view name);
    std::optional<Type> take_type();  // the first one that is a type
    const std::vector<std::string_view>& left() const { return left_; }

  private:
    std::vector<std::string_view> left_;
};

// Turns one kernel's syntax into instructions.
class Decoder {
  public:
    Decoder(const Module& module, const std::map<std::string, Symbol>& symbols,
            KernelSyntax syntax);
    std::unique_ptr<Kernel> decode();

  private:
    // --- decoder.cpp: layout, operands, emission
    void place_variables();
    void find_aliases();
    std::optional<std::uint32_t> invariant(const Statement& s);
    void allocate_registers();
    void decode_blocks();
    void decode_statement(const Statement& s);
    void resolve_branches();
    void finish_operands();
    void finish_events();

    struct Emission {
        Handler full = nullptr;
        Handler masked = nullptr;  // nullptr: the same
        std::vector<std::uint32_t> operands;
        std::int64_t immediate = 0;
        std::uint32_t target = 0;
        std::uint16_t detail = 0;
        bool checkpoint = false;  // subtracts its cost: see Warp::checkpoint
        MemoryAccess access = MemoryAccess::none;
        Space space = Space::generic;
        std::uint8_t bytes = 0;
        std::uint8_t address_operand = 0;
        bool barrier = false;
        Role role = Role::operation;
    };
    void emit(const Emission& e);
    void emit_raw(const Emission& e, bool pseudo);
    static std::uint8_t events_of(const Emission& e);
    void emit_float_mode();
    // A value into `destination` (a register operand), for all lanes or masked as it needs.
    void emit_value(Handler handler, std::uint32_t destination, unsigned bits,
                    std::vector<std::uint32_t> sources, std::uint16_t detail = 0,
                    std::int64_t immediate = 0);
    void emit_predicate(Handler handler, std::uint32_t destination,
                        std::vector<std::uint32_t> sources);
    void emit_vector_op(VectorOp op, Handler fallback, const Statement& s, Type result,
                        std::vector<std::uint32_t> operands);

    // --- decode_operands.cpp
    // 0 for the sink, where the opcode may have one.
    std::uint32_t destination(const Operand& o);
    std::uint32_t source(const Operand& o, Type type);
    std::uint32_t predicate_source(const Operand& o);
    std::uint32_t new_predicate() { return file_.uniform(); }
    unsigned register_bits(const Operand& o) const;
    // Fails for a register that is narrower than what is read from it or written to it, and so
    // would let that reach into the next one, and for a predicate in a number's place or the
    // reverse.
    void check_width(const Operand& o, Type type) const;
    Symbol symbol(const Operand& o) const;
    [[noreturn]] void fail(const std::string& what) const;
    void expect_operands(const Statement& s, size_t count) const;
    void finish(const Modifiers& m) const;

    // --- decode_arithmetic.cpp
    bool decode_arithmetic(const Statement& s);
    void decode_integer(const Statement& s, Modifiers& m, Type type);
    void decode_float(const Statement& s, Modifiers& m, Type type);
    void decode_mov(const Statement& s);
    void decode_cvt(const Statement& s);
    void decode_cvta(const Statement& s);
    void decode_setp(const Statement& s);
    void decode_set(const Statement& s);
    void decode_selp(const Statement& s);
    void decode_lop3(const Statement& s);
    void decode_predicate_logic(const Statement& s);
    void decode_testp(const Statement& s);
    std::uint32_t emit_comparison(Modifiers& m, std::uint32_t into, const Operand& a,
                                  const Operand& b);
    void decode_setp_halves(const Statement& s, Modifiers& m);
    void decode_set_halves(const Statement& s, Modifiers& m);

    // --- decode_extended.cpp
    bool decode_extended(const Statement& s);
    void decode_half(const Statement& s, Modifiers& m, Type type);
    void decode_carry(const Statement& s);
    void decode_dot_product(const Statement& s);
    void decode_absolute_difference(const Statement& s);
    void decode_space_test(const Statement& s);

    // --- decode_memory.cpp
    bool decode_memory(const Statement& s);
    void decode_load(const Statement& s);
    void decode_store(const Statement& s);
    void decode_atomic(const Statement& s);
    struct Address {
        std::uint32_t operand = 0;
        std::int64_t offset = 0;
        bool wide = false;
        bool uniform = false;
    };
    Address address(const Operand& o, Space& space);
    Space take_space(Modifiers& m);
    void take_cache_hints(Modifiers& m);

    // --- decode_control.cpp
    bool decode_control(const Statement& s);
    void decode_branch(const Statement& s);
    void decode_barrier(const Statement& s);
    bool decode_warp(const Statement& s);
    void decode_shuffle(const Statement& s);
    void decode_vote(const Statement& s);
    void decode_match(const Statement& s);

    const Module& module_;
    const std::map<std::string, Symbol>& module_symbols_;
    std::map<std::string, Symbol> symbols_;  // of this kernel
    KernelSyntax syntax_;
    ControlFlow flow_;
    Uniformity uniformity_;
    std::unique_ptr<Kernel> kernel_;
    RegisterFile file_;
    std::vector<std::uint32_t> slots_;                   // by register
    std::vector<std::optional<std::uint32_t>> aliases_;  // registers that only rename a constant
    std::vector<bool> read_;                             // by register: some statement reads it
    std::vector<bool> dropped_;                          // by statement: its alias stands for it
    std::vector<std::uint32_t> block_start_;             // by block: index into code
    struct Fixup {
        std::uint32_t code, target_block, join_block;
    };
    std::vector<Fixup> fixups_;
    const Statement* current_ = nullptr;
    bool first_of_statement_ = true;
    bool keep_subnormals_ = false;
    int rounding_ = FE_TONEAREST;
    std::uint32_t carry_ = 0;  // slot of CC.CF; 0: not used so far
    std::uint32_t pending_cost_ = 0;
};

}  // namespace warpscope::emulator
