#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/checks/block_order.h"
#include "emulator/checks/findings.h"
#include "emulator/machine/observer.h"

namespace warpscope::emulator {

// Finds races in shared memory: two threads of a block access a byte, at least one writes, not both
// by atomics, and no barrier orders them (BlockOrder says what does). What matters is the absence
// of order, so a race is found whatever the schedule made of it; the schedule only decides which
// of the two came first, and so whether a pair is RAW or WAR. Between warps it is an error, within
// a warp a warning, as in compute-sanitizer's racecheck; so is a write of the value that was there.
// Reads of words that no thread of the block has written are found as well, apart.
//
// Each word has one cell: the last write and reads of two warps. (A word, or what the kernel's
// narrowest access is wide.) Hence a pair that is hidden behind another one is not listed: w1, r2,
// w3 without barriers gives w1-r2 and r2-w3 (or w1-w3), never all. A lane's access counts once for
// each thread that it races with.
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
    void on_barrier_arrival(const BarrierArrival& a) override;
    void on_barrier_release(const BarrierRelease& r) override;
    void on_warp_sync(uint32_t block, uint32_t warp, uint32_t members) override;

  private:
    // What the lanes of a warp do at one instruction, at one moment: many accesses, in a loop.
    struct Doing {
        Moment at;
        uint32_t pc = 0;
        uint32_t warp = 0;
    };
    // Lanes of one warp that accessed a cell. Doings are numbered from 1 on, in the order of time,
    // so that a comparison tells whether a record is of this epoch, or of this block.
    struct Record {
        uint32_t doing = 0;
        uint32_t lanes = 0;
        bool operator==(const Record&) const = default;
    };
    // Of two warps, or of one at two places. While the first is not of this epoch, neither is the
    // second.
    using Records = std::array<Record, 2>;
    struct alignas(32) Cell {
        Record writer;
        Records readers;
        uint32_t store = 0;    // serial number of the instruction that wrote
        uint32_t settled = 0;  // epoch_first_ of the epoch in which two warps have read it
    };
    // A cell as one lane's access finds it.
    struct Place {
        Cell& cell;
        Records* atomics;  // nullptr: the kernel has none in shared memory
        uint32_t byte;     // of shared memory
        uint32_t cells;    // of the access, from this one on
    };

    void begin_epoch();
    uint32_t doing_of(const Access& access);
    void forget_doings();
    bool is_current(const Record& record) const { return record.doing >= epoch_first_; }
    const Doing& doing(const Record& record) const { return doings_[record.doing - epoch_first_]; }

    // False for an access that is an error when it executes.
    bool is_sound(uint64_t address, uint64_t bytes) const;
    bool is_ready(const Cell& cell) const;
    bool is_settled(const Access& access) const;
    void follow(const Access& access);
    template <typename F>
    void for_lanes(uint32_t lanes, F&& f);
    template <typename F>
    void for_places(uint32_t cell, uint32_t cells, F&& f);

    void load(uint64_t address, uint32_t lanes);
    void load_slowly(const Place& place, uint32_t lanes);
    bool store_fresh(unsigned lane);
    void store_slowly(uint32_t lanes);
    void check_store(const Place& place, unsigned lane);
    void record_store(const Place& place, unsigned lane);
    void atomic(const Place& place, unsigned lane);
    void check_written(const Place& place, uint32_t lanes);
    // True when it reported a race.
    bool check(const Place& place, const Record& earlier, Hazard hazard, uint32_t lanes);
    bool check_within_warp(const Place& place, const Record& earlier, Hazard hazard,
                           uint32_t lanes);
    void check_each(const Place& place, const Records& earlier, Hazard hazard, uint32_t lanes);
    void note_reader(Cell& cell, uint32_t lanes);
    void note(Records& records, uint32_t lanes);
    // Bytes of the access, from the place on, that `earlier` wrote.
    uint32_t overlap(const Place& place, const Record& earlier) const;
    // Whether `lane` stores what is there already, where `earlier` wrote.
    bool keeps_value(const Place& place, const Record& earlier, unsigned lane) const;

    // --- race_report.cpp
    struct Race {
        Hazard hazard = Hazard::none;
        const Record* earlier = nullptr;
        unsigned earlier_lane = 0, lane = 0;
        uint32_t byte = 0;
        bool same_value = false;
        bool one_instruction = false;
    };
    void report(const Race& race, uint64_t count);
    void report_unwritten(const Place& place, uint32_t lanes);
    Finding describe(const Race& race, Severity severity) const;
    std::string sentence(const Race& race, const Finding& f) const;

    FindingLog log_;
    Places places_;
    BlockOrder order_;
    unsigned shift_ = 2;  // a cell is 1 << shift_ bytes: every access of the kernel is whole cells
    std::vector<Cell> cells_;
    std::vector<Records> atomics_;             // by cell, or empty
    std::vector<Doing> doings_;                // of this epoch
    size_t instructions_ = 0;                  // of the kernel
    std::vector<uint32_t> newest_;             // doing by warp and pc; not of this moment if before
    std::array<uint32_t, 32> moment_first_{};  // the warp's first doing of its present moment
    uint32_t next_ = 1;                        // doing
    uint32_t epoch_first_ = 1, block_first_ = 1;
    uint32_t settled_ = 1;  // Cell::settled where it does not matter who else reads
    std::vector<bool> racing_words_;
    bool races_ = false;  // of the running block
    uint32_t shared_bytes_ = 0;
    uint32_t block_ = 0;
    uint32_t epoch_ = 0;

    // The access under way, and what the one lane (or all as one) was charged with last: a vector
    // that races with one thread in all its words is one race.
    const Access* access_ = nullptr;
    Record now_;           // of its warp and instruction
    uint32_t serial_ = 0;  // of stores
    struct Charge {
        Hazard hazard = Hazard::none;
        uint32_t doing = 0;
        unsigned lane = 0;
        bool operator==(const Charge&) const = default;
    } charge_;
    bool charged_unwritten_ = false;
};

}  // namespace warpscope::emulator
