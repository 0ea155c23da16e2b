#include "emulator/checks/memory_check.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "emulator/checks/padding.h"
#include "emulator/lower/uniformity.h"
#include "emulator/program/error.h"
#include "emulator/program/source_line.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

/// Where an access is that leaves its array. `byte`: from the beginning of the array.
files::Sentence beside_array(std::int64_t byte) {
    return byte < 0 ? files::sentence("{} bytes before the beginning", -byte)
                    : files::sentence("at byte {}", byte);
}

}  // namespace

void MemoryCheck::on_allocate(std::uint64_t address, std::size_t bytes) {
    regions_[address] = {address, address + bytes, std::vector<std::uint8_t>((bytes + 3) / 4)};
    newest_ = nullptr;
}

void MemoryCheck::on_free(std::uint64_t address) {
    regions_.erase(address);
    newest_ = nullptr;
}

MemoryCheck::Region* MemoryCheck::find(std::uint64_t address, std::size_t bytes, Region*& newest) {
    if (!newest || address < newest->begin || address >= newest->end) {
        auto after = regions_.upper_bound(address);
        if (after == regions_.begin()) return nullptr;
        Region& region = std::prev(after)->second;
        if (address >= region.end) return nullptr;
        newest = &region;
    }
    return bytes <= newest->end - address ? newest : nullptr;
}

template <typename F>
void MemoryCheck::for_words(Region& region, std::uint64_t address, std::size_t bytes, F&& f) {
    std::uint64_t at = address - region.begin;
    const std::uint64_t end = at + bytes;
    while (at < end) {
        const std::uint64_t next = std::min(end, at / 4 * 4 + 4);
        f(region.written[at / 4], std::uint8_t((1u << (next - at)) - 1) << at % 4);
        at = next;
    }
}

void MemoryCheck::on_host_write(std::uint64_t address, std::size_t bytes) {
    if (Region* region = find(address, bytes))
        for_words(*region, address, bytes,
                  [](std::uint8_t& word, int bits) { word |= std::uint8_t(bits); });
}

MemoryCheck::Unwritten MemoryCheck::unwritten(std::uint64_t address, std::size_t bytes) {
    Unwritten found;
    Region* const region = find(address, bytes);
    if (!region) return found;
    std::uint64_t at = address;
    for_words(*region, address, bytes, [&](std::uint8_t word, int bits) {
        const auto length = std::uint64_t(std::popcount(unsigned(bits)));
        if (!word) {
            if (!found.count) found.first = at;
            found.count += length;
        }
        at += length;
    });
    return found;
}

bool MemoryCheck::is_like_padding(std::uint64_t address, std::size_t bytes) {
    Region* const region = find(address, bytes);
    if (!region) return false;
    std::vector<bool> written;
    for_words(*region, address, bytes, [&](std::uint8_t word, int) { written.push_back(word); });
    return may_be_padding(written);
}

void MemoryCheck::on_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    Region* const source = find(from, bytes);
    bool is_whole = true;
    if (source)
        for_words(*source, from, bytes, [&](std::uint8_t word, int bits) {
            is_whole = is_whole && (word & bits) == bits;
        });
    if (is_whole) return on_host_write(to, bytes);
    for_words(*source, from, bytes, [&](std::uint8_t word, int bits) {
        for (; bits; bits &= bits - 1, ++to)
            if (word & bits & -bits) on_host_write(to, 1);
    });
}

/// Several of them mark words of one allocation at one time.
class MemoryCheck::Stores : public Observer {
  public:
    explicit Stores(MemoryCheck& check) : check_(check) {}

    std::unique_ptr<Observer> fork() override { return std::make_unique<Stores>(check_); }
    bool wants_instructions(const Kernel&) const override { return false; }
    bool wants_global_loads() const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    bool wants_barriers() const override { return false; }
    void on_global_access(const Access& a) override {
        if (a.kind == MemoryAccess::load) return;
        if (a.is_consecutive()) return mark(a.address(0), lanes_per_warp * a.bytes);
        for (std::uint32_t m = a.mask; m; m &= m - 1) {
            mark(a.address(unsigned(std::countr_zero(m))), a.bytes);
            if (a.same_address) break;
        }
    }

  private:
    void mark(std::uint64_t address, std::size_t bytes) {
        Region* const region = check_.find(address, bytes, newest_);
        if (!region) return;
        for_words(*region, address, bytes, [](std::uint8_t& word, int bits) {
            const std::atomic_ref<std::uint8_t> shared(word);
            if ((shared.load(std::memory_order_relaxed) & bits) != bits)
                shared.fetch_or(std::uint8_t(bits), std::memory_order_relaxed);
        });
    }

    MemoryCheck& check_;
    Region* newest_ = nullptr;
};

std::unique_ptr<Observer> MemoryCheck::follow_stores() {
    return std::make_unique<Stores>(*this);
}

void MemoryCheck::on_global_access(const Access& a) {
    const bool writes = a.kind != MemoryAccess::load;
    std::uint64_t before = 0;
    for (std::uint32_t m = a.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const std::uint64_t address = a.address(lane);
        if (address == before) continue;
        before = address;
        Region* region = find(address, a.bytes);
        if (!region) continue;
        int unwritten = 0, written = 0;
        for_words(*region, address, a.bytes, [&](std::uint8_t& word, int bits) {
            unwritten |= bits & ~word;
            written |= bits & word;
            if (writes) word |= std::uint8_t(bits);
        });
        const auto any_written = [&](std::uint64_t begin, std::uint32_t bytes) {
            int bits_written = 0;
            for_words(*region, begin, bytes,
                      [&](std::uint8_t word, int bits) { bits_written |= word & bits; });
            return bits_written != 0;
        };
        if (unwritten && reads_memory(launch_.kernel(), a.pc) &&
            (writes || loaded_.reads_unwritten(a.pc, address, a.bytes, any_written)))
            report(a, lane, *region, !written);
        if (a.same_address) break;
    }
}

void MemoryCheck::report(const Access& a, unsigned lane, const Region& region, bool is_whole) {
    log_.add({&launch_.kernel(), a.pc, a.pc, FindingKind::uninitialized, Severity::error}, 1, [&] {
        Finding f;
        f.kind = FindingKind::uninitialized;
        f.kernel = launch_.kernel().name;
        f.first = launch_.at(a.pc, a.warp * lanes_per_warp + lane, a.block);
        const files::Form<6> form =
            is_whole ? files::Form<6>(
                           "Thread {} of block {} reads {} bytes of global memory at {} "
                           "that were never written, at byte {} of an allocation of {} "
                           "bytes.")
                     : files::Form<6>(
                           "Thread {} of block {} reads {} bytes of global memory at {} "
                           "of which some were never written, at byte {} of an "
                           "allocation of {} bytes.");
        f.sentence = files::sentence(form, name_of(f.first.thread), name_of(f.first.block), a.bytes,
                                     f.first.where_in_full(), a.address(lane) - region.begin,
                                     region.end - region.begin);
        return f;
    });
}

void MemoryCheck::on_shared_access(const Access& a) {
    const Kernel& kernel = launch_.kernel();
    const int base = kernel.lines[a.pc].base;
    if (base < 0 || a.is_over) return;
    const AddressBase& v = kernel.bases[std::size_t(base)];
    if (v.kind != AddressBase::shared) return;
    if (!v.bytes) return check_extern_array(a);
    const std::uint32_t lanes = a.same_address ? a.mask & (0 - a.mask) : a.mask;
    for (std::uint32_t m = lanes; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const std::uint64_t at = a.address(lane) - v.offset;
        if (at <= v.bytes && a.bytes <= v.bytes - at) continue;
        log_.add({&kernel, a.pc, a.pc, FindingKind::memory, Severity::error},
                 a.same_address ? lane_count(a.mask) : 1, [&] {
                     Finding f;
                     f.kind = FindingKind::memory;
                     f.kernel = kernel.name;
                     f.first = launch_.at(a.pc, a.warp * lanes_per_warp + lane, a.block);
                     f.byte = a.address(lane);
                     f.sentence = sentence(a, lane, f);
                     return f;
                 });
    }
}

void MemoryCheck::check_extern_array(const Access& a) {
    const Kernel& kernel = launch_.kernel();
    const int base = kernel.lines[a.pc].base;
    const std::uint32_t lanes = arrays_.follow(a, base);
    if (!lanes) return;
    log_.add({&kernel, a.pc, a.pc, FindingKind::memory, Severity::warning}, lane_count(lanes), [&] {
        const auto lane = std::uint32_t(std::countr_zero(lanes));
        Finding f;
        f.kind = FindingKind::memory;
        f.severity = Severity::warning;
        f.kernel = kernel.name;
        f.first = launch_.at(a.pc, a.warp * lanes_per_warp + lane, a.block);
        f.byte = a.address(lane);
        f.sentence = files::sentence(
            "Thread {} of block {} reads an element of {} at {} that another array has "
            "overwritten, in byte {} of shared memory: {}.",
            name_of(f.first.thread), name_of(f.first.block),
            source_name(kernel.shared_variables[std::size_t(base)].name), f.first.where_in_full(),
            *f.byte, extern_arrays_are_one(kernel));
        return f;
    });
}

files::Sentence MemoryCheck::sentence(const Access& a, unsigned lane, const Finding& f) const {
    const Kernel& kernel = launch_.kernel();
    const std::vector<SharedVariable>& all = kernel.shared_variables;
    const SharedVariable& v = all[std::size_t(kernel.lines[a.pc].base)];
    const std::uint64_t address = a.address(lane);
    const auto there = std::find_if(all.begin(), all.end(), [&](const SharedVariable& other) {
        return address >= other.offset && address < other.offset + std::uint64_t(other.bytes);
    });
    // Addresses in shared memory have 32 bits: those before its beginning are large.
    const std::int64_t byte = std::int32_t(std::uint32_t(address) - v.offset);
    const bool reads = a.kind == MemoryAccess::load;
    const auto say = [&](auto form, const auto&... other) {
        return files::sentence(form, name_of(f.first.thread), name_of(f.first.block), a.bytes,
                               source_name(v.name), f.first.where_in_full(), beside_array(byte),
                               v.bytes, other...);
    };
    if (there == all.end() || &*there == &v)
        return say(reads ? files::Form<7>("Thread {} of block {} reads {} bytes of the array {} in "
                                          "shared memory at {}, {} of its {} bytes.")
                         : files::Form<7>("Thread {} of block {} writes {} bytes of the array {} "
                                          "in shared memory at {}, {} of its {} bytes."));
    return say(reads ? files::Form<8>("Thread {} of block {} reads {} bytes of the array {} in "
                                      "shared memory at {}, {} of its {} bytes: the array {} lies "
                                      "there.")
                     : files::Form<8>("Thread {} of block {} writes {} bytes of the array {} in "
                                      "shared memory at {}, {} of its {} bytes: the array {} lies "
                                      "there."),
               source_name(there->name));
}

void MemoryCheck::check_local(std::uint32_t block, const Warp& warp, std::uint32_t mask,
                              std::uint32_t pc) {
    const Kernel& kernel = launch_.kernel();
    const InstructionInfo& info = kernel.lines[pc];
    if (info.base < 0 || info.access == MemoryAccess::none) return;
    const AddressBase& array = kernel.bases[std::size_t(info.base)];
    if (array.kind != AddressBase::local) return;
    for (std::uint32_t m = mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const auto address = local_address(warp, lane, pc);
        if (!address || *address >= kernel.local_bytes) continue;  // it ends the launch
        const std::uint64_t at = *address - array.offset;
        if (at <= array.bytes && info.bytes <= array.bytes - at) continue;
        log_.add({&kernel, pc, pc, FindingKind::memory, Severity::error}, 1, [&] {
            Finding f;
            f.kind = FindingKind::memory;
            f.kernel = kernel.name;
            f.first = launch_.at(pc, warp.index * lanes_per_warp + lane, block);
            const files::Form<6> form =
                info.access == MemoryAccess::load
                    ? files::Form<6>(
                          "Thread {} of block {} reads {} bytes at {}, {} of a local "
                          "array that has at most {} bytes: another local array lies "
                          "there.")
                    : files::Form<6>(
                          "Thread {} of block {} writes {} bytes at {}, {} of a local "
                          "array that has at most {} bytes: another local array lies "
                          "there.");
            f.sentence = files::sentence(form, name_of(f.first.thread), name_of(f.first.block),
                                         info.bytes, f.first.where_in_full(),
                                         beside_array(std::int64_t(at)), array.bytes);
            return f;
        });
    }
}

void MemoryCheck::on_error(std::uint32_t block, const Error& error) {
    const auto* access = dynamic_cast<const AccessError*>(&error);
    if (!access) return;
    log_.add({&launch_.kernel(), access->place.pc, access->place.pc, FindingKind::memory,
              Severity::error},
             1, [&] { return invalid_access(launch_, *access, block); });
}

Finding invalid_access(const ObservedLaunch& launch, const AccessError& error,
                       std::uint32_t block) {
    Finding f;
    f.kind = FindingKind::memory;
    f.kernel = launch.kernel().name;
    f.first = launch.at(error.place.pc, error.place.thread, block);
    f.sentence = error.words;
    return f;
}

}  // namespace warpscope::emulator
