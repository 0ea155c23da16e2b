#include "compute/device/kernel_files.h"

#include <gtest/gtest.h>

#include <sstream>

#include "compiler/nvrtc.h"
#include "emulator/program/module.h"

namespace warpscope::compute {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
    std::istringstream stream{std::string(text)};
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

class KernelSource : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Files, KernelSource,
                         testing::Values("ceilings", "clear", "dot", "dot_ladder", "nbody",
                                         "nbody_ladder", "nbody_async", "nbody_bulk", "pipeline",
                                         "pipeline_bulk", "pipeline_source", "reduce",
                                         "reduce_ladder", "ripple", "ripple_cluster",
                                         "ripple_compare", "ripple_layouts", "ripple_stamped",
                                         "show", "splat"),
                         [](const auto& info) { return std::string(info.param); });

// Drivers from branch 450 on know version 7.0, those from 455 on 7.1, and those from 525 on 8.0.
TEST_P(KernelSource, ThePtxIsOfAnOldVersionAndForTheTargetOfTheSource) {
    const unsigned target = compiler::target_of(kernel_source(kernel_path(GetParam())));
    const char* const version = target == 90 ? "8.0" : target == 80 ? "7.1" : "7.0";
    const std::string head =
        "\n.version " + std::string(version) + "\n.target sm_" + std::to_string(target) + "\n";
    for (const Math math : {Math::precise, Math::fast})
        EXPECT_NE(kernel_ptx(GetParam(), math).find(head), std::string_view::npos) << head;
}

TEST_P(KernelSource, EveryBarrierInThePtxHasTheLineOfABarrierInTheSource) {
    for (const Math math : {Math::precise, Math::fast}) {
        const auto module = emulator::Module::parse(kernel_ptx(GetParam(), math), "");
        for (const std::string& file : module->files())
            EXPECT_TRUE(!file.starts_with("kernels/") || !kernel_source(file).empty()) << file;
        for (const auto& kernel : module->kernels())
            for (const emulator::InstructionInfo& info : kernel->lines) {
                if (!info.barrier) continue;
                const auto source =
                    lines_of(kernel_source(module->files().at(std::size_t(info.source.file))));
                const std::string& line = source.at(std::size_t(info.source.line) - 1);
                const bool named = line.find("bar.sync 1, 256") != std::string::npos;
                EXPECT_TRUE(named || line.find("__syncthreads()") != std::string::npos) << line;
            }
    }
}

TEST_P(KernelSource, EveryInstructionHasItsLineInThePtxText) {
    const auto module = emulator::Module::parse(kernel_ptx(GetParam(), Math::precise), "");
    const auto ptx = lines_of(module->text());
    std::size_t seen = 0;
    for (const auto& kernel : module->kernels())
        for (const emulator::InstructionInfo& info : kernel->lines) {
            if (info.pseudo) continue;
            const std::string& line = ptx.at(std::size_t(info.source.ptx_line) - 1);
            EXPECT_NE(line.find(info.text), std::string::npos) << line << "\n" << info.text;
            ++seen;
        }
    EXPECT_GT(seen, 5u);
}

TEST(KernelSources, AnUnknownFileHasNoText) {
    EXPECT_TRUE(kernel_source("ripple.cu").empty());
    EXPECT_TRUE(kernel_source("kernels/none.cu").empty());
}

TEST(KernelFile, IsTheNameInAPath) {
    EXPECT_EQ(kernel_file("kernels/ripple.cu"), "ripple");
    EXPECT_EQ(kernel_file(kernel_path("gallery/life")), "gallery/life");
    EXPECT_EQ(kernel_file("kernels/.cu"), "");
    EXPECT_EQ(kernel_file("/usr/include/cub/block.cuh"), "");
    EXPECT_EQ(kernel_file(""), "");
}

}  // namespace
}  // namespace warpscope::compute
