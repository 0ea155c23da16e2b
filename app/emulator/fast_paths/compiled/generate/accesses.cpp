#include "emulator/fast_paths/compiled/generate/accesses.h"

#include <algorithm>

#include "emulator/fast_paths/compiled/plan/units.h"
#include "emulator/fast_paths/compiled/warp_layout.h"

namespace warpscope::emulator {

// The bits of ObservedBlock::wanted of which one has the access reported.
std::uint32_t Reports::wanted_of(std::uint32_t u) const {
    const std::uint32_t events = context_.unit(u).instruction->events & reported_events;
    if (is_foreseen(context_.kernel(), context_.pc_of(u))) return wants_foreseen;
    const bool is_global_load =
        events == Instruction::global_access && context_.unit(u).kind == Unit::Kind::loads;
    return is_global_load ? wants_global_loads : events;
}

void Reports::report(std::uint32_t u, const Lanes& addresses, LlvmValue first, LlvmValue second) {
    const Instruction& i = *context_.unit(u).instruction;
    if (!context_.reports || !(i.events & reported_events)) return;
    const LlvmBlock observed = ir_.block("observed"), done = ir_.block();
    const std::uint32_t wanted = wanted_of(u);
    ir_.branch(ir_.compare_with(Ir::eq, ir_.op(Ir::and_, context_.wanted_events, wanted), 0), done,
               observed);
    ir_.go_on_in(observed);
    const auto with_offset = [&](LlvmValue address) {
        return ir_.op(Ir::add, ir_.cast(Ir::zext, address, ir_.integer(64)),
                      std::uint64_t(i.immediate));
    };
    const bool is_one = is_uniform(i.operands[i.detail]);
    if (is_one && !context_.running && accesses_shared(i)) {
        report_broadcast(u, with_offset(addresses[0]), done);
        return ir_.go_on_in(done);
    }
    if (!first) first = is_one ? addresses[0] : ir_.lane(addresses[0], 0);
    first = with_offset(first);
    if (second) second = with_offset(second);
    if (!context_.running) follow_model(u, first, second, done);
    LlvmValue consecutive_lanes = ir_.integer_of(32, 0);
    if (second)
        consecutive_lanes = ir_.select(
            ir_.compare(Ir::eq, ir_.op(Ir::add, first, half_warp * Moved(i).total()), second),
            ir_.integer_of(32, lanes_per_warp), ir_.integer_of(32, half_warp));
    report_lanes(u, addresses, consecutive_lanes, done);
    ir_.go_on_in(done);
}

// Writes a load of one shared address down, see AlikeEvents. The code goes on in `done`.
void Reports::report_broadcast(std::uint32_t u, LlvmValue address, LlvmBlock done) {
    const LlvmType pointer = ir_.pointer();
    const LlvmValue next_place = ir_.at(context_.observed, WarpLayout::next_load);
    const LlvmValue written = ir_.load(pointer, next_place);
    const LlvmValue next = ir_.at(written, sizeof(BroadcastLoad));
    ir_.store(address, ir_.at(written, offsetof(BroadcastLoad, address)));
    ir_.store(context_.warp, ir_.at(written, offsetof(BroadcastLoad, warp)));
    ir_.store(ir_.integer_of(32, context_.pc_of(u)), ir_.at(written, offsetof(BroadcastLoad, pc)));
    ir_.store(next, next_place);
    const LlvmValue end = context_.observed_member(pointer, WarpLayout::loads_end);
    const LlvmBlock full = ir_.block("full");
    ir_.likely(ir_.compare(Ir::ne, next, end), done, full);
    ir_.go_on_in(full);
    end_where_asked(u,
                    ir_.call(reinterpret_cast<const void*>(&report_broadcasts), ir_.integer(8),
                             {context_.warp}),
                    done);
}

// If the access is the warp's next step of the model, at a distance that is known, the code goes on
// in `done`: BlockModel::has() would find out no more. `second` is null where only the address of
// the first lane is compared.
void Reports::follow_model(std::uint32_t u, LlvmValue first, LlvmValue second, LlvmBlock done) {
    const std::size_t pc = context_.pc_of(u);
    const LlvmType i8 = ir_.integer(8), i32 = ir_.integer(32), i64 = ir_.integer(64),
                   pointer = ir_.pointer();
    const LlvmValue position = context_.observed_member(pointer, WarpLayout::model);
    const LlvmValue warp = context_.warp_member(i32, WarpLayout::index);
    const LlvmValue place =
        ir_.at(ir_.at(position, offsetof(ModelPosition, next)),
               ir_.op(Ir::mul, ir_.cast(Ir::zext, warp, i64), sizeof(const ModelStep*)));
    const LlvmValue step = ir_.load(pointer, place);
    const LlvmValue distances =
        ir_.load(pointer, ir_.at(position, offsetof(ModelPosition, distances)));
    const LlvmValue distance = ir_.load(i64, ir_.at(distances, pc * sizeof(std::uint64_t)));
    const auto member_is = [&](std::size_t member, LlvmType type, LlvmValue value) {
        return ir_.compare(Ir::eq, ir_.load(type, ir_.at(step, member)), value);
    };
    const auto address_is = [&](unsigned k, LlvmValue address) {
        return member_is(offsetof(ModelStep, addresses) + k * sizeof(std::uint64_t), i64,
                         ir_.op(Ir::sub, address, distance));
    };
    const auto shape = second ? ModelStep::Shape::halves : ModelStep::Shape::first;
    LlvmValue is_next = ir_.op(
        Ir::and_,
        ir_.op(Ir::and_, member_is(offsetof(ModelStep, pc), i32, ir_.integer_of(32, pc)),
               member_is(offsetof(ModelStep, mask), i32, ir_.integer_of(32, all_lanes))),
        ir_.op(Ir::and_, address_is(0, first),
               member_is(offsetof(ModelStep, shape), i8, ir_.integer_of(8, unsigned(shape)))));
    if (second) is_next = ir_.op(Ir::and_, is_next, address_is(1, second));
    const LlvmBlock follows = ir_.block("follows"), differs = ir_.block("differs");
    ir_.likely(is_next, follows, differs);
    ir_.go_on_in(follows);
    ir_.store(ir_.at(step, sizeof(ModelStep)), place);
    const LlvmValue note = ir_.at(position, offsetof(ModelPosition, next_warp));
    const LlvmValue noted = ir_.load(pointer, note);
    ir_.store(ir_.cast(Ir::trunc, warp, i8), noted);
    ir_.store(ir_.at(noted, 1), note);
    ir_.jump(done);
    ir_.go_on_in(differs);
}

// Calls AlikeEvents::report(), which explains `consecutive_lanes`.
void Reports::report_lanes(std::uint32_t u, const Lanes& addresses, LlvmValue consecutive_lanes,
                           LlvmBlock done) {
    const Unit& unit = context_.unit(u);
    const Instruction& i = *unit.instruction;
    if (unit.kind == Unit::Kind::stores)  // an observer may ask for the values
        for (unsigned e = 0; e < AccessForm(i.target).elements; ++e)
            slots_.spill_if_written(i.operands[1 + e]);
    // A single address, which is that of the first lane that runs, is given for each lane.
    const LlvmValue all = is_uniform(i.operands[i.detail]) ? ir_.splat(addresses[0], lanes_per_warp)
                                                           : ir_.joined(addresses);
    const LlvmValue wide = ir_.cast(Ir::zext, all, ir_.integer(64, lanes_per_warp));
    const LlvmValue all_stored =
        addresses_.stored(ir_.op(Ir::add, wide, std::uint64_t(i.immediate)));
    const LlvmValue ends = ir_.call(
        reinterpret_cast<const void*>(&report_access), ir_.integer(8),
        {context_.address_of(context_.pc_of(u)), context_.warp, all_stored, consecutive_lanes});
    end_where_asked(u, ends, done);
}

// Goes on in `done`, unless the launch is to end.
void Reports::end_where_asked(std::uint32_t u, LlvmValue ends, LlvmBlock done) {
    ir_.likely(ir_.compare_with(Ir::eq, ir_.op(Ir::and_, ends, 1), 0), done,
               exits_.pause_before(u));
}

namespace {

// A block of 16x16 threads whose tile is indexed [threadIdx.x][threadIdx.y] accesses shared memory
// in pairs. Moving 16 times 8 bytes takes a third of the time of a gather or scatter. Code for
// pairs takes the compiler as long as the rest of an access, so only kernels of blocks with rows
// have it, which have few accesses to shared memory.
bool may_have_pairs(const CompilationPlan& plan) {
    const auto is_row = [](const SpecialSlot& slot) { return slot.special == Special::tid_y; };
    const auto is_in_shared = [](const Unit& unit) {
        return (unit.kind == Unit::Kind::loads || unit.kind == Unit::Kind::stores) &&
               accesses_shared(*unit.instruction);
    };
    constexpr int few = 8;
    return std::ranges::any_of(plan.kernel().specials, is_row) &&
           std::ranges::count_if(plan.units(), is_in_shared) <= few;
}

}  // namespace

Moves::Moves(FunctionContext& context, Slots& slots, Addresses& addresses)
    : context_(context),
      ir_(context.ir),
      slots_(slots),
      addresses_(addresses),
      may_have_pairs_(may_have_pairs(context.plan)) {}

void Moves::load_uniform(const Unit& unit, LlvmValue address) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const LlvmValue from =
        ir_.cast(Ir::inttoptr, ir_.op(Ir::add, address, addresses_.host_base(i)), ir_.pointer());
    for (unsigned e = 0; e < moved.elements; ++e) {
        const LlvmValue value =
            ir_.load(ir_.integer(moved.bits()), ir_.at(from, e * moved.bytes), moved.bytes);
        if (is_uniform(i.operands[e])) {
            slots_.set_scalar(i.operands[e], value);
            continue;
        }
        const LlvmValue all = ir_.splat(value, context_.width);
        for (unsigned g = 0; g < context_.group_count; ++g) slots_.set_lanes(i.operands[e], all, g);
    }
}

Lanes Moves::stored(const Unit& unit, unsigned g) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    Lanes values;
    for (unsigned e = 0; e < AccessForm(i.target).elements; ++e)
        values.push_back(slots_.integers(i.operands[1 + e], moved.bits(), g));
    if (!moved.is_pixel) return values;
    LlvmValue pixel = ir_.op(Ir::and_, values[0], 0xFF);
    for (unsigned e = 1; e < 4; ++e)
        pixel = ir_.op(Ir::or_, pixel, ir_.op(Ir::shl, ir_.op(Ir::and_, values[e], 0xFF), 8 * e));
    return {pixel};
}

void Moves::move_consecutive(const Unit& unit, const std::array<LlvmValue, 2>& halves) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue base = addresses_.host_base(i);
    const unsigned width = context_.width, all = width * moved.elements;
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const unsigned lane = g * width;
        const LlvmValue start = ir_.cast(Ir::zext, halves[lane / half_warp], i64);
        const LlvmValue place =
            ir_.at(ir_.cast(Ir::inttoptr, ir_.op(Ir::add, start, base), ir_.pointer()),
                   lane % half_warp * moved.total());
        std::vector<int> order(all);
        if (unit.kind == Unit::Kind::stores) {
            const Lanes values = stored(unit, g);
            for (unsigned l = 0; l < all; ++l)
                order[l] = int(l % moved.elements * width + l / moved.elements);
            const LlvmValue joined = ir_.joined(values);
            ir_.store(moved.elements == 1 ? joined : ir_.shuffle(joined, joined, order), place,
                      moved.bytes);
            continue;
        }
        const LlvmValue values = ir_.load(ir_.integer(moved.bits(), all), place, moved.bytes);
        for (unsigned e = 0; e < moved.elements; ++e) {
            order.resize(width);
            for (unsigned l = 0; l < width; ++l) order[l] = int(l * moved.elements + e);
            slots_.set_lanes(i.operands[e],
                             moved.elements == 1 ? values : ir_.shuffle(values, values, order), g);
        }
    }
}

// Shared memory ends far below 2^31, and CPUs extend the sign.
LlvmValue Moves::host_places(LlvmValue base, LlvmValue addresses) const {
    return ir_.at(ir_.cast(Ir::inttoptr, base, ir_.pointer()),
                  ir_.cast(Ir::sext, addresses, ir_.integer(64, context_.width)));
}

// Lanes that store to one address do so in their order (LLVM's masked.scatter, too).
void Moves::move_scattered(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const unsigned width = context_.width;
    const LlvmType type = ir_.integer(moved.bits(), width), pointers = ir_.pointer(width);
    std::vector<Lanes> loaded(context_.group_count);
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const LlvmValue first =
            host_places(addresses_.host_base(i), slots_.part(i.operands[i.detail], g));
        const Lanes values = unit.kind == Unit::Kind::stores ? stored(unit, g) : Lanes();
        const LlvmValue active = context_.running ? context_.lanes_of_mask(context_.running, g)
                                                  : ir_.number(ir_.integer(1, width), 1);
        const LlvmValue align = ir_.integer_of(32, moved.bytes);
        for (unsigned e = 0; e < moved.elements; ++e) {
            const LlvmValue places = ir_.at(first, e * moved.bytes);
            if (unit.kind == Unit::Kind::stores)
                ir_.intrinsic("masked.scatter", ir_.nothing(), {values[e], places, align, active},
                              {type, pointers});
            else
                loaded[g].push_back(ir_.intrinsic("masked.gather", type,
                                                  {places, align, active, ir_.zero(type)},
                                                  {type, pointers}));
        }
    }
    if (unit.kind == Unit::Kind::stores) return;
    // Behind all loads, since a destination may hold the addresses.
    for (unsigned g = 0; g < context_.group_count; ++g)
        for (unsigned e = 0; e < moved.elements; ++e)
            slots_.set_lanes(i.operands[e], loaded[g][e], g);
}

bool Moves::may_be_pairs(const Unit& unit) const {
    const Moved moved(*unit.instruction);
    return may_have_pairs_ && !context_.running && accesses_shared(*unit.instruction) &&
           !AccessForm(unit.instruction->target).wide_address && moved.elements == 1 &&
           moved.bytes == 4;
}

void Moves::move_pairs(const Unit& unit, const Addresses::Pairs& pairs) {
    const Instruction& i = *unit.instruction;
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue base = addresses_.host_base(i);
    LlvmValue place = ir_.op(Ir::add, base, ir_.cast(Ir::zext, pairs.begin, i64));
    const LlvmValue distance = ir_.cast(Ir::sext, pairs.distance, i64);
    constexpr unsigned moved_align = 4;  // the immediate operand may be odd words
    const unsigned width = context_.width, half = context_.group_count / 2;
    std::vector<int> interleaved(2 * width), even(width), odd(width);
    for (int l = 0; l < int(width); ++l) {
        interleaved[2 * l] = l;
        interleaved[2 * l + 1] = int(width) + l;
        even[l] = 2 * l;
        odd[l] = 2 * l + 1;
    }
    const auto in_order = [&](LlvmValue a, LlvmValue b) {
        return std::pair(ir_.select(pairs.in_order, a, b), ir_.select(pairs.in_order, b, a));
    };
    const LlvmType words = ir_.integer(32, 2 * width), doubles = ir_.integer(64, width);
    for (unsigned g = 0; g < half; ++g) {
        const auto next = [&] {
            const LlvmValue here = ir_.cast(Ir::inttoptr, place, ir_.pointer());
            place = ir_.op(Ir::add, place, distance);
            return here;
        };
        if (unit.kind == Unit::Kind::stores) {
            const auto [low, high] = in_order(stored(unit, g)[0], stored(unit, g + half)[0]);
            const LlvmValue moved =
                ir_.cast(Ir::bitcast, ir_.shuffle(low, high, interleaved), doubles);
            for (unsigned l = 0; l < width; ++l) ir_.store(ir_.lane(moved, l), next(), moved_align);
            continue;
        }
        LlvmValue moved = ir_.zero(doubles);
        for (unsigned l = 0; l < width; ++l)
            moved = ir_.with_lane(moved, l, ir_.load(i64, next(), moved_align));
        const LlvmValue both = ir_.cast(Ir::bitcast, moved, words);
        const auto [low, high] =
            in_order(ir_.shuffle(both, both, even), ir_.shuffle(both, both, odd));
        slots_.set_lanes(i.operands[0], low, g);
        slots_.set_lanes(i.operands[0], high, g + half);
    }
}

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
