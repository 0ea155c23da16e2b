#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/sentence.h"

namespace warpscope::experiments {

/// The verdict on a reading. `unproven`: the value is right, but the kernel was made wrong (for
/// example without a barrier), so it may be wrong next time. `finding`: the value is wrong, but
/// the kernel was made wrong or edited. `fail`: the value is wrong and should be right.
enum class Verdict { none, pass, unproven, finding, fail };

std::string_view to_string(Verdict verdict);  ///< "none", "pass", "unproven", "finding", "fail"

/// A part of a time that is drawn as a bar.
struct Part {
    std::string label;  ///< "computes"
    double ms = 0;
};

/// One named value, for the results panel and `--json`.
struct Reading {
    std::string name;       ///< for scripts: "wrong_pixels"
    files::Sentence label;  ///< for people: "Wrong pixels"
    double value = 0;
    std::string unit;  ///< "", "%", "B/s", "ms", "clocks"
    std::optional<double> expected;
    Verdict verdict = Verdict::none;
    files::Sentence sentence;      ///< explains the value; may be empty
    std::vector<double> recent{};  ///< values of the newest launches, oldest first; may be empty
    std::vector<Part> parts{};     ///< of the value; may be empty
};

using Report = std::vector<Reading>;

const Reading* find(const Report& report, std::string_view name);
bool has_failure(const Report& report);

/// Variants of one experiment measured in one go, side by side.
struct Comparison {
    /// The work of one variant, as the emulator counts it. These counts decide how fast a GPU is.
    struct Counts {
        double sectors = 0;       ///< of global memory
        double bank_passes = 0;   ///< over shared memory
        double barriers = 0;      ///< completed, over all blocks
        double instructions = 0;  ///< for each element: 32 for each warp instruction
    };
    struct Row {
        std::string id;         ///< the value that the kernel parameter would have
        files::Sentence label;  ///< "float4, tiled"
        double median_ms = 0;   ///< of device time
        double rate = 0;        ///< in rate_unit
        double error = 0;       ///< relative, against the double-precision reference
        Verdict verdict = Verdict::none;
        std::string
            published;      ///< time that the kernel's source published, "3198.6 ms"; may be empty
        double p99_ms = 0;  ///< of device time; 0 if not known
        std::optional<Counts> counts{};  ///< on the emulator only
    };
    std::string title;
    std::string rate_unit;        ///< "interactions/s", "B/s"
    std::string element;          ///< that Counts::instructions refers to: "interaction"
    std::string published_title;  ///< says whose the published times are; empty: there are none
    std::vector<Row> rows{};
    std::string scaling{};  ///< a sentence about several ranks and one; empty: there is one

    /// The rows are compared by their counts: the device is the emulator, whose times say nothing
    /// about a GPU.
    bool counted() const { return !rows.empty() && rows.front().counts.has_value(); }
};

/// The shared array of one block at each barrier, for the tree of a reduction.
struct Tree {
    struct Row {
        files::Sentence label;      ///< "after barrier 1, line 24"
        std::vector<float> values;  ///< one per array element
        std::vector<bool> active;   ///< the thread of that index wrote since the row before
        /// {from, to}: element `from` of the row before was read by the thread that wrote `to`.
        std::vector<std::pair<unsigned, unsigned>> edges;
        /// By edge: the read races with a write, since no barrier orders the two; or empty.
        std::vector<bool> racing{};
    };
    files::Sentence title;  ///< "cache[] of block 0, kernel dot_book, as the emulator runs it"
    std::vector<Row> rows;
};

/// The activities of the warps of one block over time.
struct Timeline {
    enum class Activity { computing, delayed, writing, waiting, reading };
    struct Span {
        unsigned warp = 0;
        Activity activity = Activity::computing;
        double begin = 0, end = 0;  ///< in `unit`, from the block's first event
        std::string line;           ///< "ripple.cu:68", where known
    };
    files::Sentence title;  ///< "block (3, 2), SM 17, NVIDIA H200"
    std::string unit;       ///< "instructions", "clocks"
    unsigned warps = 0;
    double end = 0;
    std::vector<Span> spans;
};

std::string_view to_string(Timeline::Activity activity);  ///< "waiting"

}  // namespace warpscope::experiments
