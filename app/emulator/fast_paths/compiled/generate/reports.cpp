#include "emulator/fast_paths/compiled/generate/reports.h"

#include "emulator/fast_paths/compiled/moved.h"
#include "emulator/fast_paths/compiled/warp_layout.h"

namespace warpscope::emulator {

void Reports::report(std::uint32_t u, const Lanes& addresses, LlvmValue first, LlvmValue second) {
    const Instruction& i = *context_.unit(u).instruction;
    if (!context_.reports || !(i.events & reported_events)) return;
    const LlvmBlock observed = ir_.block("observed"), done = ir_.block();
    const bool foreseen = is_foreseen(context_.kernel(), context_.pc_of(u));
    const std::uint32_t wanted = foreseen ? wants_foreseen : i.events & reported_events;
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

}  // namespace warpscope::emulator
