#include <cstdlib>
#include <iostream>

#include "differential/both_ways.h"
#include "differential/nvrtc_here.h"
#include "support/long_tests.h"

// Every kernel at hand runs interpreted and compiled. The long tests run 20 launches in each pair
// of a schedule and a barrier policy, all others one.
namespace warpscope::tests {
namespace {

unsigned rounds() {
    return long_tests() ? 20 : 1;
}

std::vector<std::string> committed_texts() {
    const std::string repository = WARPSCOPE_SOURCE_DIR;
    auto files = files_below(repository + "/kernels/ptx", ".ptx");
    for (const char* folder : {"/tests/races/ptx", "/tests/instructions/ptx"})
        for (const auto& file : files_below(repository + folder, ".ptx"))
            // A text with a placeholder is not PTX yet.
            if (contents_of(file).find(".TYPE") == std::string::npos) files.push_back(file);
    return files;
}

/// "precise_ripple" of …/precise/ripple.ptx.
std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(std::string(WARPSCOPE_SOURCE_DIR).size() + 1);
    name.resize(name.size() - std::string(".ptx").size());
    std::ranges::replace(name, '/', '_');
    return name;
}

TEST(CommittedTexts, AreFound) {
    EXPECT_GE(committed_texts().size(), 60u) << "below " << WARPSCOPE_SOURCE_DIR;
}

class CommittedKernels : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, CommittedKernels, testing::ValuesIn(committed_texts()), test_name);

TEST_P(CommittedKernels, AreEqualInBothForms) {
    if (!emulator::installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    expect_equal_kernels(contents_of(GetParam()), GetParam(), rounds());
}

void expect_equal_sources(const std::vector<std::string>& files, std::size_t step) {
    if (!emulator::installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    if (!nvrtc_here()) GTEST_SKIP() << "NVRTC is not installed";
    for (std::size_t k = 0; k < files.size(); k += step)
        for (const bool fast : {false, true}) {
            if (step > 1 && fast == (k / step % 2 == 0)) continue;
            const auto compiled = nvrtc_here()->compile({files[k], contents_of(files[k]), fast});
            expect_equal_kernels(compiled.ptx, files[k], rounds());
        }
}

TEST(NvrtcKernels, AreEqualInBothForms) {
    expect_equal_sources(files_below(WARPSCOPE_SOURCE_DIR "/kernels", ".cu"), long_tests() ? 1 : 6);
}

// Kernels of other projects, which this repository does not contain: PTX texts in a folder. Random
// arguments need not suit them.
TEST(KernelsOfAFolder, AreEqualInBothForms) {
    const char* folder = std::getenv("WARPSCOPE_KERNELS");
    if (!folder) GTEST_SKIP() << "WARPSCOPE_KERNELS names no folder with PTX texts";
    if (!emulator::installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    unsigned kernels = 0, without_error = 0;
    for (const auto& file : files_below(folder, ".ptx")) try {
            const auto module = emulator::Module::parse(contents_of(file), file);
            for (const auto& kernel : module->kernels()) {
                without_error += expect_equal_launches(module, *kernel, rounds()) > 0;
                ++kernels;
            }
        } catch (const emulator::Error& error) {
            std::cout << error.what() << "\n";  // an instruction that the emulator does not know
        }
    std::cout << kernels << " kernels compared, " << without_error << " have run to their end\n";
    EXPECT_GT(without_error, 0u);
}

}  // namespace
}  // namespace warpscope::tests
