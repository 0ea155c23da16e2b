#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/nvrtc.h"
#include "experiments/launch/open_launch.h"
#include "experiments/measure/user_paths.h"
#include "jobs/output/verdict.h"
#include "small_request.h"

/// The window's check of a launch and a run without a window come to one verdict.
namespace warpscope::jobs {
namespace {

const std::filesystem::path cases =
    std::filesystem::path(WARPSCOPE_SOURCE_DIR) / "tests/races/cases";

/// A row of tests/races/cases/cases.tsv, whose first lines explain the columns.
struct Row {
    std::string source, kernel, grid, block, arguments, options;
};

std::vector<Row> rows() {
    std::ifstream from(cases / "cases.tsv");
    std::vector<Row> rows;
    std::string line, source;
    std::getline(from, line);
    while (std::getline(from, line)) {
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, '\t');) cells.push_back(cell);
        if (cells[0] != ".") source = cells[0];
        rows.push_back({source, cells[1], cells[2], cells[3], cells[4], cells[5]});
    }
    return rows;
}

launches::LaunchFile launch_of(const Row& row) {
    Json file{{"source", (cases / row.source).string()},
              {"buffers", Json::object()},
              {"scalars", Json::object()},
              {"launches",
               {{{"kernel", row.kernel},
                 {"grid", std::stoi(row.grid)},
                 {"block", std::stoi(row.block)}}}}};
    Json& launch = file["launches"][0];
    std::istringstream words(row.arguments);
    for (std::string word; words >> word;) {
        const std::size_t colon = word.find(':'), equal = word.find('=');
        const std::string name = word.substr(0, std::min(colon, equal)),
                          value = equal == word.npos ? "" : word.substr(equal + 1);
        if (colon != word.npos) {
            file["buffers"][name]["shape"] = std::stoi(word.substr(colon + 1));
            if (!value.empty()) file["buffers"][name]["fill"] = value;
        } else if (name == "shared" || name == "cluster") {
            launch[name] = std::stoi(value);
        } else if (name == "cooperative") {
            launch[name] = true;
        } else {
            file["scalars"][name] = std::stoi(value);
        }
    }
    return launches::parse_launch_file(file.dump());
}

/// Nullopt: the row has options of which these runs know nothing.
std::optional<compute::RunSettings> settings_of(const Row& row) {
    compute::RunSettings run;
    if (row.options == "--schedule reverse")
        run.schedule = compute::Schedule::reverse;
    else if (row.options.starts_with("--seed "))
        run.seed = std::stoull(row.options.substr(7));
    else if (row.options != "-")
        return {};
    return run;
}

/// Without counts: a run without a window makes the launch once for the frame and once for its
/// report.
std::vector<std::string> lines_of(const emulator::Verdict& verdict) {
    std::vector<std::string> lines;
    for (const emulator::Finding& f : verdict.findings)
        lines.push_back(fmt::format("{} {} {} {} {}", to_string(f.severity), to_string(f.kind),
                                    to_string(f.hazard), f.first.where(),
                                    f.second ? f.second->where() : ""));
    lines.push_back(verdict.error);
    lines.push_back(fmt::format("exit {}", exit_status(verdict, emulator::Severity::warning)));
    return lines;
}

class Roads : public testing::Test {
  protected:
    std::shared_ptr<compute::EmulatedDevice> device(const compute::RunSettings& run) const {
        return compute::make_emulated_device({.settings = run,
                                              .edits = {{opened_.kernels->file, opened_.kernels}},
                                              .limits = compute::usual_limits()});
    }
    emulator::Verdict without_window(const compute::RunSettings& run) const {
        HeadlessRequest request{.experiment = {}};
        request.entry = opened_.entry;
        request.checks = parse_checks("race,barrier,memory");
        return run_experiment(device(run), request, no_painter()).verdict;
    }
    emulator::Verdict in_window(const compute::RunSettings& run) const {
        const auto live = device(run);
        const auto experiment = opened_.entry->make(*live);
        experiment->reset();
        emulator::Verdict verdict =
            experiments::inspect({*opened_.entry, *experiment, run}).verdict;
        return experiments::as_named(std::move(verdict), live->edits());
    }

    compute::Helpers helpers_{WARPSCOPE};
    experiments::CompiledEntry opened_;
};

TEST_F(Roads, OfTheWindowAndOfARunWithoutItEndInOneVerdict) {
    const std::size_t one_of = std::getenv("WARPSCOPE_LONG_TESTS") ? 1 : 13;  // NVRTC takes minutes
    const std::vector<Row> all = rows();
    ASSERT_GT(all.size(), 100u);
    for (std::size_t k = 0; k < all.size(); k += one_of) {
        const auto run = settings_of(all[k]);
        if (!run) continue;
        SCOPED_TRACE(fmt::format("row {}: {} {}", k + 2, all[k].source, all[k].kernel));
        try {
            opened_ = experiments::open_launch(helpers_, launch_of(all[k]), compute::Math::precise);
        } catch (const compiler::NoCompiler& error) {
            GTEST_SKIP() << error.what();
        }
        EXPECT_EQ(lines_of(in_window(*run)), lines_of(without_window(*run)));
    }
}

}  // namespace
}  // namespace warpscope::jobs
