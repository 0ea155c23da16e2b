#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "bench/bench_emulator.h"
#include "compute/cuda/survey.h"
#include "compute/emulated/emulated_device.h"
#include "emulator/machine/parallel.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/json.h"

namespace warpscope::bench {

namespace {

using Bound = BenchRow::Bound;
using jobs::Json;

std::string wanted_text(const BenchRow& row) {
    if (row.bound == Bound::none) return "";
    return fmt::format("{} {:g}  {}", row.bound == Bound::at_most ? "<=" : ">=", row.wanted,
                       row.reached() ? "reached" : "MISSED");
}

Json row_json(const BenchRow& row) {
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
    std::string text = fmt::format("{} threads; device: {}, {}\n\n", emulator::hardware_threads(),
                                   info.name, info.reason);
    for (const BenchRow& row : rows) {
        text += fmt::format("{:56} {:>10.4g} {:18} {}", row.label, row.value, row.unit,
                            wanted_text(row));
        while (text.back() == ' ') text.pop_back();
        text += "\n";
        if (row.note.empty()) continue;
        for (const std::string& line : jobs::wrap(row.note, 92)) text += "        " + line + "\n";
    }
    return text;
}

void run_section(std::vector<BenchRow>& rows, BenchSection section, compute::Helpers& helpers,
                 compute::Device& device) {
    const auto emulator = [] { return compute::make_emulated_device("measured"); };
    switch (section) {
        case BenchSection::emulator:
            return bench_emulator(rows);
        case BenchSection::start:
            return bench_start(rows);
        case BenchSection::edit:
            bench_edits(rows, helpers, emulator()->info());
            if (is_gpu(device)) bench_edits(rows, helpers, device.info());
            return;
        case BenchSection::gpu:
            if (is_gpu(device)) bench_gpu(rows, device);
            return;
        case BenchSection::ladders:
            bench_ladders(rows, *emulator());
            if (is_gpu(device)) bench_ladders(rows, device);
            return;
        case BenchSection::devices:
            return bench_devices(rows);
        case BenchSection::frames:
            return bench_frames(rows, device);
        case BenchSection::fast:
            return bench_fast_paths(rows);
        case BenchSection::window:
            return bench_window(rows);
    }
}

}  // namespace

std::filesystem::path app() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "warpscope";
}

bool is_gpu(const compute::Device& device) {
    return device.info().kind == compute::DeviceKind::cuda;
}

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

std::vector<BenchRow> bench_rows(compute::Helpers& helpers, compute::Device& device,
                                 const BenchSections& sections,
                                 const std::function<void(const std::string&)>& progress) {
    std::vector<BenchRow> rows;
    for (const auto& section : compute::words_of<BenchSection>) {
        if (!sections.contains(section.value)) continue;
        progress(fmt::format("measuring {}: {}", section.name, section.label));
        if (section.value == BenchSection::gpu && !is_gpu(device))
            progress("there is no GPU, so the section gpu measures nothing");
        if (section.value == BenchSection::emulator && pocl_program().empty())
            progress("PoCL is not measured, because its program is not built: ./run bench does it");
        if (section.value == BenchSection::devices && compute::survey_cuda().devices < 2)
            progress("there are not two GPUs, so the section devices measures nothing");
        const std::size_t before = rows.size();
        run_section(rows, section.value, helpers, device);
        if (section.value == BenchSection::window && rows.size() == before)
            progress("there is no display, so the section window measures nothing");
    }
    return rows;
}

void run_bench(compute::Helpers& helpers, compute::Device& device, const BenchSections& sections,
               const std::string& json) {
    const bool to_file = !json.empty() && json != "-";
    if (to_file) jobs::check_writable(json, "--json");
    const auto rows = bench_rows(helpers, device, sections,
                                 [](const std::string& line) { fmt::print(stderr, "{}\n", line); });

    Json list = Json::array();
    for (const BenchRow& row : rows) list.push_back(row_json(row));
    const Json all = {{"device", jobs::to_json(device.info())},
                      {"threads", emulator::hardware_threads()},
                      {"ceilings", jobs::to_json(compute::known_ceilings(device.info()))},
                      {"gpu", jobs::to_json(compute::gpu_state(device.info().pci_bus_id))},
                      {"rows", std::move(list)}};
    if (to_file) jobs::write_file(json, jobs::dump(all));
    jobs::print(json == "-" ? jobs::dump(all) : table(rows, device.info()));
}

}  // namespace warpscope::bench
