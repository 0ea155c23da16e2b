#include "jobs/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "compute/emulated/emulated_device.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {

namespace {

using Bound = BenchRow::Bound;

std::string wanted_text(const BenchRow& row) {
    if (row.bound == Bound::none) return "";
    return fmt::format("{} {:g}  {}", row.bound == Bound::at_most ? "<=" : ">=", row.wanted,
                       row.reached() ? "reached" : "MISSED");
}

Json to_json(const BenchRow& row) {
    Json json = {{"name", row.name},
                 {"label", row.label},
                 {"value", row.value},
                 {"unit", row.unit},
                 {"note", row.note}};
    if (row.median_ms > 0) {
        json["median_ms"] = row.median_ms;
        json["p99_ms"] = row.p99_ms;
    }
    if (row.bound != Bound::none) {
        json["bound"] = row.bound == Bound::at_most ? "at most" : "at least";
        json["wanted"] = row.wanted;
        json["reached"] = row.reached();
    }
    return json;
}

std::string table(const std::vector<BenchRow>& rows, const compute::DeviceInfo& info) {
    std::string text = fmt::format("{} threads; device: {}, {}\n\n",
                                   std::thread::hardware_concurrency(), info.name, info.reason);
    for (const BenchRow& row : rows) {
        text += fmt::format("{:44} {:>10.4g} {:18} {}", row.label, row.value, row.unit,
                            wanted_text(row));
        while (text.back() == ' ') text.pop_back();
        text += "\n";
        if (row.note.empty()) continue;
        for (const std::string& line : wrap(row.note, 92)) text += "        " + line + "\n";
    }
    return text;
}

}  // namespace

bool BenchRow::reached() const {
    if (bound == Bound::at_most) return value <= wanted;
    if (bound == Bound::at_least) return value >= wanted;
    return true;
}

double milliseconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + values.size() / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::vector<BenchRow> run_bench_rows(compute::Helpers& helpers, compute::Device& device,
                                     const std::function<void(const std::string&)>& progress) {
    std::vector<BenchRow> rows;
    progress("the emulator against plain loops");
    bench_emulator(rows);
    progress("the app's start and its frames");
    bench_start(rows);
    progress("edits of kernels");
    bench_edits(rows, helpers, compute::make_emulated_device("measured")->info());
    if (device.info().kind == compute::DeviceKind::cuda) bench_edits(rows, helpers, device.info());
    progress("the emulator's ladders of kernels");
    bench_ladders(rows, *compute::make_emulated_device("measured"));
    if (device.info().kind == compute::DeviceKind::cuda) {
        progress("the GPU's kernels");
        bench_kernels(rows, device);
        progress("the GPU's ladders of kernels, and libraries");
        bench_ladders(rows, device);
    }
    progress("a frame's way to OpenGL");
    bench_presentation(rows, device);
    return rows;
}

int run_bench(compute::Helpers& helpers, compute::Device& device, const std::string& json) {
    const bool to_file = !json.empty() && json != "-";
    if (to_file) check_writable(json, "--json");
    const auto rows = run_bench_rows(helpers, device, [](const std::string& next) {
        fmt::print(stderr, "measuring {}\n", next);
    });

    Json list = Json::array();
    for (const BenchRow& row : rows) list.push_back(to_json(row));
    const Json all = {{"device", jobs::to_json(device.info())},
                      {"threads", std::thread::hardware_concurrency()},
                      {"ceilings", jobs::to_json(compute::known_ceilings(device.info()))},
                      {"gpu", jobs::to_json(compute::gpu_state(device.info().pci_bus_id))},
                      {"rows", std::move(list)}};
    if (to_file) write_file(json, dump(all));
    print(json == "-" ? dump(all) : table(rows, device.info()));
    return 0;
}

}  // namespace warpscope::jobs
