#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "experiments/framework/experiment.h"
#include "experiments/sums/reduction.h"
#include "jobs/bench/emulator_rows.h"
#include "jobs/bench/scalar_loops.h"

namespace warpscope::jobs {

namespace {

constexpr std::size_t n = 1 << 20;

/// A kernel of the dot product or of the reduction, in blocks of 256 threads.
class Sum {
  public:
    Sum(const std::string& experiment, const std::string& kernel)
        : device_(make_emulator(compute::Math::precise)),
          experiment_(experiments::find_experiment(experiment).make(*device_)) {
        experiment_->set(std::vector<experiments::Assignment>{
            {"kernel", kernel}, {"n", std::to_string(n)}, {"block", "256"}});
    }

    compute::EmulatedDevice& device() { return *device_; }
    void add() {
        experiment_->step();
        device_->synchronize();
    }
    /// Throws if the newest sum is wrong.
    void check() {
        if (experiments::has_failure(experiment_->report()))
            throw std::runtime_error("an emulated sum is wrong");
    }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<experiments::Experiment> experiment_;
};

/// The sum and the sum of the magnitudes of all terms.
struct Exact {
    double sum = 0, magnitudes = 0;
    void add(double term) {
        sum += term;
        magnitudes += std::abs(term);
    }
};

Pair measure(std::vector<BenchRow>& rows, Sum& sum, const Measured& kernel,
             const std::function<double()>& plain, const Exact& exact) {
    double plain_sum = 0;
    const Pair pair = measure_pair([&] { sum.add(); }, [&] { plain_sum = plain(); });
    sum.check();
    // Each term goes through at most 4096 additions in float.
    if (!(std::abs(plain_sum - exact.sum) <= 4096 * 0x1p-24 * exact.magnitudes))
        throw std::runtime_error(
            fmt::format("the plain loop's sum is {}, not {}", plain_sum, exact.sum));
    add_rows(rows, kernel, pair);
    add_compiled_row(rows, kernel, [&] { sum.add(); });
    return pair;
}

void bench_dot(std::vector<BenchRow>& rows) {
    std::vector<float> a(n), b(n);
    Exact exact;
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = float(i);
        b[i] = 2 * float(i);
        exact.add(double(a[i]) * double(b[i]));
    }
    const Measured shuffle{.name = "dot_shuffle",
                           .label = "dot product shuffle 2^20",
                           .work = 8.0 * n / 1e9,
                           .unit = "GB/s"};
    Sum dot("dot", "shuffle");
    const Pair pair = measure(
        rows, dot, shuffle, [&] { return scalar_dot(a, b); }, exact);
    add_pocl_rows(rows, shuffle, pair.first_ms, "dot");
}

void bench_reductions(std::vector<BenchRow>& rows) {
    std::vector<float> values(n);
    Exact exact;
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = experiments::reduction_input(i);
        exact.add(double(values[i]));
    }
    for (const std::string id : {"vectorized", "sequential"}) {
        const Measured kernel{.name = "reduction_" + id,
                              .label = "reduction " + id + " 2^20",
                              .work = 4.0 * n / 1e9,
                              .unit = "GB/s"};
        Sum sum("reduction", id);
        measure(
            rows, sum, kernel, [&] { return scalar_sum(values); }, exact);
        if (id == "sequential")
            add_observed_rows(
                rows, sum.device(), kernel, [&] { sum.add(); }, 1.6);
    }
}

}  // namespace

void bench_emulated_sums(std::vector<BenchRow>& rows) {
    bench_dot(rows);
    bench_reductions(rows);
}

}  // namespace warpscope::jobs
