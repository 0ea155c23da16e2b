#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emulator/observe/observer.h"
#include "programs/checks/host_findings.h"

namespace warpscope::programs {

/// Finds work of two streams that accesses one word of memory, with no event and no wait of the
/// host between them, where one of them writes and not both are atomics. Of each word it keeps the
/// newest read and the newest write.
///
/// Limit: the first 512 MiB that are accessed.
class StreamRaces : public emulator::Observer {
  public:
    /// Work with this number from 1 is added to a stream, to run after other work.
    void on_add(const void* stream, std::uint64_t work, std::span<const std::uint64_t> after);
    /// The host has waited for the work: what it adds from now on comes later.
    void on_wait(std::uint64_t work);
    void on_wait_for_all();

    /// The next accesses are those of this work, until end_work().
    void begin_work(std::uint64_t work) { work_ = work; }
    /// The call that has added them.
    void begin_accesses(CallSite site) { site_ = site; }
    void on_access(std::uint64_t address, std::size_t bytes, emulator::MemoryAccess kind);
    void on_global_access(const emulator::Access& access) override;
    bool wants_instructions(const emulator::Kernel&) const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    bool wants_barriers() const override { return false; }
    /// New memory, which nobody has accessed yet.
    void on_allocate(std::uint64_t address, std::size_t bytes) override;

    /// Adds the findings to those of the host.
    void report_to(HostFindings& host) const;

  private:
    using Clock = std::vector<std::uint64_t>;  ///< by stream: the newest work that comes before
    struct Work {
        std::size_t stream = 0;
        std::uint64_t number = 0;  ///< in its stream, from 1
        Clock clock;               ///< with itself
    };
    /// Accesses of one kind of one call's work.
    struct Accesses {
        std::uint64_t work = 0;
        CallSite site = 0;
        bool is_atomic = false;
        std::size_t stream = 0;
        std::uint64_t number = 0;
        bool operator==(const Accesses&) const = default;
    };
    /// Indices of accesses_; 0: none.
    struct Word {
        std::uint32_t read = 0, write = 0;
    };
    static constexpr std::uint64_t word_bytes = 4, page_bytes = 4096;
    static constexpr std::size_t most_pages = std::size_t(1) << 17;  // 1 GiB
    using Page = std::array<Word, page_bytes / word_bytes>;
    struct Race {
        std::uint64_t count = 0, address = 0;
    };
    using Pair = std::tuple<CallSite, CallSite, emulator::Hazard>;

    static void join(Clock& clock, const Clock& other);
    std::uint32_t current(bool is_atomic);
    void compare(std::uint32_t earlier, std::uint32_t later, emulator::Hazard hazard,
                 std::uint64_t address);
    /// Null beyond the limit.
    Page* page_of(std::uint64_t address);

    std::map<const void*, std::size_t> streams_;
    std::vector<std::uint64_t> newest_;              ///< work by stream
    std::vector<std::uint64_t> numbers_;             ///< of the newest work, by stream
    std::unordered_map<std::uint64_t, Work> works_;  ///< those that are not before host_
    Clock host_;                                     ///< what the host has waited for
    std::uint64_t work_ = 0;
    CallSite site_ = 0;
    std::vector<Accesses> accesses_{{}};
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::uint64_t page_number_ = 0;  ///< of the page that was used last
    Page* page_ = nullptr;           ///< null: none
    std::map<Pair, Race> races_;
};

}  // namespace warpscope::programs
