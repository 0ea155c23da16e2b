#pragma once

#include <cstdint>
#include <optional>

#include "emulator/program/instruction.h"
#include "emulator/program/ptx_type.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

// Operations that have SIMD handlers: what kernels spend their time in. The rest runs lane by lane
// (lane_operations.h).
enum class VectorOp : std::uint8_t {
    none,
    // f32
    add_f32,
    sub_f32,
    mul_f32,
    fma_f32,
    min_f32,
    max_f32,
    neg_f32,
    abs_f32,
    div_f32,
    sqrt_f32,
    rcp_f32,
    rsqrt_f32,
    rsqrt_ftz_f32,
    sin_f32,
    cos_f32,
    ex2_f32,
    lg2_f32,
    tanh_f32,
    // f64
    add_f64,
    sub_f64,
    mul_f64,
    fma_f64,
    // 32-bit integers
    add_b32,
    sub_b32,
    mul_lo_b32,
    mad_lo_b32,
    and_b32,
    or_b32,
    xor_b32,
    not_b32,
    shl_b32,
    shr_u32,
    shr_s32,
    min_u32,
    min_s32,
    max_u32,
    max_s32,
    neg_s32,
    abs_s32,
    // 64-bit integers
    add_b64,
    sub_b64,
    and_b64,
    or_b64,
    xor_b64,
    shl_b64,
    shr_u64,
    mul_wide_u32,
    mul_wide_s32,
    mad_wide_u32,
    mad_wide_s32,
    // moves and conversions
    mov_b32,
    mov_b64,
    selp_b32,
    selp_b64,
    cvt_f32_s32,
    cvt_f32_u32,
    cvt_s32_f32,
    cvt_u32_f32,
    cvt_s32_f32_near,
    cvt_f32_whole,
    cvt_u64_u32,
    cvt_s64_s32,
    cvt_u32_u64,
    // comparisons: the destination is a predicate
    eq_f32,
    ne_f32,
    lt_f32,
    le_f32,
    gt_f32,
    ge_f32,
    equ_f32,
    neu_f32,
    ltu_f32,
    leu_f32,
    gtu_f32,
    geu_f32,
    eq_b32,
    ne_b32,
    lt_u32,
    le_u32,
    gt_u32,
    ge_u32,
    lt_s32,
    le_s32,
    gt_s32,
    ge_s32,
    eq_b64,
    ne_b64,
    lt_u64,
    le_u64,
    gt_u64,
    ge_u64,
    lt_s64,
    le_s64,
    gt_s64,
    ge_s64,
};

// How the operands of an instruction lie in the register file.
struct Shape {
    unsigned uniform_sources = 0;  // bit k: source k is uniform
    bool uniform_result = false;   // then all sources are
};

// The handler for all lanes, or nullptr for an operation that another file has.
Handler float_handler(VectorOp op, Shape shape);
Handler integer_handler(VectorOp op, Shape shape);
Handler convert_handler(VectorOp op, Shape shape);
Handler compare_handler(VectorOp op, Shape shape);

// Loads and stores. Element types as wide as their register; `lanes` is 1, 2 or 4 (.v2, .v4).
struct MemoryShape {
    Space space = Space::generic;
    bool store = false;
    Type type = Type::b32;
    unsigned elements = 1;
    bool uniform_address = false;
    bool wide_address = false;  // the address register has 64 bits
    bool uniform_result = false;
    bool wide_register = false;  // data registers of 64 bits
};

// Fast handlers for the usual shapes when all lanes are active; nullptr for the others.
Handler memory_handler(const MemoryShape& shape);

// Handlers that serve every shape, lane by lane, and honour the mask. Instruction::target holds
// what encode_access() packs; operand Instruction::detail is the address.
std::uint32_t encode_access(const MemoryShape& shape);
const Instruction* any_load(const Instruction* i, Warp& w);
const Instruction* any_store(const Instruction* i, Warp& w);

// Atomics: operand 0 receives the old value (0: none), 1 is the address, 2 and 3 the arguments.
enum class AtomicOp : std::uint8_t { add, min, max, exch, cas, and_, or_, xor_, inc, dec };
Handler atomic_handler(AtomicOp op, Type type);  // nullptr where PTX has no such atomic
std::byte* atomic_target(const Instruction* i, Warp& w, unsigned lane, unsigned bytes);

// Exchanges between lanes. Instruction::detail holds the variant.
enum class ShuffleMode : std::uint8_t { up, down, bfly, idx };
enum class VoteMode : std::uint8_t { all, any, uni, ballot };
enum class ReduceOp : std::uint8_t { add, min_u, min_s, max_u, max_s, and_, or_, xor_ };
const Instruction* shuffle(const Instruction* i, Warp& w);  // d, p or 0, a, b, c, members
const Instruction* vote(const Instruction* i, Warp& w);  // d, predicate, members; target: negated
const Instruction* match_any(const Instruction* i, Warp& w);     // d, a, members; target: bits
const Instruction* match_all(const Instruction* i, Warp& w);     // and p or 0
const Instruction* active_mask(const Instruction* i, Warp& w);   // d
const Instruction* reduce_lanes(const Instruction* i, Warp& w);  // d, a, members

// Control. A barrier's detail is its kind, its immediate whether a warp must execute it as one
// (.aligned), its operands id, thread count or 0, and for a reduction destination and predicate.
const Instruction* branch_always(const Instruction* i, Warp& w);
const Instruction* branch_if(const Instruction* i, Warp& w);
const Instruction* branch_unless(const Instruction* i, Warp& w);
const Instruction* join_point(const Instruction* i, Warp& w);
const Instruction* exit_threads(const Instruction* i, Warp& w);
// Its detail: why, see TrapReason.
const Instruction* trap(const Instruction* i, Warp& w);
enum class TrapReason : std::uint16_t { kernel, stack, callee, target };
const Instruction* barrier(const Instruction* i, Warp& w);
const Instruction* warp_barrier(const Instruction* i, Warp& w);
const Instruction* nothing(const Instruction* i, Warp& w);  // fences, hints
const Instruction* print(const Instruction* i, Warp& w);
const Instruction* assert_fail(const Instruction* i, Warp& w);
const Instruction* read_clock(const Instruction* i, Warp& w);

// Prefixes: each runs the instruction after it, changed.
const Instruction* guard(const Instruction* i, Warp& w);      // @p, operand 0
const Instruction* guard_not(const Instruction* i, Warp& w);  // @!p
// An operation that rounds or treats subnormals unlike the rest: detail flushes, target rounds.
const Instruction* with_float_mode(const Instruction* i, Warp& w);
// for a predicate.
Handler masked_handler(unsigned destination_bits);
const Instruction* masked_predicate(const Instruction* i, Warp& w);

}  // namespace warpscope::emulator
