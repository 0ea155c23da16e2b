#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/async/async_copies.h"
#include "emulator/handlers/operations.h"
#include "emulator/program/access_form.h"
#include "emulator/program/instruction.h"
#include "emulator/program/ptx_type.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/warp/warp.h"

// Handlers execute instructions. The functions here choose the handler for an instruction when a
// kernel is decoded. Operations that kernels spend their time in have SIMD handlers, one for each
// combination of uniform and vector operands; the others run lane by lane (lane_operations.h).
// operations.def says what each arithmetic operation computes.

namespace warpscope::emulator {

/// Which operands of an instruction are in uniform slots.
struct OperandKinds {
    unsigned uniform_sources = 0;  ///< bit k: source k is uniform
    bool uniform_result = false;   ///< all sources are uniform, too
};

/// An operation on values of one type.
struct Arithmetic {
    Operation operation = Operation::unknown;
    Type type = Type::b32;
    bool saturates = false;  ///< .sat
    bool flushes = false;    ///< .ftz that the handler carries out, not the CPU's mode
    bool rectifies = false;  ///< .relu
};

/// Sets operand 0 to the operation's result, for all lanes. nullptr: PTX, or the emulator, does not
/// have the operation for this type.
Handler arithmetic_handler(const Arithmetic& arithmetic, OperandKinds kinds);
/// mov and selp of 32 or 64 bits.
Handler move_handler(unsigned bits, OperandKinds kinds);
Handler select_handler(unsigned bits, OperandKinds kinds);

/// cvt. Instruction::detail holds encode_rounding().
struct Conversion {
    Type to = Type::b32, from = Type::b32;
    Rounding rounding = Rounding::none;
    bool to_integral = false;  ///< .rni, .rzi, .rmi, .rpi: round to a whole number
    bool saturate = false;
    bool rectify = false;  ///< .relu
};
Handler conversion_handler(const Conversion& conversion, OperandKinds kinds);
/// nullptr where a conversion has no SIMD handler.
Handler simd_conversion_handler(const Conversion& conversion, OperandKinds kinds);
std::uint16_t encode_rounding(const Conversion& conversion);

/// The comparison of setp and set. lo, ls, hi and hs of unsigned integers are lt, le, gt and ge.
enum class Comparison : std::uint8_t {
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    equ,
    neu,
    ltu,
    leu,
    gtu,
    geu,
    num,
    nan
};
/// Sets operand 0, a predicate.
Handler comparison_handler(Comparison comparison, Type type, OperandKinds kinds);

/// The form of a load or store. It determines the handler.
struct MemoryForm {
    Space space = Space::generic;
    bool store = false;
    Type type = Type::b32;
    unsigned elements = 1;  ///< 1, 2 or 4 (.v2, .v4)
    bool uniform_address = false;
    bool wide_address = false;  ///< the address register has 64 bits
    bool uniform_result = false;
    bool wide_register = false;  ///< the data registers have 64 bits

    AccessForm access_form() const;
};

/// The fast handler of a common form; nullptr for other forms.
Handler memory_handler(const MemoryForm& form, Instruction::Mode mode);

/// Handlers for every form of access, for the lanes of the warp's mask.
/// Instruction::target holds an AccessForm, operand Instruction::detail is the address.
const Instruction* any_load(const Instruction* i, Warp& w);
const Instruction* any_store(const Instruction* i, Warp& w);

/// ldmatrix: operands are the results, then the address; detail: how many results there are.
const Instruction* load_matrices(const Instruction* i, Warp& w);
/// stmatrix: operands are the address, then the values.
const Instruction* store_matrices(const Instruction* i, Warp& w);

/// movmatrix: operands d, a.
const Instruction* transpose_matrix(const Instruction* i, Warp& w);

/// The shape of a product of matrices: m rows and 8 columns, of sums of k products.
struct ProductShape {
    unsigned m = 16, k = 8;

    constexpr ProductShape() = default;
    constexpr ProductShape(unsigned rows, unsigned products) : m(rows), k(products) {}
    explicit constexpr ProductShape(std::uint16_t detail) : m(detail & 255), k(detail >> 8) {}
    constexpr std::uint16_t encoded() const { return std::uint16_t(m | k << 8); }

    /// Registers of each lane.
    constexpr unsigned a(Type type) const { return m * k / 32 / elements(type); }
    constexpr unsigned b(Type type) const { return 8 * k / 32 / elements(type); }
    constexpr unsigned c(Type type) const { return m * 8 / 32 / elements(type); }
    static constexpr unsigned elements(Type type) {
        return bits_of(type) < 32 ? 32 / bits_of(type) : 1;
    }
};
/// mma. Instruction::target: where its operands begin in Kernel::further_operands: d, a, b, c, with
/// as many registers as the shape says. detail: ProductShape::encoded(); immediate: 1 for
/// .satfinite.
struct ProductTypes {
    Type a = Type::f16, b = Type::f16;
    Type c = Type::f32;  ///< and that of d
};
Handler matrix_product(const ProductTypes& types);  ///< nullptr where the ISA does not have it

/// wmma.mma, of sums of k products. Instruction::target and immediate are those of mma; detail:
/// encoded().
struct FragmentProduct {
    unsigned k = 16;
    bool a_is_row = true, b_is_row = true;  ///< its layout is .row, not .col

    constexpr FragmentProduct() = default;
    explicit constexpr FragmentProduct(std::uint16_t detail)
        : k(detail & 255), a_is_row(detail >> 8 & 1), b_is_row(detail >> 9 & 1) {}
    constexpr std::uint16_t encoded() const {
        return std::uint16_t(k | a_is_row << 8 | b_is_row << 9);
    }
};
Handler fragment_product(const ProductTypes& types);
/// Where the elements of each lane begin that wmma.load and wmma.store move: operands are 64 bits
/// for the result, the address, and elements between the beginnings of two lines. immediate: the
/// address's offset. A line is a row; or a column where a lane holds elements of one row, which do
/// not follow each other in memory.
struct FragmentParts {
    bool wide_address = false;  ///< the address register has 64 bits
    unsigned parts = 2;         ///< lanes that hold one line, or one row `by_column`
    unsigned element_bytes = 2;
    unsigned part_bytes = 16;  ///< of a lane
    bool by_column = false;
    unsigned element = 0;  ///< of the lane's: the place of this one, `by_column`

    constexpr FragmentParts() = default;
    explicit constexpr FragmentParts(std::uint32_t target)
        : wide_address(target & 1),
          parts(target >> 1 & 15),
          element_bytes(target >> 5 & 15),
          part_bytes(target >> 9 & 127),
          by_column(target >> 16 & 1),
          element(target >> 17) {}
    constexpr std::uint32_t encoded() const {
        return std::uint32_t(wide_address) | parts << 1 | element_bytes << 5 | part_bytes << 9 |
               std::uint32_t(by_column) << 16 | element << 17;
    }
};
const Instruction* find_fragment_parts(const Instruction* i, Warp& w);

/// Instruction::target holds an TextureForm. Operands: four results, handle, coordinates. Two
/// coordinates are in one slot of 64 bits.
const Instruction* fetch_texture(const Instruction* i, Warp& w);
const Instruction* load_surface(const Instruction* i, Warp& w);   ///< results, handle, coordinates
const Instruction* store_surface(const Instruction* i, Warp& w);  ///< handle, coordinates, values

// Asynchronous copies (PTX ISA 9.7.9.25). Instruction::target holds a CopyForm, immediate the
// offsets of both addresses: of the destination in its lower half.
/// Operands: destination, source, size or predicate or 0, address of the mbarrier or 0.
const Instruction* async_copy(const Instruction* i, Warp& w);
const Instruction* bulk_copy(const Instruction* i, Warp& w);
// Instruction::detail holds a Completion.
const Instruction* close_group(const Instruction* i, Warp& w);
/// In Instruction::detail, beside the Completion: cp.async.bulk.wait_group.read.
constexpr std::uint16_t wait_for_reads = 4;
const Instruction* wait_for_groups(const Instruction* i, Warp& w);  ///< operand: how many but
const Instruction* wait_for_copies(const Instruction* i, Warp& w);

/// The handler of an operation on an mbarrier (9.7.13.15). Operands: result or 0, address, value or
/// 0. Instruction::target holds an AccessForm, detail is 1. For cp.async.mbarrier.arrive, `adds`:
/// the phase expects one arrival more.
Handler mbarrier_handler(Operation operation, bool adds);
const Instruction* proxy_fence(const Instruction* i, Warp& w);
const Instruction* pending_count(const Instruction* i, Warp& w);  ///< operands d, state
/// cp.async.bulk.tensor. Operands: address in shared memory, address of the tensor map,
/// coordinates, address of the mbarrier, blocks of the cluster. Instruction::detail: how many
/// coordinates there are. CopyForm::wide_to is of the address in shared memory.
const Instruction* tensor_copy(const Instruction* i, Warp& w);
/// st.async. Operands: destination, address of the mbarrier, values. Instruction::target holds an
/// AccessForm, immediate the offset of the destination, detail is 1 where the address of the
/// mbarrier has 64 bits.
const Instruction* async_store(const Instruction* i, Warp& w);

// handlers_cluster.cpp. Instruction::detail of arrive_at_cluster: 1 where it releases; of the last
// two: the bits of the address.
const Instruction* arrive_at_cluster(const Instruction* i, Warp& w);
const Instruction* wait_for_cluster(const Instruction* i, Warp& w);
const Instruction* map_address(const Instruction* i, Warp& w);   ///< operands d, address, rank
const Instruction* address_rank(const Instruction* i, Warp& w);  ///< operands d, address

/// Atomics: operand 0 receives the old value (0: none), 1 is the address, 2 and 3 the arguments.
enum class AtomicOp : std::uint8_t { add, min, max, exch, cas, and_, or_, xor_, inc, dec };
Handler atomic_handler(AtomicOp op, Type type);  ///< nullptr where PTX does not have it
/// What cp.reduce.async.bulk and red.async do; nullptr where PTX does not have it
AsyncCopy::Join reduction(AtomicOp op, Type type);
std::byte* atomic_target(const Instruction* i, Warp& w, unsigned lane, unsigned bytes);

// Exchanges between lanes. Instruction::detail holds the enumerator.
enum class ShuffleMode : std::uint8_t { up, down, bfly, idx };
/// The lane whose value a lane gets, for the operands b and c of shfl (PTX ISA 9.7.9.6). Nullopt:
/// it would be outside of the segment, and the lane keeps its own value.
std::optional<unsigned> shuffle_source(ShuffleMode mode, unsigned lane, std::uint32_t b,
                                       std::uint32_t c);
enum class VoteMode : std::uint8_t { all, any, uni, ballot };
enum class ReduceOp : std::uint8_t { add, min_u, min_s, max_u, max_s, and_, or_, xor_ };
/// Operands d, p or 0, a, b, c, members.
const Instruction* shuffle(const Instruction* i, Warp& w);
/// shuffle() for all lanes with one b and one c; a is a vector.
Handler shuffle_handler(ShuffleMode mode);
/// Operands d or 0, p or 0, members.
const Instruction* elect(const Instruction* i, Warp& w);
/// Operands d, a predicate, members; target: 1 negates the predicate.
const Instruction* vote(const Instruction* i, Warp& w);
/// Operands d, a, members; match_all has p or 0 behind them. target: bits of a.
const Instruction* match_any(const Instruction* i, Warp& w);
const Instruction* match_all(const Instruction* i, Warp& w);
const Instruction* active_mask(const Instruction* i, Warp& w);   ///< operand d
const Instruction* reduce_lanes(const Instruction* i, Warp& w);  ///< operands d, a, members

const Instruction* branch_always(const Instruction* i, Warp& w);
const Instruction* branch_if(const Instruction* i, Warp& w);
const Instruction* branch_unless(const Instruction* i, Warp& w);
const Instruction* join_point(const Instruction* i, Warp& w);
const Instruction* exit_threads(const Instruction* i, Warp& w);
/// Instruction::operation tells which trap it is.
const Instruction* trap(const Instruction* i, Warp& w);
/// detail: BarrierKind; immediate: 1 where all threads of a warp must come to it together
/// (.aligned). Operands: barrier number, thread count or 0; of a reduction, result and predicate.
const Instruction* barrier(const Instruction* i, Warp& w);
const Instruction* warp_barrier(const Instruction* i, Warp& w);
const Instruction* nothing(const Instruction* i, Warp& w);
const Instruction* print(const Instruction* i, Warp& w);
const Instruction* assert_fail(const Instruction* i, Warp& w);
const Instruction* read_clock(const Instruction* i, Warp& w);

// Prefixes: each changes how the instruction behind it runs.
const Instruction* guard(const Instruction* i, Warp& w);      ///< @p; operand 0 is p
const Instruction* guard_not(const Instruction* i, Warp& w);  ///< @!p
/// For an operation with its own rounding or flushing. detail: 1 flushes subnormals; target: the
/// Rounding. handlers_float_mode.cpp tells the CPU; where a CPU cannot be told, the build has
/// handlers_soft_float.cpp, which computes it.
const Instruction* with_float_mode(const Instruction* i, Warp& w);
bool cpu_has_float_modes();  ///< so that a kernel may run with the flush mode on
/// Ends the turn where the block may pass no further turnstile in it: see BlockContext::passes.
const Instruction* turnstile(const Instruction* i, Warp& w);

/// Runs Instruction::handlers[full], then gives inactive lanes their old values back.
Handler masked_handler(unsigned destination_bits);
/// Runs Instruction::handlers[full], then gives inactive lanes their old predicates back.
const Instruction* masked_predicate(const Instruction* i, Warp& w);

/// The address that a lane gives to a load, a store or an atomic.
inline std::uint64_t lane_address(const Instruction* i, const Warp& w, const AccessForm& access,
                                  unsigned lane) {
    const std::uint32_t operand = i->operands[i->detail];
    if (access.wide_address)
        return w.get<std::uint64_t>(operand, lane) + std::uint64_t(i->immediate);
    return w.get<std::uint32_t>(operand, lane) + std::uint32_t(i->immediate);
}

}  // namespace warpscope::emulator
