#include "emulator/fast_paths/compiled/generate/accesses.h"

#include "emulator/fast_paths/compiled/moved.h"

namespace warpscope::emulator {

void Accesses::write(std::uint32_t u) {
    const Unit& unit = context_.unit(u);
    slots_.close_segment();
    if (unit.guard) begin_guarded(u);
    if (is_uniform(unit.instruction->operands[unit.instruction->detail]))
        load_uniform(u);
    else
        access_lanes(u);
    slots_.begin_segment(ir_.here());
}

// Where the guard holds for all lanes, the access follows. Where it holds for none, the next unit
// does; where it holds for some, the interpreter runs the access.
void Accesses::begin_guarded(std::uint32_t u) {
    const LlvmValue active = slots_.condition(*context_.unit(u).guard);
    const LlvmBlock not_all = ir_.block(), all = ir_.block();
    ir_.likely(ir_.compare(Ir::eq, active, context_.running_mask()), all, not_all);
    ir_.go_on_in(not_all);
    ir_.branch(ir_.compare_with(Ir::eq, active, 0), exits_.way_to(u + 1), exits_.interpret(u));
    slots_.begin_segment(all);
    context_.segment.go_on_in_scalar_part();
}

void Accesses::load_uniform(std::uint32_t u) {
    const Unit& unit = context_.unit(u);
    const LlvmValue address = addresses_.uniform(*unit.instruction);
    addresses_.require_uniform(u, address);
    reports_.report(u, {address});
    moves_.load_uniform(unit, address);
}

void Accesses::access_lanes(std::uint32_t u) {
    const Unit& unit = context_.unit(u);
    const Instruction& i = *unit.instruction;
    const Lanes addresses = slots_.parts(i.operands[i.detail]);
    if (unit.kind == Unit::Kind::stores)  // read on both ways below
        for (unsigned g = 0; g < context_.group_count; ++g) moves_.stored(unit, g);
    if (context_.running) return access_scattered(u, addresses);
    // The interpreter moves scattered vectors as fast.
    const bool leaves = Moved(i).elements > 1;
    const LlvmBlock consecutive = ir_.block("consecutive"), done = ir_.block("done"),
                    scattered = leaves ? exits_.interpret(u) : ir_.block("scattered");
    const LlvmValue a = addresses_.first_of_half(addresses, 0),
                    b = addresses_.first_of_half(addresses, 1);
    ir_.likely(addresses_.are_consecutive(u, addresses), consecutive, scattered);
    ir_.go_on_in(consecutive);
    access_consecutive(u, addresses, {a, b});
    ir_.jump(done);
    if (!leaves) {
        ir_.go_on_in(scattered);
        access_scattered(u, addresses);
        ir_.jump(done);
    }
    ir_.go_on_in(done);
}

void Accesses::access_consecutive(std::uint32_t u, const Lanes& addresses,
                                  const std::array<LlvmValue, 2>& halves) {
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue first = ir_.cast(Ir::zext, halves[0], i64),
                    second = ir_.cast(Ir::zext, halves[1], i64);
    addresses_.require_halves(u, first, second);
    reports_.report(u, addresses, first, second);
    moves_.move_consecutive(context_.unit(u), halves);
}

void Accesses::access_scattered(std::uint32_t u, const Lanes& addresses) {
    const Unit& unit = context_.unit(u);
    addresses_.require_lanes(u, addresses);
    reports_.report(u, addresses);
    if (!moves_.may_be_pairs(unit)) return moves_.move_scattered(unit);
    const Addresses::Pairs pairs = addresses_.find_pairs(addresses);
    const LlvmBlock in_pairs = ir_.block("pairs"), others = ir_.block(), done = ir_.block();
    ir_.branch(pairs.found, in_pairs, others);
    ir_.go_on_in(in_pairs);
    moves_.move_pairs(unit, pairs);
    ir_.jump(done);
    ir_.go_on_in(others);
    moves_.move_scattered(unit);
    ir_.jump(done);
    ir_.go_on_in(done);
}

}  // namespace warpscope::emulator
