#include "jobs/headless/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compute/device/number_text.h"
#include "experiments/measure/user_paths.h"

namespace warpscope::jobs {

namespace {

using emulator::KernelCounters;
using emulator::MemoryCounts;

Json global_json(const MemoryCounts& c) {
    return {{"requests", c.requests},
            {"bytes", c.bytes},
            {"sectors", c.sectors},
            {"least_sectors", c.least_sectors}};
}

Json shared_json(const MemoryCounts& c) {
    return {{"requests", c.requests},
            {"bytes", c.bytes},
            {"wavefronts", c.wavefronts},
            {"least_wavefronts", c.least_wavefronts},
            {"degree", c.degree}};
}

std::string global_line(std::string_view name, const MemoryCounts& c) {
    if (c.requests == 0) return "";
    return fmt::format(
        "    {:14} {:>12} requests {:>14} bytes {:>12} sectors      {:.4g} a request\n", name,
        c.requests, c.bytes, c.sectors, double(c.sectors) / double(c.requests));
}

std::string shared_line(std::string_view name, const MemoryCounts& c) {
    if (c.requests == 0) return "";
    const std::string conflicts = c.degree > 1
                                      ? fmt::format("{} without bank conflicts, at worst {}-way",
                                                    c.least_wavefronts, c.degree)
                                      : "no bank conflicts";
    return fmt::format("    {:14} {:>12} requests {:>14} bytes {:>12} wavefronts   {}\n", name,
                       c.requests, c.bytes, c.wavefronts, conflicts);
}

std::string heat_lines(const emulator::HeatArray& array, const std::string& name,
                       std::span<const compute::Word<emulator::HeatFigure>> words,
                       emulator::HeatFigure figure) {
    constexpr std::size_t most_rows = 8;
    const std::vector<experiments::HeatRun> runs = experiments::heat_runs(array);
    std::string text = fmt::format("    {}, {} memory, {} bytes:", name,
                                   array.shared ? "shared" : "global", array.bytes);
    for (const auto& word : words)
        text += fmt::format("{} {} {}", word.value == emulator::HeatFigure::reads ? "" : ",",
                            experiments::heat_total(runs, word.value), word.name);
    text += "\n";
    const std::vector<experiments::HeatRun> rows = experiments::hottest(runs, figure);
    for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
        const experiments::HeatRun& run = rows[i];
        const std::string range =
            run.words == 1 ? fmt::format("{}", run.first)
                           : fmt::format("{} to {}", run.first, run.first + run.words - 1);
        text += fmt::format("      {:>22}", range);
        for (const auto& word : words) text += fmt::format(" {:>12}", run.count(word.value));
        text += "\n";
    }
    if (rows.size() > most_rows)
        text += fmt::format("      and {} more ranges of words\n", rows.size() - most_rows);
    return text;
}

}  // namespace

Json to_json(const std::vector<KernelCounters>& counters) {
    Json json = Json::array();
    for (const KernelCounters& k : counters) {
        json.push_back({{"kernel", k.kernel},
                        {"launches", k.launches},
                        {"blocks", k.blocks},
                        {"warp_instructions", k.warp_instructions},
                        {"thread_instructions", k.thread_instructions},
                        {"separations", k.separations},
                        {"barriers", k.barriers},
                        {"global",
                         {{"loads", global_json(k.global_loads)},
                          {"stores", global_json(k.global_stores)},
                          {"atomics", global_json(k.global_atomics)}}},
                        {"shared",
                         {{"loads", shared_json(k.shared_loads)},
                          {"stores", shared_json(k.shared_stores)},
                          {"atomics", shared_json(k.shared_atomics)}}}});
    }
    return json;
}

Json lines_json(const KernelCounters& kernel, experiments::LineFigure figure,
                const compute::KernelEdits& edits) {
    Json json = Json::array();
    for (const emulator::LineCounters* line : experiments::sorted_lines(kernel, figure)) {
        const MemoryCounts global = line->global(), shared = line->shared();
        json.push_back(
            {{"file", line->file},
             {"line", line->line},
             {"text", experiments::text_of_line(edits, line->file, line->line)},
             {"warp_instructions", line->warp_instructions},
             {"thread_instructions", line->thread_instructions},
             {"separations", line->separations},
             {"global", {{"sectors", global.sectors}, {"least_sectors", global.least_sectors}}},
             {"shared",
              {{"wavefronts", shared.wavefronts}, {"least_wavefronts", shared.least_wavefronts}}}});
    }
    return json;
}

Json heat_json(const emulator::KernelHeat& kernel, const compute::KernelEdits& edits) {
    Json json = Json::array();
    const auto words = experiments::heat_words(kernel);
    for (const emulator::HeatArray& array : kernel.arrays) {
        Json runs = Json::array();
        for (const experiments::HeatRun& run : experiments::heat_runs(array)) {
            Json row = {{"first", run.first}, {"words", run.words}};
            for (const auto& word : words) row[std::string(word.name)] = run.count(word.value);
            runs.push_back(std::move(row));
        }
        json.push_back({{"name", experiments::heat_name(kernel, array, edits)},
                        {"space", array.shared ? "shared" : "global"},
                        {"begin", array.shared ? Json(array.begin) : Json(nullptr)},
                        {"bytes", array.bytes},
                        {"parameter", array.parameter < 0 ? Json(nullptr) : Json(array.parameter)},
                        {"runs", std::move(runs)}});
    }
    return json;
}

std::string counters_text(const std::vector<KernelCounters>& counters) {
    std::string text = "counters (from the emulator; a sector is 32 bytes)\n";
    for (const KernelCounters& k : counters) {
        text +=
            fmt::format("  {}: {}, {}, {}, {}\n", k.kernel, compute::plural(k.launches, "launch"),
                        compute::plural(k.blocks, "block"),
                        compute::plural(k.warp_instructions, "warp instruction"),
                        compute::plural(k.barriers, "barrier"));
        text += global_line("global loads", k.global_loads);
        text += global_line("global stores", k.global_stores);
        text += global_line("global atomics", k.global_atomics);
        text += shared_line("shared loads", k.shared_loads);
        text += shared_line("shared stores", k.shared_stores);
        text += shared_line("shared atomics", k.shared_atomics);
    }
    return text;
}

std::string lines_text(const std::vector<KernelCounters>& counters, experiments::LineFigure figure,
                       const compute::KernelEdits& edits) {
    std::string text = fmt::format(
        "source lines, by {}\n"
        "  instructions: warp instructions of the PTX; divergence: lanes that are idle in them;\n"
        "  separated: branches that only some lanes of a warp take; least: sectors that hold the\n"
        "  bytes that lanes use; conflicts: wavefronts that bank conflicts add\n",
        compute::name(figure));
    for (const KernelCounters& k : counters) {
        text += fmt::format("  {}\n    {:>14} {:>14} {:>10} {:>12} {:>12} {:>12} {:>12}\n",
                            k.kernel, "instructions", "divergence", "separated", "sectors", "least",
                            "wavefronts", "conflicts");
        for (const emulator::LineCounters* l : experiments::sorted_lines(k, figure)) {
            const MemoryCounts global = l->global(), shared = l->shared();
            const std::string place = l->file.empty() ? fmt::format("PTX line {}", l->line)
                                                      : fmt::format("{}:{}", l->file, l->line);
            text +=
                fmt::format("    {:>14} {:>14} {:>10} {:>12} {:>12} {:>12} {:>12}  {}  {}\n",
                            l->warp_instructions, l->idle_lanes(), l->separations, global.sectors,
                            global.least_sectors, shared.wavefronts, shared.conflicts(), place,
                            experiments::text_of_line(edits, l->file, l->line));
        }
    }
    return text;
}

std::string heat_text(const std::vector<emulator::KernelHeat>& heat, emulator::HeatFigure figure,
                      const compute::KernelEdits& edits) {
    std::string text = fmt::format(
        "heat of the words of memory (4 bytes each), by {}\n"
        "  reads, writes, atomics: of threads; races: hazards that --check race finds;\n"
        "  conflicts: additional wavefronts of the word's bank\n",
        compute::name(figure));
    for (const emulator::KernelHeat& kernel : heat) {
        text +=
            fmt::format("  {}\n      {:>22}", experiments::as_named(kernel.kernel, edits), "words");
        const auto words = experiments::heat_words(kernel);
        for (const auto& word : words) text += fmt::format(" {:>12}", word.name);
        text += "\n";
        for (const emulator::HeatArray& array : kernel.arrays)
            text += heat_lines(array, experiments::heat_name(kernel, array, edits), words, figure);
    }
    return text;
}

}  // namespace warpscope::jobs
