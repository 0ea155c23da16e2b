#pragma once

#include <map>
#include <memory>
#include <vector>

#include "emulator/checks/dynamic_arrays.h"
#include "emulator/checks/padding.h"
#include "emulator/checks/undefined_values.h"
#include "emulator/observe/finding_log.h"
#include "emulator/observe/observer.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

/// Returns the finding for the access that has ended a launch, in this block.
Finding invalid_access(const ObservedLaunch& launch, const AccessError& error, std::uint32_t block);

/// Finds reads of global memory that was not written since its allocation, and accesses of a static
/// array in shared memory or of a local array that run out of the array, and undefined values
/// (UndefinedValues), and reports the invalid access that ends a launch. It checks the allocations
/// that on_allocate() announces; other memory counts as written.
class MemoryCheck : public Observer {
  public:
    MemoryCheck() = default;
    MemoryCheck(const MemoryCheck&) = delete;
    MemoryCheck& operator=(const MemoryCheck&) = delete;

    std::vector<Finding> findings() const { return log_.findings(); }
    /// Keeps what it knows of memory.
    void forget_findings() { log_ = {}; }

    void on_launch(const Kernel& kernel, const LaunchShape& launch) override {
        launch_.begin(kernel, launch);
        loaded_.begin_launch(kernel);
        log_.begin_launch();
        undefined_.begin_launch(kernel, launch);
        arrays_.begin_launch(kernel, launch);
    }
    void on_block_begin(const Kernel&, std::uint32_t block) override {
        log_.begin_block(block);
        undefined_.begin_block(block);
        arrays_.begin_block();
    }
    void on_block_turn(std::uint32_t block) override {
        log_.begin_block(block);
        undefined_.on_block_turn(block);
    }
    bool wants_instructions(const Kernel& kernel) const override {
        return UndefinedValues::are_possible(kernel, UndefinedValues::Source::unset);
    }
    void on_instruction(std::uint32_t block, const Warp& warp, std::uint32_t mask,
                        std::uint32_t pc) override {
        check_local(block, warp, mask, pc);
        undefined_.follow(warp, mask, pc, log_);
    }
    void on_global_access(const Access& access) override;
    void on_shared_access(const Access& access) override;
    void on_error(std::uint32_t block, const Error& error) override;
    void on_allocate(std::uint64_t address, std::size_t bytes) override;
    void on_free(std::uint64_t address) override;
    void on_host_write(std::uint64_t address, std::size_t bytes) override;

    /// Bytes of an allocation that were never written.
    struct Unwritten {
        std::uint64_t count = 0;
        std::uint64_t first = 0;  ///< the address of the first of them
    };
    /// Returns those among these bytes. A word of which some bytes were written counts as written:
    /// the others may be the padding of a struct.
    Unwritten unwritten(std::uint64_t address, std::size_t bytes);
    /// Whether unwritten() words lie as the padding of structures does.
    bool is_like_padding(std::uint64_t address, std::size_t bytes);
    /// The bytes were copied within the device: what was never written stays so.
    void on_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);
    /// An observer of blocks that nobody checks: what they store counts as written. It can fork.
    std::unique_ptr<Observer> follow_stores();

  private:
    class Stores;

    /// One allocation.
    struct Region {
        std::uint64_t begin = 1, end = 0;
        std::vector<std::uint8_t> written;  ///< for each 4-byte word, a bit for each byte
    };

    /// Returns the region that holds all of the bytes, or nullptr. `newest`: the one found last.
    Region* find(std::uint64_t address, std::size_t bytes, Region*& newest);
    Region* find(std::uint64_t address, std::size_t bytes) { return find(address, bytes, newest_); }
    /// Calls f(bits of the word, bits that stand for these bytes) for each word of the bytes.
    template <typename F>
    static void for_words(Region& region, std::uint64_t address, std::size_t bytes, F&& f);
    /// `is_whole`: none of the bytes was written.
    void report(const Access& access, unsigned lane, const Region& region, bool is_whole);
    void check_extern_array(const Access& access);
    /// An access of a local array that runs out of it, into another one of the thread.
    void check_local(std::uint32_t block, const Warp& warp, std::uint32_t mask, std::uint32_t pc);
    files::Sentence sentence(const Access& access, unsigned lane, const Finding& f) const;

    FindingLog log_;
    DynamicArrays arrays_;
    UndefinedValues undefined_{UndefinedValues::Source::unset};
    ObservedLaunch launch_;
    LoadedElements loaded_;
    std::map<std::uint64_t, Region> regions_;  ///< indexed by Region::begin
    Region* newest_ = nullptr;                 ///< the region found last
};

}  // namespace warpscope::emulator
