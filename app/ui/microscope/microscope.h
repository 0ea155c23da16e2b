#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "emulator/stepper/stepper.h"
#include "experiments/copies/specimen.h"
#include "experiments/framework/experiment.h"

namespace warpscope::ui {

/// Where a microscope is to be opened: "12,7" or "12,7@214".
struct MicroscopePlace {
    emulator::Dim3 block{0, 0, 0};
    std::uint64_t step = 0;
    std::string text() const;
};
std::optional<MicroscopePlace> read_place(std::string_view text);

/// One block of an experiment's kernel under a person's hand: a private copy of the launch, the
/// stepper in it, and which thread is looked at. Draws nothing. Nothing here throws: what goes
/// wrong becomes a sentence.
class Microscope {
  public:
    using Dim3 = emulator::Dim3;
    static constexpr Dim3 origin{0, 0, 0};
    /// Steps that are looked ahead, so that waits, findings and the block's length are known.
    static constexpr std::uint64_t horizon = 400'000;

    /// How the copy runs; at first as the live one's device is set.
    struct Choice {
        compute::Schedule schedule = compute::Schedule::random;
        std::uint64_t seed = 1;
        compute::BarrierPolicy barriers = compute::BarrierPolicy::volta;
        bool operator==(const Choice&) const = default;
    };

    /// Takes a copy of what the live experiment shows and stands before the block's first
    /// instruction. A block or thread outside the launch becomes the nearest one inside.
    void open(const experiments::Entry& entry, experiments::Experiment& live, Dim3 block = origin,
              Dim3 thread = origin);
    void close();
    bool is_open() const { return open_; }
    /// Once a frame: takes a new copy where parameters, settings or experiment have changed, and,
    /// of one that is paused, where the frame has. The block and thread stay.
    void follow(const experiments::Entry& entry, experiments::Experiment& live, bool paused);
    /// The same now, whatever has changed.
    void renew(const experiments::Entry& entry, experiments::Experiment& live);
    /// Of the live experiment, when the copy was taken.
    std::uint64_t frame() const { return frame_; }

    /// Whether there is a block to step; else complaint() says why not.
    bool ready() const { return stepper_ != nullptr; }
    const std::string& complaint() const { return complaint_; }
    /// What the newest action could not do; empty: nothing.
    const std::string& notice() const { return notice_; }
    /// Another number, another state on show, and another copy of the launch with its kernel.
    std::uint64_t version() const { return version_; }
    std::uint64_t copy() const { return copy_; }

    /// The text of "kernels/ripple.cu" that the copy runs; empty for an unknown file or no copy.
    std::string_view source(std::string_view file) const {
        return specimen_ ? specimen_->source(file) : std::string_view();
    }

    // --- where there is a block (ready())
    const emulator::Stepper& stepper() const { return *stepper_; }
    const emulator::Launch& launch() const { return stepper_->launch().launch; }
    Dim3 block() const { return block_; }
    /// Where the command line would open it to show the same; nullopt: nowhere, as warps were
    /// stepped by hand or the schedule is another than the live one's.
    std::optional<MicroscopePlace> place() const;
    void set_block(Dim3 block);
    void set_block(const std::string& typed);  ///< "12, 7", "3": as read_index() reads it
    /// The steps are the block's whole run; false: it is longer than was looked ahead.
    bool complete() const { return complete_; }
    std::uint64_t known_steps() const { return stepper_->history().size(); }
    /// Races and barriers up to here, and of all steps that are known.
    const std::vector<emulator::Finding>& findings();
    const std::vector<emulator::Finding>& all_findings() const { return all_findings_; }

    // --- the thread looked at
    unsigned warp() const { return warp_; }
    unsigned lane() const { return lane_; }
    void pick(unsigned warp, unsigned lane);
    void pick_warp(unsigned warp) { pick(warp, lane_); }
    void pick_thread(Dim3 thread);
    /// Thread index in the block of a lane.
    Dim3 thread(unsigned warp, unsigned lane) const;
    Dim3 thread() const { return thread(warp_, lane_); }
    /// The warp that a step moves next: the one picked by hand, else whose turn it is; at the end
    /// the one that went last.
    unsigned acting_warp() const;

    // --- stepping, by the schedule or by hand
    bool by_hand() const { return by_hand_; }
    void set_by_hand(bool by_hand);
    void step();
    void step_warp(unsigned warp);  ///< one instruction of it, whoever's turn it is
    void step_line();
    void step_barrier();
    void back();
    void back_line();
    void back_barrier();
    void to_end();
    void restart() { seek(0); }
    void seek(std::uint64_t position);
    /// Runs by itself, so that the whole block takes about 8 s.
    bool playing() const { return playing_; }
    void play(bool on);
    void advance(double seconds);

    const Choice& choice() const { return choice_; }
    /// Takes effect at the next follow().
    void choose(const Choice& choice);

  private:
    /// What a copy was taken of.
    struct Source {
        const experiments::Entry* entry = nullptr;
        std::vector<std::string> parameters;
        compute::RunSettings settings;
        compute::KernelEdits edits;
        bool operator==(const Source&) const = default;
    };

    static Source source_of(const experiments::Entry& entry, experiments::Experiment& live);
    void take(const experiments::Entry& entry, experiments::Experiment& live);
    void make_stepper();
    void look_ahead();
    void keep_inside();
    void say_why_not(unsigned warp);
    std::optional<std::uint32_t> chosen_warp() const;
    /// Runs `change` on the stepper; an error is a notice.
    void act(const std::function<void()>& change);

    bool open_ = false;
    Source source_;
    const experiments::Experiment* taken_from_ = nullptr;  // may be gone
    bool stale_ = false;                                   // another choice was made
    std::uint64_t frame_ = 0;
    std::unique_ptr<experiments::Specimen> specimen_;
    std::unique_ptr<emulator::Stepper> stepper_;  // in the specimen's machine
    Choice choice_;
    std::string complaint_, notice_;
    Dim3 block_ = origin;
    unsigned warp_ = 0, lane_ = 0;
    bool by_hand_ = false, playing_ = false, complete_ = false;
    double owed_ = 0;  // steps that playing has still to take
    std::uint64_t copy_ = 0, version_ = 0, findings_version_ = 0;
    std::vector<emulator::Finding> findings_, all_findings_;
};

/// One to three whole numbers, with commas or spaces between them: an index in a grid or block.
std::optional<emulator::Dim3> read_index(std::string_view text);

}  // namespace warpscope::ui
