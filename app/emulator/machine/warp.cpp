#include "emulator/machine/warp.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/program/error.h"

namespace warpscope::emulator {

void Warp::begin(const Instruction* entry) {
    splits.assign(1, Split{entry, threads, -1, Split::runnable, 0, 0});
    records.clear();
    exited = ~threads;
    turns = 0;
    current = 0;
}

void Warp::enter(uint32_t s) {
    current = s;
    mask = splits[s].mask;
    mode = mask == all_lanes ? Instruction::full : Instruction::masked;
    left_at_entry = left_at_mask = left;
}

void Warp::leave() {
    set_mask(mask);
}

const Instruction* Warp::pause(const Instruction* next) {
    splits[current].pc = next;
    outcome = Outcome::paused;
    return nullptr;
}

int32_t Warp::new_record(const Record& record) {
    for (size_t r = 0; r < records.size(); ++r)
        if (records[r].join == nullptr) {
            records[r] = record;
            return int32_t(r);
        }
    records.push_back(record);
    return int32_t(records.size()) - 1;
}

void Warp::remove_split(uint32_t s) {
    splits.erase(splits.begin() + s);
}

// The branch's operand 1 is the distance to the join, 0 for none. Lanes that jump straight to the
// join wait there without a split of their own; the side that falls through runs on first.
const Instruction* Warp::diverge(const Instruction* branch, uint32_t taken) {
    const Instruction* target = branch + int32_t(branch->target);
    const Instruction* join = branch->operands[1] ? branch + int32_t(branch->operands[1]) : nullptr;
    const uint32_t fallen = mask & ~taken;
    int32_t record = splits[current].record;
    if (join) {
        if (record < 0 || records[size_t(record)].join != join)
            record = new_record({join, mask, 0, record});
        splits[current].record = record;
        if (target == join || branch + 1 == join) {
            records[size_t(record)].arrived |= target == join ? taken : fallen;
            splits[current].mask = target == join ? fallen : taken;
            set_mask(splits[current].mask);
            return target == join ? branch + 1 : target;
        }
    }
    splits[current].mask = fallen;
    splits.push_back({target, taken, record, Split::runnable, 0, 0});
    set_mask(fallen);
    return branch + 1;
}

const Instruction* Warp::arrive(const Instruction* join) {
    Split& split = splits[current];
    while (split.record >= 0 && records[size_t(split.record)].join == join) {
        Record& record = records[size_t(split.record)];
        record.arrived |= split.mask;
        if (record.arrived != record.expected) {
            leave();
            remove_split(current);
            outcome = Outcome::split_gone;
            return nullptr;
        }
        split.mask = record.arrived;
        split.record = record.parent;
        record.join = nullptr;
    }
    set_mask(split.mask);
    return left > 0 ? join + 1 : pause(join + 1);
}

const Instruction* Warp::exit_lanes() {
    set_mask(mask);
    const uint32_t gone = mask;
    int32_t r = splits[current].record;
    exited |= gone;
    block->live_threads -= uint32_t(std::popcount(gone));
    remove_split(current);
    while (r >= 0) {
        Record& record = records[size_t(r)];
        const int32_t parent = record.parent;
        record.expected &= ~gone;
        if (record.arrived == record.expected) {
            if (record.arrived)
                splits.push_back({record.join, record.arrived, parent, Split::runnable, 0, 0});
            record.join = nullptr;
        }
        r = parent;
    }
    outcome = Outcome::split_gone;
    return nullptr;
}

const Instruction* Warp::wait_at_barrier(const Instruction* i, unsigned barrier) {
    splits[current].pc = i;
    splits[current].state = Split::at_barrier;
    splits[current].barrier = uint8_t(barrier);
    outcome = Outcome::at_barrier;
    return nullptr;
}

const Instruction* Warp::wait_for_members(const Instruction* i, uint32_t members) {
    splits[current].pc = i;
    splits[current].state = Split::at_warp_sync;
    splits[current].members = members;
    outcome = Outcome::at_warp_sync;
    return nullptr;
}

void Warp::merge_splits() {
    for (size_t a = 0; a < splits.size(); ++a)
        for (size_t b = splits.size(); b-- > a + 1;) {
            if (splits[a].state != Split::runnable || splits[b].state != Split::runnable) continue;
            if (splits[a].pc != splits[b].pc || splits[a].record != splits[b].record) continue;
            splits[a].mask |= splits[b].mask;
            remove_split(uint32_t(b));
        }
}

bool Warp::complete_warp_sync() {
    for (const Split& waiting : splits) {
        if (waiting.state != Split::at_warp_sync) continue;
        const Instruction* i = waiting.pc;
        uint32_t come = 0;
        for (const Split& s : splits)
            if (s.state == Split::at_warp_sync && s.pc == i && s.members == waiting.members)
                come |= s.mask;
        if (waiting.members & ~exited & ~come) continue;
        const uint32_t members = waiting.members;
        left = INT64_MAX / 2;
        mask = come;
        i->handlers[Instruction::masked](i, *this);
        for (Split& s : splits)
            if (s.state == Split::at_warp_sync && s.pc == i && s.members == members) {
                s.state = Split::runnable;
                s.pc = i + 1;
            }
        merge_splits();
        return true;
    }
    return false;
}

bool Warp::find_global(BlockContext::Range& range, uint64_t low, uint64_t high) {
    if (high < low) return false;
    if (const Memory::Allocation* found = block->memory->find(low)) {
        if (high > found->end) return false;
        range = {found->begin, found->end};
        return true;
    }
    for (const Module::Range& variable : block->kernel->module->variables()) {
        const auto begin = uint64_t(variable.data);
        if (low < begin || high > begin + variable.bytes) continue;
        range = {begin, begin + variable.bytes};
        return true;
    }
    return false;
}

std::string Warp::thread_name(unsigned lane) const {
    const Dim3& b = block->launch->block;
    const Dim3& g = block->launch->grid;
    const uint32_t t = index * lanes_per_warp + lane;
    return fmt::format("thread ({},{},{}) of block ({},{},{})", t % b.x, t / b.x % b.y,
                       t / b.x / b.y, block->block % g.x, block->block / g.x % g.y,
                       block->block / g.x / g.y);
}

void Warp::fail(const Instruction* i, unsigned lane, const std::string& what) const {
    throw Error(failure(i, lane, what));
}

void Warp::fail_access(const Instruction* i, unsigned lane, const std::string& what) const {
    throw AccessError(failure(i, lane, what), block->kernel->index_of(i),
                      index * lanes_per_warp + lane);
}

std::string Warp::failure(const Instruction* i, unsigned lane, const std::string& what) const {
    const Kernel& kernel = *block->kernel;
    return fmt::format("kernel {}, {}: {}: {} ({})", kernel.name, kernel.where(kernel.index_of(i)),
                       thread_name(lane), what, kernel.lines[kernel.index_of(i)].text);
}

std::byte* Warp::resolve(const Instruction* i, unsigned lane, Space space, uint64_t address,
                         unsigned bytes, unsigned align) {
    if (space == Space::generic) {
        if (address - shared_window < window_size) {
            space = Space::shared;
            address -= shared_window;
        } else if (address - local_window < window_size) {
            space = Space::local;
            address -= local_window;
        }
    }
    if (space == Space::shared || space == Space::local) {
        const bool shared = space == Space::shared;
        const uint32_t size = shared ? block->shared_bytes : block->kernel->local_bytes;
        const char* name = shared ? "shared" : "local";
        if (address > size || size - address < bytes)
            fail_access(i, lane,
                        fmt::format("{} bytes at {} memory address {:#x} lie outside the {} bytes "
                                    "that the {} has",
                                    bytes, name, address, size, shared ? "block" : "thread"));
        if (address % align)
            fail_access(i, lane,
                        fmt::format("{} memory address {:#x} is not a multiple of {}", name,
                                    address, align));
        if (shared) return block->shared + address;
        return block->local + size_t(index * lanes_per_warp + lane) * size + address;
    }
    if (space == Space::param) {
        if (address > block->arguments.size() || block->arguments.size() - address < bytes)
            fail_access(i, lane, "the read lies outside the kernel's parameters");
        return const_cast<std::byte*>(block->arguments.data()) + address;
    }
    if (!in_global(i, address, address + bytes))
        fail_access(i, lane,
                    fmt::format("{} bytes at global memory address {:#x}: {}", bytes, address,
                                block->memory->describe(address)));
    if (address % align)
        fail_access(
            i, lane,
            fmt::format("global memory address {:#x} is not a multiple of {}", address, align));
    return reinterpret_cast<std::byte*>(address);
}

}  // namespace warpscope::emulator
