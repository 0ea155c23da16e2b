#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/block_order.h"
#include "emulator/findings.h"
#include "emulator/observer.h"

namespace warpscope::emulator {

// Finds races in shared memory: two threads of a block access a byte, at least one writes, not both
// by atomics, and no barrier orders them (BlockOrder says what does). What matters is the absence
// of order, so a race is found whatever the schedule made of it; the schedule only decides which
// of the two came first, and so whether a pair is RAW or WAR. Between warps it is an error, within
// a warp a warning, as in compute-sanitizer's racecheck; so is a write of the value that was there.
// Reads of words that no thread of the block has written are found as well, apart.
//
// Each word has one cell: the last write and the last reads of two warps. Hence a pair that is
// hidden behind a nearer one is not listed: w1, r2, w3 without barriers gives w1-r2 and r2-w3 (or
// w1-w3), never all. A lane's access counts once for each thread that it races with.
//
// A copy goes on by itself from where the copied one is.
class RaceDetector : public Observer {
  public:
    std::vector<Finding> findings() const { return log_.findings(); }
    // By 4-byte word of the running block's shared memory: it took part in a race so far.
    const std::vector<bool>& racing_words() const { return racing_words_; }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(uint32_t block) override { log_.forget_after(block); }
    void on_launch(const Kernel& kernel, const Launch& launch) override;
    bool wants_instructions() const override { return false; }
    bool wants_global_accesses() const override { return false; }
    void on_block_begin(const Kernel& kernel, uint32_t block) override;
    void on_shared_access(const Access& access) override;
    void on_barrier_arrival(const BarrierArrival& a) override { order_.arrive(a); }
    void on_barrier_release(const BarrierRelease& r) override { order_.release(r); }
    void on_warp_sync(uint32_t, uint32_t warp, uint32_t members) override {
        order_.warp_sync(warp, members);
    }

  private:
    // Lanes of one warp that accessed a word in one instruction.
    struct Record {
        Moment at;
        uint32_t access = 0;  // serial number
        uint32_t pc = 0;
        uint32_t lanes = 0;
        uint32_t warp = 0;
    };
    struct Cell {
        Record writer;
        std::array<Record, 2> readers;  // of two warps, or of one at two places
        uint32_t split_in = 0;          // the block for which its bytes have cells of their own
    };
    using Atomics = std::array<Record, 2>;  // as `readers`
    struct Bytes {
        std::array<Cell, 4> cells;
        std::array<Atomics, 4> atomics;
    };
    // A word or byte as one access finds it.
    struct Place {
        Cell& cell;
        Atomics* atomics;  // nullptr: the kernel has none in shared memory
        uint32_t byte;     // of shared memory
        uint32_t bytes;
    };

    template <typename F>
    void for_places(uint64_t address, F&& f);
    template <typename F>
    void for_lanes(F&& f);
    Bytes& split(uint32_t word);

    void load(const Place& place, uint32_t lanes);
    void check_store(const Place& place, unsigned lane);
    void record_store(const Place& place, unsigned lane);
    void atomic(const Place& place, unsigned lane);
    void check_written(const Place& place, uint32_t lanes);
    // True when it reported a race.
    bool check(const Place& place, const Record& earlier, Hazard hazard, uint32_t lanes);
    bool check_within_warp(const Place& place, const Record& earlier, Hazard hazard,
                           uint32_t lanes);
    void check_each(const Place& place, const std::array<Record, 2>& earlier, Hazard hazard,
                    uint32_t lanes);
    void note(std::array<Record, 2>& records, uint32_t lanes);
    Record record_of(uint32_t lanes) const;
    // Whether a store writes the value that an earlier store wrote.
    bool keeps_value(const Place& place, const Record& earlier, unsigned lane) const;
    // Whether `lane` stores what is `there` already, at a place.
    bool stores(unsigned lane, const Place& place, const std::byte* there) const;

    // --- race_report.cpp
    struct Race {
        Hazard hazard;
        const Record* earlier;
        unsigned earlier_lane, lane;
        uint32_t byte;
        bool same_value = false;
    };
    void report(const Race& race, uint64_t count);
    void report_unwritten(const Place& place, uint32_t lanes);
    Finding describe(const Race& race, Severity severity) const;
    std::string sentence(const Race& race, const Finding& f) const;

    FindingLog log_;
    Places places_;
    BlockOrder order_;
    std::vector<Cell> cells_;
    std::vector<Atomics> atomics_;  // by word, or empty
    std::unordered_map<uint32_t, Bytes> bytes_;
    std::vector<bool> racing_words_;
    bool races_ = false;  // of the running block
    uint32_t shared_bytes_ = 0;
    uint32_t block_ = 0;
    uint32_t block_epoch_ = 0;  // the block's first

    // The access under way, and what the one lane (or all as one) was charged with last: a vector
    // that races with one thread in all its words is one race.
    const Access* access_ = nullptr;
    Moment now_;
    uint32_t serial_ = 0;
    struct Charge {
        Hazard hazard = Hazard::none;
        uint32_t access = 0;
        unsigned lane = 0;
        bool operator==(const Charge&) const = default;
    } charge_;
    bool charged_unwritten_ = false;
};

}  // namespace warpscope::emulator
