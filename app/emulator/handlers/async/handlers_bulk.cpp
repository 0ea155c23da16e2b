// Bulk copies and reductions, copies of boxes of tensors, st.async and red.async (PTX ISA 9.7.9.25
// to 9.7.9.27, and 9.7.13, "red.async").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "emulator/async/async_copies.h"
#include "emulator/handlers/async/places.h"
#include "emulator/handlers/handlers.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

/// Divides a bulk copy into parts of whole 128 bytes, as far as 32 parts are enough.
void divide(AsyncCopy& copy, std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
    constexpr std::uint32_t line = 128;
    const std::uint32_t of_part = (bytes / lanes_per_warp + line) / line * line;
    for (std::uint32_t part = 0, done = 0; done < bytes; ++part, done += of_part) {
        copy.parts |= 1u << part;
        copy.to[part] = to + done;
        copy.from[part] = from + done;
        copy.bytes[part] = copy.read[part] = std::min(of_part, bytes - done);
    }
}

AsyncCopy::Join join_of(unsigned reduction_plus_one, Type type) {
    return reduction_plus_one ? reduction(AtomicOp(reduction_plus_one - 1), type) : nullptr;
}

/// The join of a reduction into a tensor whose elements have this type.
AsyncCopy::Join join_of_tensor(const Instruction* i, Warp& w, unsigned lane, unsigned reduction,
                               Type type) {
    if (!reduction) return nullptr;
    const AsyncCopy::Join found = join_of(reduction, type);
    const Type bits = type == Type::u32 ? Type::b32 : Type::b64;
    const bool has_bits = type == Type::u32 || type == Type::u64;
    const AsyncCopy::Join bitwise = has_bits ? join_of(reduction, bits) : nullptr;
    if (!found && !bitwise)
        w.fail(i, lane,
               fmt::format("the elements of this tensor have the type .{}, which this reduction "
                           "does not have",
                           name_of(type)));
    return found ? found : bitwise;
}

/// The places of a copy whose bytes an mbarrier counts.
void set_mbarrier(const Instruction* i, Warp& w, unsigned lane, const Place& place,
                  AsyncCopy& copy) {
    copy.completion = Completion::mbarrier;
    copy.mbarrier = std::uint32_t(place.address);
    copy.mbarrier_rank = place.rank;
    mbarrier_at(i, w, lane, place);
}

/// Starts a copy to these offsets in the shared memory of all blocks of the cluster whose bits are
/// set (.multicast::cluster).
void start_in_each(const Instruction* i, Warp& w, unsigned lane, std::uint32_t ranks,
                   AsyncCopy& copy) {
    for_each_lane(ranks, [&](unsigned rank) {
        if (!w.block->cluster || rank >= w.block->cluster->size())
            w.fail(i, lane, fmt::format("the cluster has no block {} to copy to", rank));
        const int other = rank == w.block->rank ? -1 : int(rank);
        copy.to_rank = other;
        set_mbarrier(i, w, lane, {copy.mbarrier, other}, copy);
        w.block->async->start(copy, w);
    });
}

/// The tensor map at the address of a lane.
TensorMap map_at(const Instruction* i, Warp& w, unsigned lane, const CopyForm& form) {
    const std::uint64_t address =
        address_in(w, lane, i->operands[1], form.wide_from) + std::uint64_t(i->immediate >> 32);
    TensorMap map;
    std::memcpy(
        &map,
        w.checked_address(i, lane, Space::generic, address, TensorMap::bytes, TensorMap::align),
        sizeof(map));
    if (map.mark != TensorMap::mark_of_maps)
        w.fail(i, lane, "this is no tensor map: cuTensorMapEncodeTiled() makes one");
    if (map.dimensions != i->detail)
        w.fail(i, lane,
               fmt::format("the tensor has {} dimensions, and the copy gives {} coordinates",
                           unsigned(map.dimensions), i->detail));
    return map;
}

/// Starts the copy of a box, in several where it has more rows than a copy has parts.
class BoxCopy {
  public:
    BoxCopy(const Instruction* i, Warp& w, unsigned lane, const TensorMap& map, AsyncCopy copy,
            std::uint32_t ranks)
        : i_(i), w_(w), lane_(lane), map_(map), copy_(copy), ranks_(ranks) {
        copy_.swizzle = map.swizzle;
    }

    /// `first`: the coordinates of the box; `shared`: where it lies in shared memory.
    void start(const std::array<std::int64_t, TensorMap::most_dimensions>& first,
               std::uint64_t shared) {
        check(first);
        std::uint64_t rows = 1;
        for (unsigned d = 1; d < map_.dimensions; ++d) rows *= map_.box[d];
        const std::uint64_t row_bytes = std::uint64_t(map_.box[0]) * map_.element_bytes;
        for (std::uint64_t row = 0; row < rows; ++row) {
            std::uint64_t memory = map_.memory, rest = row;
            bool outside = false;
            for (unsigned d = 1; d < map_.dimensions; ++d) {
                const std::int64_t at = first[d] + std::int64_t(rest % map_.box[d]);
                rest /= map_.box[d];
                outside |= at < 0 || std::uint64_t(at) >= map_.size[d];
                memory += std::uint64_t(at) * map_.stride[d - 1];
            }
            add_row(first[0], outside ? 0 : map_.size[0], memory, shared + row * row_bytes);
        }
        end();
    }

  private:
    /// Throws Error for boxes that an H100 does not move: it ends with "an illegal instruction".
    void check(const std::array<std::int64_t, TensorMap::most_dimensions>& first) {
        if (first[0] * map_.element_bytes % chunk)
            w_.fail(i_, lane_,
                    fmt::format("a box begins at a multiple of {} elements (16 bytes) of its row, "
                                "not at {}",
                                chunk / map_.element_bytes, first[0]));
        for (unsigned d = 0; d < map_.dimensions; ++d)
            if (!copy_.to_shared && first[d] < 0)
                w_.fail(i_, lane_,
                        fmt::format("a box that is stored begins in its tensor; coordinate {} is "
                                    "{}",
                                    d, first[d]));
    }
    // Elements outside of the tensor are zero in shared memory, and are not stored to the tensor,
    // but for the rest of the 16 bytes in which a row ends: so an H100 does.
    void add_row(std::int64_t first, std::uint64_t size, std::uint64_t memory,
                 std::uint64_t shared) {
        const std::int64_t end = first + map_.box[0];
        const std::uint64_t elements = chunk / map_.element_bytes;
        if (!copy_.to_shared) size = (size + elements - 1) / elements * elements;
        const std::int64_t from = std::clamp<std::int64_t>(0, first, end),
                           to = std::clamp<std::int64_t>(std::int64_t(size), from, end);
        const auto bytes = [&](std::int64_t a, std::int64_t b) {
            return std::uint32_t(b - a) * map_.element_bytes;
        };
        const std::uint64_t inside = memory + std::uint64_t(from) * map_.element_bytes;
        if (to > from && !w_.in_global(i_, inside, inside + bytes(from, to)))
            w_.fail_access(i_, lane_, "the tensor map's tensor lies outside of its allocation");
        if (copy_.to_shared) {
            if (from > first) add(shared, 0, bytes(first, from), 0);
            add(shared + bytes(first, from), inside, bytes(from, end), bytes(from, to));
        } else if (to > from) {
            add(inside, shared + bytes(first, from), bytes(from, to), bytes(from, to));
        }
    }
    void add(std::uint64_t to, std::uint64_t from, std::uint32_t bytes, std::uint32_t read) {
        if (!bytes) return;
        const auto part = unsigned(std::countr_one(copy_.parts));
        copy_.parts |= 1u << part;
        copy_.to[part] = to;
        copy_.from[part] = from;
        copy_.bytes[part] = bytes;
        copy_.read[part] = read;
        if (copy_.parts == all_lanes) end();
    }
    void end() {
        if (!copy_.parts) return;
        if (ranks_)
            start_in_each(i_, w_, lane_, ranks_, copy_);
        else
            w_.block->async->start(copy_, w_);
        copy_.parts = 0;
    }

    static constexpr int chunk = 16;  // bytes

    const Instruction* const i_;
    Warp& w_;
    const unsigned lane_;
    const TensorMap& map_;
    AsyncCopy copy_;
    const std::uint32_t ranks_;
};

}  // namespace

const Instruction* bulk_copy(const Instruction* i, Warp& w) {
    const CopyForm form(i->target);
    for_each_lane(w.mask, [&](unsigned lane) {
        AsyncCopy copy = copy_of(i, w, form);
        copy.lane = int(lane);
        const auto bytes = w.get<std::uint32_t>(i->operands[2], lane);
        if (bytes % 16)
            w.fail(i, lane, fmt::format("a bulk copy has a multiple of 16 bytes, not {}", bytes));
        const Place to = place_of(i, w, lane, form.to, to_of(i, w, lane, form), bytes, 16);
        const Place from = place_of(i, w, lane, form.from, from_of(i, w, lane, form), bytes, 16);
        divide(copy, to.address, from.address, bytes);
        copy.to_rank = to.rank;
        copy.join = join_of(form.reduction, i->type);
        copy.completion = Completion::bulk_group;
        if (form.counts_bytes) {
            const std::uint64_t address = address_in(w, lane, i->operands[3], form.wide_mbarrier);
            set_mbarrier(i, w, lane, place_of(i, w, lane, form.to, address, 8, 8), copy);
        }
        if (form.has_ranks)
            start_in_each(i, w, lane, w.get<std::uint32_t>(i->operands[4], lane) & 0xFFFF, copy);
        else
            w.block->async->start(copy, w);
    });
    return w.cost_point(i, i + 1);
}

const Instruction* async_store(const Instruction* i, Warp& w) {
    const AccessForm form(i->target);
    const unsigned bytes = form.bytes * form.elements;
    for_each_lane(w.mask, [&](unsigned lane) {
        AsyncCopy copy;
        copy.pc = w.block->kernel->index_of(i);
        copy.warp = w.index;
        copy.lane = int(lane);
        copy.parts = 1;
        copy.bytes[0] = bytes;
        copy.has_values = true;
        copy.join = join_of(i->detail >> 1, i->type);
        for (unsigned e = 0; e < form.elements; ++e) {
            const std::uint64_t value = form.wide_register
                                            ? w.get<std::uint64_t>(i->operands[2 + e], lane)
                                            : w.get<std::uint32_t>(i->operands[2 + e], lane);
            std::memcpy(reinterpret_cast<std::byte*>(copy.values.data()) + e * form.bytes, &value,
                        form.bytes);
        }
        const std::uint64_t address =
            address_in(w, lane, i->operands[0], form.wide_address) + std::uint64_t(i->immediate);
        const Place to = place_of(i, w, lane, Space::cluster, address, bytes, bytes);
        copy.to[0] = to.address;
        copy.to_rank = to.rank;
        const std::uint64_t mbarrier = address_in(w, lane, i->operands[1], i->detail & 1);
        set_mbarrier(i, w, lane, place_of(i, w, lane, Space::cluster, mbarrier, 8, 8), copy);
        w.block->async->start(copy, w);
    });
    return w.cost_point(i, i + 1);
}

const Instruction* tensor_copy(const Instruction* i, Warp& w) {
    const CopyForm form(i->target);
    const unsigned dimensions = i->detail;
    const std::uint32_t* const further =
        w.block->kernel->further_operands.data() + w.get<std::uint32_t>(i->operands[2], 0);
    for_each_lane(w.mask, [&](unsigned lane) {
        const TensorMap map = map_at(i, w, lane, form);
        std::uint64_t bytes = map.element_bytes;
        for (unsigned d = 0; d < dimensions; ++d) bytes *= map.box[d];
        AsyncCopy copy = copy_of(i, w, form);
        copy.lane = int(lane);
        constexpr unsigned align = 128;
        const Space space = copy.to_shared ? form.to : form.from;
        const std::uint64_t address = address_in(w, lane, i->operands[0], form.wide_to) +
                                      std::uint64_t(std::int64_t(std::int32_t(i->immediate)));
        const Place shared = place_of(i, w, lane, space, address, unsigned(bytes), align);
        std::array<std::int64_t, TensorMap::most_dimensions> first{};
        for (unsigned d = 0; d < dimensions; ++d) first[d] = w.get<std::int32_t>(further[d], lane);
        copy.join = join_of_tensor(i, w, lane, form.reduction, map.type);
        copy.completion = Completion::bulk_group;
        std::uint32_t ranks = 0;
        if (form.counts_bytes) {
            copy.to_rank = shared.rank;
            const std::uint64_t mbarrier =
                address_in(w, lane, further[dimensions], form.wide_mbarrier);
            set_mbarrier(i, w, lane, place_of(i, w, lane, form.to, mbarrier, 8, 8), copy);
            if (form.has_ranks)
                ranks = w.get<std::uint32_t>(further[dimensions + 1], lane) & 0xFFFF;
        }
        BoxCopy(i, w, lane, map, copy, ranks).start(first, shared.address);
    });
    return w.cost_point(i, i + 1);
}

}  // namespace warpscope::emulator
