#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emulator/observe/observer.h"
#include "programs/checks/host_findings.h"
#include "programs/memory/polled_memory.h"

namespace warpscope::programs {

/// Finds accesses to one word of memory by work of two streams, or by work and the host, with no
/// event and no wait of the host between them, where one of them writes and not both are atomics.
/// Of each word it keeps the newest read and the newest write of each stream, and of the host,
/// unless they come before a newer one. So what is found does not depend on the order in which the
/// work runs.
///
/// The host counts as one more stream: what it adds comes after what it has done, and what it does
/// comes after the work that it has waited for. A host and a kernel may also order each other by a
/// volatile or atomic access of the kernel to a word that the host accesses.
///
/// Limit: the first 512 MiB that are accessed.
class StreamRaces : public emulator::Observer {
  public:
    using Pages = PolledMemory::Pages;

    /// Work with this number from 1 is added to a stream, to run after other work. It may access
    /// these pages of memory of the host.
    void on_add(const void* stream, std::uint64_t work, std::span<const std::uint64_t> after,
                std::vector<Pages> pages = {});
    /// The host has waited for the work: what it does from now on comes later.
    void on_wait(std::uint64_t work);
    void on_wait_for_all();
    /// The host may know, without a wait, that this work has ended: it has polled memory, or a
    /// function of the program was called. That counts for its accesses only.
    void on_seen(std::uint64_t work);
    void on_seen(const std::function<bool(std::uint64_t)>& has_ended);

    /// The next accesses are those of this work.
    void begin_work(std::uint64_t work) { work_ = work; }
    /// The call that has added them.
    void begin_accesses(CallSite site) { site_ = site; }
    void on_access(std::uint64_t address, std::size_t bytes, emulator::MemoryAccess kind) {
        record(address, bytes, kind, Strength(kind == emulator::MemoryAccess::atomic ? 2 : 0));
    }
    /// The host accesses these bytes, and perhaps bytes behind them.
    void on_host_access(std::uint64_t address, std::size_t bytes, bool writes, CallSite site);
    /// Whether work has to be compared with what the host does.
    bool has_host_accesses() const { return has_host_accesses_; }
    /// The pages that work may access for which the host has not waited.
    std::vector<Pages> pages_in_use() const;

    void on_launch(const emulator::Kernel& kernel, const emulator::LaunchShape&) override {
        kernel_ = &kernel;
    }
    void on_global_access(const emulator::Access& access) override;
    bool wants_instructions(const emulator::Kernel&) const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    bool wants_barriers() const override { return false; }

    /// New memory, which nobody has accessed yet.
    void on_allocate(std::uint64_t address, std::size_t bytes) override;
    /// It is allocated by this work of a stream: cudaMallocAsync().
    void on_allocate_in(std::uint64_t work, std::uint64_t address, std::size_t bytes,
                        CallSite site);
    /// The running work frees it: cudaFreeAsync().
    void on_free_in(std::uint64_t address, std::size_t bytes, CallSite site);
    /// A piece of work of a stream.
    struct Moment {
        std::size_t stream = 0;    ///< 0: the host
        std::uint64_t number = 0;  ///< in its stream, from 1
        bool operator==(const Moment&) const = default;
    };
    Moment now() const;  ///< the running work
    /// Whether work that has not run comes after it.
    bool is_behind(std::uint64_t work, Moment before) const {
        const auto found = works_.find(work);
        return found != works_.end() && is_before(before, found->second.clock);
    }

    /// Adds the findings to those of the host.
    void report_to(HostFindings& host) const;

  private:
    using Clock = std::vector<std::uint64_t>;  ///< by stream: the newest work that comes before
    static constexpr std::size_t host_stream = 0;
    struct Work {
        Moment moment;
        Clock clock;  ///< with itself
        std::vector<Pages> pages;
    };
    /// What an access promises about others of its word.
    enum class Strength : std::uint8_t { weak, volatile_, atomic };
    enum class Role : std::uint8_t { access, allocation, free };
    /// Accesses of one kind of one call's work, or of one place of the host.
    struct Accesses {
        std::uint64_t work = 0;  ///< 0: of the host
        Moment moment;
        CallSite site = 0;
        Strength strength = Strength::weak;
        Role role = Role::access;
        std::uint8_t bytes = 15;  ///< of the word, a bit for each
        bool operator==(const Accesses&) const = default;
        bool is_of_host() const { return moment.stream == host_stream; }
    };
    using AccessId = std::uint32_t;  ///< an index of accesses_
    using SetId = std::uint32_t;     ///< an index of sets_; 0: the empty one
    struct Word {
        SetId reads = 0, writes = 0;
    };
    /// Accesses that come to those that a word has had.
    struct Meeting {
        SetId joined = 0;             ///< those that the word has then
        std::vector<AccessId> races;  ///< those that nothing orders with the new ones
    };
    struct Range {
        std::size_t bytes = 0;
        Accesses first;  ///< what each of its words has had at first
    };
    static constexpr std::uint64_t word_bytes = 4, page_bytes = 4096;
    static constexpr std::size_t most_pages = std::size_t(1) << 17;  // 1 GiB
    static constexpr std::size_t many_accesses = std::size_t(1) << 16;
    using Page = std::array<Word, page_bytes / word_bytes>;
    struct Race {
        std::uint64_t count = 0, address = 0;
    };
    using Pair = std::tuple<CallSite, CallSite, emulator::Hazard, HostFindings::Conflict>;

    static void join(Clock& clock, const Clock& other);
    static bool is_before(Moment moment, const Clock& clock) {
        return moment.stream < clock.size() && moment.number <= clock[moment.stream];
    }
    /// Whether they race where nothing orders them.
    static bool conflict(const Accesses& a, const Accesses& b);
    /// The clock of what does these accesses; null: the host has waited for it.
    const Clock* clock_of(const Accesses& accesses) const;
    void forget(const Work& work);
    void know(const Clock& clock);  ///< the host does
    AccessId id_of(const Accesses& accesses);
    SetId id_of(const std::vector<AccessId>& set);
    const Meeting& meet(SetId set, AccessId now);
    void record(std::uint64_t address, std::size_t bytes, emulator::MemoryAccess kind,
                Strength strength);
    void record(std::uint64_t address, std::size_t bytes, Accesses accesses,
                emulator::MemoryAccess kind);
    void record(std::uint64_t address, Word& word, AccessId now, bool writes);
    void add_races(std::uint64_t address, SetId others, bool others_write, AccessId now,
                   bool writes);
    /// The work, or the host, reads a word by which the host, or the work, may hand over what it
    /// has done before.
    void acquire(const Accesses& accesses, const Word& word);
    void reset();  ///< forgets accesses: all that comes is behind them
    void erase_pages(std::uint64_t address, std::size_t bytes);
    /// Null beyond the limit.
    Page* page_of(std::uint64_t address);

    std::map<const void*, std::size_t> streams_;     ///< from 1
    std::vector<std::uint64_t> newest_{0};           ///< work by stream
    std::vector<std::uint64_t> numbers_{0};          ///< of the newest work, by stream
    std::unordered_map<std::uint64_t, Work> works_;  ///< those that are not before host_
    std::map<Pages, std::size_t> pages_in_use_;      ///< and by how many of these works
    /// What the host has waited for, and what it may have seen. Its own number changes with each
    /// call.
    Clock host_{1}, seen_{1};
    bool has_host_accesses_ = false;
    std::uint64_t work_ = 0;
    CallSite site_ = 0;
    const emulator::Kernel* kernel_ = nullptr;
    std::vector<Accesses> accesses_{{}};
    std::vector<std::vector<AccessId>> sets_{{}};
    std::map<std::vector<AccessId>, SetId> known_sets_{{{}, 0}};
    std::unordered_map<std::uint64_t, Meeting> meetings_;  ///< by set and new accesses
    std::map<std::uint64_t, Range> ranges_;                ///< by address
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::uint64_t page_number_ = 0;  ///< of the page that was used last
    Page* page_ = nullptr;           ///< null: none
    std::map<Pair, Race> races_;
};

}  // namespace warpscope::programs
