#include <fmt/format.h>

#include <algorithm>

#include "compute/device/kernel_source.h"
#include "compute/device/quantity.h"
#include "experiments/framework/barrier_lines.h"
#include "experiments/framework/edited.h"
#include "experiments/ripple/ripple.h"

namespace warpscope::experiments {
namespace {

/// Counts of the newest launches, oldest first. `ring` has stored `launches` of them in all.
std::vector<unsigned> newest(const std::vector<unsigned>& ring, std::uint64_t launches) {
    std::vector<unsigned> counts;
    const std::uint64_t known = std::min<std::uint64_t>(ring.size(), launches);
    for (std::uint64_t i = launches - known; i < launches; ++i)
        counts.push_back(ring[i % ring.size()]);
    return counts;
}

std::string proves_nothing(const std::string& barrier) {
    return fmt::format(
        "That proves nothing: without {} nothing orders the reads after the "
        "writes. Other timing gives another picture.",
        barrier);
}

}  // namespace

Report Ripple::spread(const std::string& name, const std::string& label,
                      const compute::Buffer<unsigned>& counts) const {
    std::vector<double> recent;
    for (const unsigned count : newest(counts.download(), state_->launches))
        recent.push_back(100.0 * count / double(state_->shown.size()));
    std::vector<double> sorted = recent;
    std::sort(sorted.begin(), sorted.end());
    const std::string over = fmt::format(" of the last {}", recent.size());
    const auto reading = [&](const char* suffix, std::string title, double value) {
        return Reading{name + suffix, std::move(title), value, "%", {}, Verdict::none, {}};
    };
    const std::string what = name == "wrong_pixels" ? "" : label + ": ";
    Report report{reading("", label, recent.back()),
                  reading("_median", what + "Median" + over, sorted[sorted.size() / 2]),
                  reading("_min", what + "Minimum" + over, sorted.front()),
                  reading("_max", what + "Maximum" + over, sorted.back())};
    report.front().expected = 0.0;
    report.front().recent = std::move(recent);
    return report;
}

std::string Ripple::barrier_place() const {
    const std::string file = kernel_file();
    std::vector<int> lines = barrier_lines(device().source(compute::kernel_path(file)));
    // The other cluster_sync() makes a block wait before it ends.
    if (chosen_.in_cluster() && lines.size() > 1) lines.resize(1);
    return place(file, lines);
}

std::string Ripple::barrier() const {
    return fmt::format("{} at {}", chosen_.in_cluster() ? "cluster_sync()" : "__syncthreads()",
                       barrier_place());
}

void Ripple::judge_edited(Reading& wrong) const {
    wrong.label = "Pixels unlike built-in";
    if (wrong.value > 0) wrong.verdict = Verdict::finding;
    wrong.expected.reset();
    wrong.sentence =
        wrong.value == 0
            ? "The edited kernel draws each pixel as the built-in kernel with its barrier does."
            : fmt::format(
                  "{} of the edited kernel's pixels differ from those of the built-in kernel "
                  "with its barrier. This may be intended; see the race check.",
                  compute::quantity(wrong.value, "%"));
}

void Ripple::judge_wrong(Reading& wrong) const {
    if (edited(device(), kernel_file())) return judge_edited(wrong);
    if (chosen_.sync && wrong.value == 0) {
        wrong.verdict = Verdict::pass;
        wrong.sentence = "A second run with the barrier gives equal pixels.";
    } else if (chosen_.sync) {
        wrong.verdict = Verdict::fail;
        wrong.sentence = fmt::format(
            "{} of the pixels differ between two runs with the barrier: the device or this "
            "program is broken.",
            compute::quantity(wrong.value, "%"));
    } else if (wrong.value > 0) {
        wrong.verdict = Verdict::finding;
        wrong.sentence = fmt::format(
            "{} of the pixels were read before their thread had written them; "
            "{} orders the reads after the writes.",
            compute::quantity(wrong.value, "%"), barrier());
    } else {
        wrong.verdict = Verdict::unproven;
        wrong.sentence = "No pixel is wrong this time. " + proves_nothing(barrier());
    }
    if (const auto remark = chosen_.view.remark()) wrong.sentence += " " + remark->sentence;
}

void Ripple::judge_stale(Reading& stale) const {
    if (chosen_.sync && stale.value == 0) {
        stale.verdict = Verdict::pass;
        stale.sentence = "Every word was read with the stamp of its own block and launch.";
        return;
    }
    if (chosen_.sync && !edited(device(), kernel_file())) {
        stale.verdict = Verdict::fail;
        stale.sentence =
            "Words were read with the stamp of another block or launch, although there is a "
            "barrier: the device or this program is broken.";
        return;
    }
    stale.verdict = Verdict::finding;
    if (stale.value == 0) {
        stale.verdict = Verdict::unproven;
        stale.sentence = "No read was stale this time. " + proves_nothing(barrier());
        return;
    }
    stale.sentence = fmt::format(
        "{} pixels were read from words with the stamp of another block or launch. Some of these "
        "words hold the right value by chance, so fewer pixels are wrong.",
        compute::grouped(stale.value / 100 * double(state_->shown.size())));
}

Report Ripple::report() {
    render_if_changed();
    Report report = spread("wrong_pixels", "Wrong pixels", state_->wrong);
    judge_wrong(report.front());
    if (!chosen_.stamped()) return report;
    Report stale = spread("stale_reads", "Stale reads", state_->stale);
    judge_stale(stale.front());
    std::move(stale.begin(), stale.end(), std::back_inserter(report));
    return report;
}

std::optional<Timeline> Ripple::timeline() {
    if (!chosen_.stamped()) return std::nullopt;
    render_if_changed();
    const std::vector<WarpTimes> times = state_->times.download();
    std::int64_t first = times.front().began;
    for (const WarpTimes& t : times) first = std::min(first, t.began);

    const compute::DeviceInfo& info = device().info();
    const compute::Dim3 block = timed_block();
    Timeline timeline;
    timeline.title = fmt::format("block ({}, {}), SM {}, {}", block.x, block.y,
                                 times.front().multiprocessor, info.name);
    timeline.unit = info.kind == compute::DeviceKind::emulator ? "instructions" : "clocks";
    timeline.warps = warps;
    const std::string barrier = barrier_place();
    const unsigned late_writers = warps_delayed_before(DelayBefore::write);
    const unsigned late_readers = warps_delayed_before(DelayBefore::read);
    for (unsigned w = 0; w < warps; ++w) {
        using enum Timeline::Activity;
        const WarpTimes& t = times[w];
        const auto span = [&](Timeline::Activity activity, std::int64_t begin, std::int64_t end,
                              std::string line = {}) {
            timeline.spans.push_back(
                {w, activity, double(begin - first), double(end - first), std::move(line)});
        };
        const bool late_writer = late_writers >> w & 1, late_reader = late_readers >> w & 1;
        if (late_writer) span(delayed, t.began, t.woke);
        span(writing, late_writer ? t.woke : t.began, t.arrived);
        if (chosen_.sync) span(waiting, t.arrived, t.left, barrier);
        if (late_reader) span(delayed, t.left, t.resumed);
        span(reading, late_reader ? t.resumed : t.left, t.ended);
        timeline.end = std::max(timeline.end, double(t.ended - first));
    }
    return timeline;
}

}  // namespace warpscope::experiments
