#include "emulator/warp/warp.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

#include "emulator/program/error.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/memory.h"

namespace warpscope::emulator {

namespace {

/// What an instruction does with memory, for people who see its line; without a line, its PTX.
std::string words_of(const InstructionInfo& info) {
    if (info.source.file < 0) return fmt::format(" ({})", info.text);
    constexpr std::array<std::string_view, 4> accesses{"", " (read)", " (write)",
                                                       " (atomic operation)"};
    return std::string(accesses[std::size_t(info.access)]);
}

}  // namespace

void Warp::begin(const Instruction* first) {
    splits.resize(1);
    splits[0] = {first, threads, -1, Split::runnable, 0, 0};
    joins.clear();
    exited = ~threads;
    turns = 0;
    current = 0;
    will_go_on_at(first);
}

std::int32_t Warp::add_join(const PendingJoin& join) {
    for (std::size_t k = 0; k < joins.size(); ++k)
        if (joins[k].at == nullptr) {
            joins[k] = join;
            return std::int32_t(k);
        }
    joins.push_back(join);
    return std::int32_t(joins.size()) - 1;
}

void Warp::remove_split(std::uint32_t s) {
    if (s + 1 == splits.size())
        splits.pop_back();
    else
        splits.erase(splits.begin() + s);
}

// Operand 1 of the branch is the distance to the join, 0 for none. Lanes that jump straight to the
// join wait there without a split of their own. The lanes that do not take the branch run first.
const Instruction* Warp::diverge(const Instruction* branch, std::uint32_t taken) {
    const Instruction* target = branch + std::int32_t(branch->target);
    const Instruction* at =
        branch->operands[1] ? branch + std::int32_t(branch->operands[1]) : nullptr;
    const std::uint32_t not_taken = mask & ~taken;
    std::int32_t join = splits[current].join;
    if (at) {
        if (join < 0 || joins[std::size_t(join)].at != at) join = add_join({at, mask, 0, join});
        splits[current].join = join;
        if (target == at || branch + 1 == at) {
            joins[std::size_t(join)].arrived |= target == at ? taken : not_taken;
            splits[current].mask = target == at ? not_taken : taken;
            set_mask(splits[current].mask);
            return target == at ? branch + 1 : target;
        }
    }
    splits[current].mask = not_taken;
    splits.push_back({target, taken, join, Split::runnable, 0, 0});
    set_mask(not_taken);
    return branch + 1;
}

const Instruction* Warp::arrive(const Instruction* at) {
    Split& split = splits[current];
    while (split.join >= 0 && joins[std::size_t(split.join)].at == at) {
        PendingJoin& join = joins[std::size_t(split.join)];
        join.arrived |= split.mask;
        if (join.arrived != join.expected) {
            count_threads();
            remove_split(current);
            outcome = Outcome::split_ended;
            return nullptr;
        }
        split.mask = join.arrived;
        split.join = join.parent;
        join.at = nullptr;
    }
    set_mask(split.mask);
    return left > 0 ? at + 1 : pause(at + 1);
}

const Instruction* Warp::exit_lanes() {
    count_threads();
    const std::uint32_t exiting = mask;
    std::int32_t j = splits[current].join;
    exited |= exiting;
    block->live_threads -= exiting == all_lanes ? lanes_per_warp : lane_count(exiting);
    remove_split(current);
    while (j >= 0) {
        PendingJoin& join = joins[std::size_t(j)];
        const std::int32_t parent = join.parent;
        join.expected &= ~exiting;
        if (join.arrived == join.expected) {
            if (join.arrived)
                splits.push_back({join.at, join.arrived, parent, Split::runnable, 0, 0});
            join.at = nullptr;
        }
        j = parent;
    }
    outcome = Outcome::split_ended;
    return nullptr;
}

void Warp::merge_splits() {
    for (std::size_t a = 0; a < splits.size(); ++a)
        for (std::size_t b = splits.size(); b-- > a + 1;) {
            if (splits[a].state != Split::runnable || splits[b].state != Split::runnable) continue;
            if (splits[a].pc != splits[b].pc || splits[a].join != splits[b].join) continue;
            splits[a].mask |= splits[b].mask;
            remove_split(std::uint32_t(b));
        }
}

// Splits may wait for different lanes. Those go on whose lanes all wait at one instruction.
bool Warp::complete_warp_sync() {
    for (const Split& waiting : splits) {
        if (waiting.state != Split::at_warp_sync) continue;
        const Instruction* const i = waiting.pc;
        const auto waits_here = [&](const Split& s) {
            return s.state == Split::at_warp_sync && s.pc == i;
        };
        std::uint32_t arrived = 0, before = 0;
        for (const Split& s : splits)
            if (waits_here(s)) arrived |= s.mask;
        do {
            before = arrived;
            for (const Split& s : splits)
                if (waits_here(s) && (s.members & ~exited & ~arrived)) arrived &= ~s.mask;
        } while (arrived != before);
        if (!arrived) continue;
        left = INT64_MAX / 2;
        use_lanes(arrived);
        i->handlers[Instruction::masked](i, *this);
        for (Split& s : splits)
            if (waits_here(s) && (s.mask & arrived)) {
                s.state = Split::runnable;
                s.pc = i + 1;
            }
        merge_splits();
        return true;
    }
    return false;
}

bool Warp::find_range(AddressRange& range, std::uint64_t low, std::uint64_t high) {
    if (high < low) return false;
    const auto found = find_global(*block->memory, *block->kernel->module, low, high - low);
    if (found) range = *found;
    return found.has_value();
}

std::string Warp::thread_name(unsigned lane) const {
    const std::uint32_t thread = index * lanes_per_warp + lane;
    return fmt::format("thread {} of block {}", name_of(index_in(block->launch->block, thread)),
                       name_of(block->block_index()));
}

void Warp::fail(const Instruction* i, unsigned lane, const std::string& what) const {
    throw Error(failure(i, lane, what),
                {block->kernel->index_of(i), index * lanes_per_warp + lane});
}

void Warp::fail_access(const Instruction* i, unsigned lane, const std::string& what,
                       std::uint64_t allocation) const {
    throw AccessError(failure(i, lane, what), block->kernel->index_of(i),
                      index * lanes_per_warp + lane, allocation);
}

void Warp::fail_alignment(const Instruction* i, unsigned lane, const std::string& what) const {
    throw MisalignedError(failure(i, lane, what), block->kernel->index_of(i),
                          index * lanes_per_warp + lane);
}

std::string Warp::failure(const Instruction* i, unsigned lane, const std::string& what) const {
    const Kernel& kernel = *block->kernel;
    const std::uint32_t pc = kernel.index_of(i);
    return fmt::format("kernel {}, {}: {}: {}{}", kernel.name, kernel.where(pc), thread_name(lane),
                       what, words_of(kernel.lines[pc]));
}

void Warp::check_in_block(const Instruction* i, unsigned lane, std::uint64_t address,
                          const PrivateMemory& memory, unsigned bytes, unsigned align) const {
    if (address % align)
        fail_alignment(i, lane,
                       fmt::format("{} memory address {:#x} is not a multiple of {}", memory.name,
                                   address, align));
    if (address > memory.bytes || memory.bytes - address < bytes)
        fail_access(i, lane,
                    fmt::format("{} bytes at {} memory address {:#x} lie outside the {} bytes "
                                "that the {} has",
                                bytes, memory.name, address, memory.bytes, memory.owner));
}

std::byte* Warp::address_in_cluster_of(const Instruction* i, unsigned lane, std::uint64_t address,
                                       unsigned bytes, unsigned align) const {
    const SharedPlace place = shared_place(*block, address);
    if (!place.block) {
        const std::uint64_t rank =
            (address - (address >= shared_window ? shared_window : 0)) >> rank_shift;
        fail_access(i, lane,
                    fmt::format("the address {:#x} is in the shared memory of block {} of the "
                                "cluster, which has {}",
                                address, rank - 1, block->cluster ? block->cluster->size() : 1));
    }
    check_in_block(i, lane, place.offset, {block->shared_bytes, "shared", "block"}, bytes, align);
    if (place.block != block && !place.block->live_threads)
        fail_access(i, lane,
                    fmt::format("block {} has ended, and its shared memory with it: a barrier of "
                                "the cluster before its end makes it wait",
                                name_of(place.block->block_index())));
    return place.block->shared + place.offset;
}

std::byte* Warp::checked_address(const Instruction* i, unsigned lane, Space space,
                                 std::uint64_t address, unsigned bytes, unsigned align) {
    if (space == Space::generic) {
        if (address - shared_window < window_size) {
            space = Space::cluster;
        } else if (address - local_window < window_size) {
            space = Space::local;
            address -= local_window;
        } else if (address - param_window < window_size) {
            space = Space::param;
            address -= param_window;
        }
    }
    if (space == Space::cluster) return address_in_cluster_of(i, lane, address, bytes, align);
    if (space == Space::shared) {
        check_in_block(i, lane, address, {block->shared_bytes, "shared", "block"}, bytes, align);
        return block->shared + address;
    }
    if (space == Space::local) {
        const std::uint32_t size = block->kernel->local_bytes;
        check_in_block(i, lane, address, {size, "local", "thread"}, bytes, align);
        return block->local + std::size_t(index * lanes_per_warp + lane) * size + address;
    }
    if (space == Space::param) {
        if (address > block->arguments.size() || block->arguments.size() - address < bytes)
            fail_access(i, lane, "the read lies outside of the kernel's parameters");
        if (address % align)
            fail_alignment(
                i, lane,
                fmt::format("parameter address {:#x} is not a multiple of {}", address, align));
        return const_cast<std::byte*>(block->arguments.data()) + address;
    }
    if (address % align)
        fail_alignment(i, lane,
                       fmt::format("the global memory address is not a multiple of {}: the "
                                   "remainder is {}",
                                   align, address % align));
    if (!in_global(i, address, address + bytes)) {
        const Memory::Allocation* const close = block->memory->nearest(address);
        const std::string what =
            fmt::format("{} bytes at {}", bytes, block->memory->describe(address));
        throw GlobalAccessError({failure(i, lane, what), block->kernel->index_of(i),
                                 index * lanes_per_warp + lane, close ? close->begin : 0},
                                address);
    }
    return reinterpret_cast<std::byte*>(address);
}

}  // namespace warpscope::emulator
