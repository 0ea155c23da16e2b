#include <fmt/format.h>

#include "emulator/decode/decoder.h"
#include "emulator/lower/calls.h"
#include "emulator/ptx/opcode_traits.h"

namespace warpscope::emulator {

bool Decoder::decode_control(const Statement& s) {
    if (s.opcode == "bra") {
        decode_branch(s);
        return true;
    }
    if (is_barrier(s)) {
        decode_barrier(s);
        return true;
    }
    Emission e;
    e.checkpoint = true;
    if (is_exit(s)) {
        Modifiers m(s);
        m.take("uni");
        finish(m);
        e.full = exit_threads;
        e.role = Role::exit;
    } else if (s.opcode == "trap") {
        Modifiers m(s);
        const TrapReason reason = m.take(stack_trap)    ? TrapReason::stack
                                  : m.take(callee_trap) ? TrapReason::callee
                                  : m.take(target_trap) ? TrapReason::target
                                                        : TrapReason::kernel;
        finish(m);
        e.full = trap;
        e.detail = std::uint16_t(reason);
    } else if (s.opcode == print_opcode) {
        e.full = print;
        e.operands = {destination(s.operands[0]), source(s.operands[1], Type::b64),
                      source(s.operands[2], Type::b64)};
    } else if (s.opcode == assert_opcode) {
        e.full = assert_fail;
        e.operands = {source(s.operands[0], Type::b64), source(s.operands[1], Type::b64),
                      source(s.operands[2], Type::b32), source(s.operands[3], Type::b64)};
    } else if (s.opcode == "membar" || s.opcode == "fence" || s.opcode == "nanosleep" ||
               s.opcode == "prefetch" || s.opcode == "prefetchu" || s.opcode == "pmevent") {
        e.full = nothing;  // memory is in order here, and time is instructions
    } else {
        return false;
    }
    emit(e);
    return true;
}

void Decoder::decode_branch(const Statement& s) {
    Modifiers m(s);
    m.take("uni");
    finish(m);
    const std::uint32_t statement = std::uint32_t(&s - syntax_.statements.data());
    const std::uint32_t block = flow_.block_of[statement];
    Emission e;
    e.checkpoint = true;
    e.full = s.guard < 0 ? branch_always : s.guard_negated ? branch_unless : branch_if;
    e.role = s.guard < 0 ? Role::branch : s.guard_negated ? Role::branch_unless : Role::branch_if;
    if (s.guard >= 0) e.operands = {slots_[size_t(s.guard)]};
    fixups_.push_back(
        {std::uint32_t(kernel_->code.size()), flow_.block_of[branch_target(syntax_, s)],
         uniformity_.divergent[block] ? uniformity_.join[block] : ControlFlow::no_block});
    emit_raw(e, false);
}

// bar{.cta}.sync a{, b}; barrier{.cta}.sync{.aligned}; .arrive a, b; .red.op d, a{, b}, p. bar is
// barrier.aligned.
void Decoder::decode_barrier(const Statement& s) {
    Modifiers m(s);
    m.take("cta");
    Emission e;
    e.immediate = m.take("aligned") || s.opcode == "bar";
    e.full = barrier;
    e.role = Role::block_barrier;
    e.checkpoint = e.barrier = true;
    kernel_->has_barrier = true;
    if (m.take("red")) {
        const bool popc = m.take("popc");
        const bool conjunction = !popc && m.take("and");
        if (!popc && !conjunction && !m.take("or")) fail("unknown form of bar.red");
        m.take_type();
        if (s.operands.size() < 3 || s.operands.size() > 4) fail("wrong number of operands");
        const bool counted = s.operands.size() == 4;
        e.detail = std::uint16_t(popc          ? BarrierKind::popc
                                 : conjunction ? BarrierKind::all
                                               : BarrierKind::any);
        e.operands = {source(s.operands[1], Type::u32),
                      counted ? source(s.operands[2], Type::u32) : 0, destination(s.operands[0]),
                      predicate_source(s.operands.back())};
    } else {
        const bool arrives = m.take("arrive");
        if (!arrives && !m.take("sync")) fail("unknown form of bar");
        if (s.operands.empty() || s.operands.size() > 2) fail("wrong number of operands");
        if (arrives && s.operands.size() != 2) fail("bar.arrive needs a thread count");
        e.detail = std::uint16_t(arrives ? BarrierKind::arrive : BarrierKind::sync);
        e.operands = {source(s.operands[0], Type::u32),
                      s.operands.size() == 2 ? source(s.operands[1], Type::u32) : 0};
    }
    finish(m);
    emit(e);
}

bool Decoder::decode_warp(const Statement& s) {
    Modifiers m(s);
    Emission e;
    e.checkpoint = true;
    if ((s.opcode == "bar" || s.opcode == "barrier") && m.take("warp")) {
        m.take("sync");
        finish(m);
        expect_operands(s, 1);
        e.full = warp_barrier;
        e.role = Role::warp_barrier;
        e.operands = {source(s.operands[0], Type::u32)};
    } else if (s.opcode == "activemask") {
        m.take("b32");
        finish(m);
        expect_operands(s, 1);
        e.full = active_mask;
        e.operands = {destination(s.operands[0])};
    } else if (s.opcode == "match") {
        decode_match(s);
        return true;
    } else if (s.opcode == "redux" && m.take("sync")) {
        const auto type = m.take_type();
        if (!type || m.left().size() != 1) fail("unknown form of redux");
        const std::string_view op = m.left()[0];
        const bool sign = is_signed(*type);
        const ReduceOp found = op == "add"   ? ReduceOp::add
                               : op == "min" ? (sign ? ReduceOp::min_s : ReduceOp::min_u)
                               : op == "max" ? (sign ? ReduceOp::max_s : ReduceOp::max_u)
                               : op == "and" ? ReduceOp::and_
                               : op == "or"  ? ReduceOp::or_
                                             : ReduceOp::xor_;
        if (found == ReduceOp::xor_ && op != "xor") fail("unknown form of redux");
        expect_operands(s, 3);
        e.full = reduce_lanes;
        e.detail = std::uint16_t(found);
        e.operands = {destination(s.operands[0]), source(s.operands[1], *type),
                      source(s.operands[2], Type::u32)};
    } else if (s.opcode == "shfl") {
        decode_shuffle(s);
        return true;
    } else if (s.opcode == "vote") {
        decode_vote(s);
        return true;
    } else {
        return false;
    }
    emit(e);
    return true;
}

void Decoder::decode_shuffle(const Statement& s) {
    Modifiers m(s);
    if (!m.take("sync")) fail("shfl without .sync is not supported");
    m.take("b32");
    Emission e;
    e.full = shuffle;
    e.checkpoint = true;
    e.detail = std::uint16_t(m.take("up")     ? ShuffleMode::up
                             : m.take("down") ? ShuffleMode::down
                             : m.take("bfly") ? ShuffleMode::bfly
                                              : ShuffleMode::idx);
    m.take("idx");
    finish(m);
    expect_operands(s, 5);
    const Operand& d = s.operands[0];
    const bool pair = d.kind == Operand::pair;
    e.operands = {destination(pair ? d.elements[0] : d), pair ? destination(d.elements[1]) : 0,
                  source(s.operands[1], Type::b32),      source(s.operands[2], Type::b32),
                  source(s.operands[3], Type::b32),      source(s.operands[4], Type::b32)};
    emit(e);
}

// match.any.sync.type d, a, members; match.all.sync.type d{|p}, a, members
void Decoder::decode_match(const Statement& s) {
    Modifiers m(s);
    const bool all = m.take("all");
    if ((!all && !m.take("any")) || !m.take("sync")) fail("unknown form of match");
    const auto type = m.take_type();
    if (!type) fail("match needs a type");
    finish(m);
    expect_operands(s, 3);
    const Operand& d = s.operands[0];
    const bool pair = all && d.kind == Operand::pair;
    Emission e;
    e.full = all ? match_all : match_any;
    e.checkpoint = true;
    e.operands = {destination(pair ? d.elements[0] : d), source(s.operands[1], *type),
                  source(s.operands[2], Type::u32), pair ? destination(d.elements[1]) : 0};
    e.target = bits_of(*type);
    emit(e);
}

void Decoder::decode_vote(const Statement& s) {
    Modifiers m(s);
    if (!m.take("sync")) fail("vote without .sync is not supported");
    m.take("pred");
    m.take("b32");
    Emission e;
    e.full = vote;
    e.checkpoint = true;
    e.detail = std::uint16_t(m.take("all")   ? VoteMode::all
                             : m.take("any") ? VoteMode::any
                             : m.take("uni") ? VoteMode::uni
                                             : VoteMode::ballot);
    m.take("ballot");
    finish(m);
    expect_operands(s, 3);
    e.target = s.operands[1].negated;
    e.operands = {destination(s.operands[0]), source(s.operands[1], Type::pred),
                  source(s.operands[2], Type::b32)};
    emit(e);
}

// What observers may be told of.
std::uint8_t Decoder::events_of(const Emission& e) {
    const bool accesses = e.access != MemoryAccess::none, generic = e.space == Space::generic;
    std::uint8_t events = Instruction::executes;
    if (accesses && (generic || e.space == Space::shared)) events |= Instruction::shared_access;
    if (accesses && (generic || e.space == Space::global)) events |= Instruction::global_access;
    if (e.role == Role::warp_barrier) events |= Instruction::warp_sync;
    return events;
}

// Operands are final. Prefixes run what is behind them.
void Decoder::finish_events() {
    for (size_t k = 0; k < kernel_->code.size(); ++k) {
        Instruction& i = kernel_->code[k];
        const InstructionInfo& info = kernel_->lines[k];
        const bool wide = AccessForm(i.target).wide_address;
        if (info.access != MemoryAccess::none && info.space == Space::shared && !wide &&
            i.operands[info.address_operand] & 1)
            i.events |= Instruction::uniform_shared;
    }
    for (size_t k = kernel_->code.size(); k-- > 1;) {
        Instruction& i = kernel_->code[k - 1];
        if (is_prefix(i.role))
            i.events = std::uint8_t(kernel_->code[k].events | Instruction::guards);
    }
}

}  // namespace warpscope::emulator
