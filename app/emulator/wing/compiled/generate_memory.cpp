#include "emulator/wing/compiled/generator.h"
#include "emulator/wing/compiled/moved.h"
#include "emulator/wing/compiled/warp_layout.h"

// Loads and stores. Each one is checked as the interpreter checks it; where a check fails, the
// interpreter repeats the access and reports the error.
namespace warpscope::emulator {

void Generator::access(std::uint32_t u) {
    const Unit& unit = plan_.units()[u];
    close_segment();
    if (unit.guard) begin_guarded(u);
    if (is_uniform(unit.instruction->operands[unit.instruction->detail]))
        load_uniform(u);
    else
        access_lanes(u);
    checkpoint(u);
}

// All lanes go on here; none: the next unit; some: the interpreter.
void Generator::begin_guarded(std::uint32_t u) {
    in_scalar_part();
    const LlvmValue active = condition(*plan_.units()[u].guard);
    const LlvmBlock not_all = ir_.block(), all = ir_.block();
    ir_.likely(ir_.compare(Ir::eq, active, running()), all, not_all);
    ir_.go_on_in(not_all);
    ir_.branch(ir_.compare_with(Ir::eq, active, 0), way_to(u + 1), interpret(u));
    begin_segment(all);
}

// The host address that is added to each PTX address.
LlvmValue Generator::base_of(const Unit& unit) const {
    const Instruction& i = *unit.instruction;
    const LlvmValue offset = ir_.integer_of(64, std::uint64_t(i.immediate));
    if (AccessForm(i.target).space != Space::shared) return offset;
    return ir_.op(Ir::add, ir_.cast(Ir::ptrtoint, shared_, ir_.integer(64)), offset);
}

// The PTX address of a uniform access, without the immediate operand. In the scalar part.
LlvmValue Generator::uniform_address(const Instruction& i) {
    const Type type = AccessForm(i.target).wide_address ? Type::b64 : Type::b32;
    return ir_.cast(Ir::zext, scalar(i.operands[i.detail], type), ir_.integer(64));
}

void Generator::load_uniform(std::uint32_t u) {
    const Unit& unit = plan_.units()[u];
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const LlvmType pointer = ir_.pointer();
    const LlvmValue address = uniform_address(i);
    const LoadGroup* const group = plan_.load_group_of(u);
    if (!group)
        require_place(u, ir_.op(Ir::add, address, std::uint64_t(i.immediate)), moved.total());
    else if (u == group->first)
        require(has_places(*group), u);
    report(u, {address});
    const LlvmValue from = ir_.cast(Ir::inttoptr, ir_.op(Ir::add, address, base_of(unit)), pointer);
    for (unsigned e = 0; e < moved.elements; ++e) {
        const LlvmValue value =
            ir_.load(ir_.integer(moved.bits()), ir_.at(from, e * moved.bytes), moved.bytes);
        if (is_uniform(i.operands[e])) {
            set_scalar(i.operands[e], value);
            continue;
        }
        const LlvmValue all = ir_.splat(value, width_);
        for (unsigned g = 0; g < group_count_; ++g) set_lanes(i.operands[e], all, g);
    }
    begin_segment(ir_.here());
}

void Generator::access_lanes(std::uint32_t u) {
    in_scalar_part();
    const Unit& unit = plan_.units()[u];
    const Instruction& i = *unit.instruction;
    const Lanes addresses = variables(i.operands[i.detail]);
    if (unit.kind == Unit::Kind::stores)  // read on both ways below
        for (unsigned g = 0; g < group_count_; ++g) stored(unit, g);
    if (running_) {
        access_scattered(u, addresses);
        return begin_segment(ir_.here());
    }
    // The interpreter moves scattered vectors as fast.
    const bool leaves = Moved(i).elements > 1;
    const LlvmBlock consecutive = ir_.block("consecutive"), done = ir_.block("done"),
                    scattered = leaves ? interpret(u) : ir_.block("scattered");
    const LlvmValue a = first_of_half(addresses, 0), b = first_of_half(addresses, 1);
    const LoadGroup* const group = plan_.load_group_of(u);
    if (group && u == group->first) check_lanes(*group);
    ir_.likely(
        group ? ir_.load(ir_.integer(1), are_consecutive_) : are_consecutive(unit, addresses),
        consecutive, scattered);
    ir_.go_on_in(consecutive);
    access_consecutive(u, addresses, a, b);
    ir_.jump(done);
    if (!leaves) {
        ir_.go_on_in(scattered);
        access_scattered(u, addresses);
        ir_.jump(done);
    }
    ir_.go_on_in(done);
    begin_segment(done);
}

void Generator::access_consecutive(std::uint32_t u, const Lanes& addresses, LlvmValue a,
                                   LlvmValue b) {
    const Unit& unit = plan_.units()[u];
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue first = ir_.cast(Ir::zext, a, i64), second = ir_.cast(Ir::zext, b, i64);
    if (AccessForm(unit.instruction->target).space != Space::shared) {
        const auto from = std::uint64_t(unit.instruction->immediate);
        const std::uint64_t length = half_warp * Moved(*unit.instruction).total();
        const LlvmValue in_order = ir_.compare(Ir::ult, first, second);
        require_range(u, ir_.op(Ir::add, ir_.select(in_order, first, second), from),
                      ir_.op(Ir::add, ir_.select(in_order, second, first), from + length));
    }
    report(u, addresses, first, second);
    move_consecutive(unit, base_of(unit), {a, b});
}

// Tells the observer of the block about an access whose addresses have been checked: one for each
// lane, or one for all.
void Generator::report(std::uint32_t u, const Lanes& addresses, LlvmValue first, LlvmValue second) {
    const Unit& unit = plan_.units()[u];
    const Instruction& i = *unit.instruction;
    if (!reports_ || !(i.events & reported_events)) return;
    const LlvmBlock observed = ir_.block("observed"), done = ir_.block();
    const std::uint32_t wanted =
        is_foreseen(kernel_, kernel_.index_of(&i)) ? wants_foreseen : i.events & reported_events;
    ir_.branch(ir_.compare_with(Ir::eq, ir_.op(Ir::and_, wanted_, wanted), 0), done, observed);
    ir_.go_on_in(observed);
    const LlvmType i64 = ir_.integer(64);
    const auto offset = std::uint64_t(i.immediate);
    const bool is_one = is_uniform(i.operands[i.detail]);
    if (is_one && !running_ && AccessForm(i.target).space == Space::shared) {
        report_broadcast(u, ir_.op(Ir::add, ir_.cast(Ir::zext, addresses[0], i64), offset), done);
        return ir_.go_on_in(done);
    }
    if (!first) first = is_one ? addresses[0] : ir_.lane(addresses[0], 0);
    first = ir_.op(Ir::add, ir_.cast(Ir::zext, first, i64), offset);
    if (second) second = ir_.op(Ir::add, ir_.cast(Ir::zext, second, i64), offset);
    if (!running_) follow_model(u, first, second, done);
    LlvmValue consecutive_lanes = ir_.integer_of(32, 0);
    if (second)
        consecutive_lanes = ir_.select(
            ir_.compare(Ir::eq, ir_.op(Ir::add, first, half_warp * Moved(i).total()), second),
            ir_.integer_of(32, lanes_per_warp), ir_.integer_of(32, half_warp));
    report_access(u, addresses, consecutive_lanes, done);
    ir_.go_on_in(done);
}

// Writes a load of one shared address down, see AlikeEvents. Goes on in `done`.
void Generator::report_broadcast(std::uint32_t u, LlvmValue address, LlvmBlock done) {
    const Instruction& i = *plan_.units()[u].instruction;
    const LlvmType pointer = ir_.pointer();
    const LlvmValue next_place = ir_.at(observed_, WarpLayout::next_load);
    const LlvmValue written = ir_.load(pointer, next_place);
    const LlvmValue next = ir_.at(written, sizeof(BroadcastLoad));
    ir_.store(address, ir_.at(written, offsetof(BroadcastLoad, address)));
    ir_.store(warp_, ir_.at(written, offsetof(BroadcastLoad, warp)));
    ir_.store(ir_.integer_of(32, kernel_.index_of(&i)),
              ir_.at(written, offsetof(BroadcastLoad, pc)));
    ir_.store(next, next_place);
    const LlvmValue end = ir_.load(pointer, ir_.at(observed_, WarpLayout::loads_end));
    const LlvmBlock full = ir_.block("full");
    ir_.likely(ir_.compare(Ir::ne, next, end), done, full);
    ir_.go_on_in(full);
    end_where_asked(
        u, ir_.call(reinterpret_cast<const void*>(&report_broadcasts), ir_.integer(8), {warp_}),
        done);
}

// Where the access is the warp's next step of the model, and at a distance that is known, goes on
// in `done`: BlockModel::has() finds no more. `second` is null where only the first lane can tell.
void Generator::follow_model(std::uint32_t u, LlvmValue first, LlvmValue second, LlvmBlock done) {
    const std::size_t pc = kernel_.index_of(plan_.units()[u].instruction);
    const LlvmType i8 = ir_.integer(8), i32 = ir_.integer(32), i64 = ir_.integer(64),
                   pointer = ir_.pointer();
    const LlvmValue position = ir_.load(pointer, ir_.at(observed_, WarpLayout::model));
    const LlvmValue warp = ir_.load(i32, ir_.at(warp_, WarpLayout::index));
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

// `consecutive_lanes` as in BlockEvents::report().
void Generator::report_access(std::uint32_t u, const Lanes& addresses, LlvmValue consecutive_lanes,
                              LlvmBlock done) {
    const Unit& unit = plan_.units()[u];
    const Instruction& i = *unit.instruction;
    if (unit.kind == Unit::Kind::stores)  // an observer may ask for the values
        for (unsigned e = 0; e < AccessForm(i.target).elements; ++e) {
            const auto variable = plan_.variables().find(i.operands[1 + e]);
            if (variable != plan_.variables().end() && variable->second.written)
                spill(variable->first);
        }
    // Of one address, which is that of the first lane that runs, a copy for each lane.
    const LlvmValue all = is_uniform(i.operands[i.detail]) ? ir_.splat(addresses[0], lanes_per_warp)
                                                           : ir_.joined(addresses);
    const LlvmValue wide = ir_.cast(Ir::zext, all, ir_.integer(64, lanes_per_warp));
    ir_.store(ir_.op(Ir::add, wide, std::uint64_t(i.immediate)), addresses_);
    const LlvmValue ends =
        ir_.call(reinterpret_cast<const void*>(&warpscope::emulator::report_access), ir_.integer(8),
                 {ir_.address(code_ + kernel_.index_of(&i)), warp_, addresses_, consecutive_lanes});
    end_where_asked(u, ends, done);
}

// Goes on in `done`, unless the launch is to end.
void Generator::end_where_asked(std::uint32_t u, LlvmValue ends, LlvmBlock done) {
    ir_.likely(ir_.compare_with(Ir::eq, ir_.op(Ir::and_, ends, 1), 0), done, pause_before(u));
}

// The values that a store moves, by element, for the lanes of a group.
Generator::Lanes Generator::stored(const Unit& unit, unsigned g) {
    const Instruction& i = *unit.instruction;
    const AccessForm form(i.target);
    const Moved moved(i);
    Lanes values;
    for (unsigned e = 0; e < form.elements; ++e) {
        const std::uint32_t operand = i.operands[1 + e];
        const Type kind = moved.bits() == 64 ? Type::b64 : Type::b32;
        if (const std::uint64_t* value = plan_.constant(operand)) {
            values.push_back(constant(*value, kind, width_));
        } else if (is_uniform(operand)) {
            const LlvmValue value = variable(operand, 0);
            values.push_back(
                ir_.splat(ir_.cast(Ir::trunc, value, ir_.integer(moved.bits())), width_));
        } else {
            values.push_back(variable(operand, g));
        }
    }
    if (!moved.is_pixel) return values;
    LlvmValue pixel = ir_.op(Ir::and_, values[0], 0xFF);
    for (unsigned e = 1; e < 4; ++e)
        pixel = ir_.op(Ir::or_, pixel, ir_.op(Ir::shl, ir_.op(Ir::and_, values[e], 0xFF), 8 * e));
    return {pixel};
}

// `halves`: the addresses of the first and of the 17th lane.
void Generator::move_consecutive(const Unit& unit, LlvmValue base,
                                 const std::vector<LlvmValue>& halves) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const LlvmType i64 = ir_.integer(64);
    const unsigned all = width_ * moved.elements;
    for (unsigned g = 0; g < group_count_; ++g) {
        const unsigned lane = g * width_;
        const LlvmValue start = ir_.cast(Ir::zext, halves[lane / half_warp], i64);
        const LlvmValue place =
            ir_.at(ir_.cast(Ir::inttoptr, ir_.op(Ir::add, start, base), ir_.pointer()),
                   lane % half_warp * moved.total());
        std::vector<int> order(all);
        if (unit.kind == Unit::Kind::stores) {
            const Lanes values = stored(unit, g);
            for (unsigned l = 0; l < all; ++l)
                order[l] = int(l % moved.elements * width_ + l / moved.elements);
            const LlvmValue joined = ir_.joined(values);
            ir_.store(moved.elements == 1 ? joined : ir_.shuffle(joined, joined, order), place,
                      moved.bytes);
            continue;
        }
        const LlvmValue values = ir_.load(ir_.integer(moved.bits(), all), place, moved.bytes);
        for (unsigned e = 0; e < moved.elements; ++e) {
            order.resize(width_);
            for (unsigned l = 0; l < width_; ++l) order[l] = int(l * moved.elements + e);
            set_lanes(i.operands[e],
                      moved.elements == 1 ? values : ir_.shuffle(values, values, order), g);
        }
    }
}

}  // namespace warpscope::emulator
