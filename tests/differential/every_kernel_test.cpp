#include <cstdlib>
#include <iostream>

#include "differential/both_ways.h"
#include "differential/nvrtc_here.h"
#include "support/long_tests.h"

// Every kernel at hand runs interpreted and compiled. The long tests run 20 launches in each pair
// of a schedule and a barrier policy, and the kernels of the app in both maths. All others run one
// launch, and take the maths by turns, from file to file: tests of the instructions run each form
// that only one of them has.
namespace warpscope::tests {
namespace {

unsigned rounds() {
    return long_tests() ? 20 : 1;
}

// The kernels of the app in precise maths, and the texts of the tests.
std::vector<std::string> committed_texts() {
    const std::string repository = WARPSCOPE_SOURCE_DIR;
    auto files = files_below(repository + "/kernels/ptx/precise", ".ptx");
    for (const char* folder : {"/tests/races/ptx", "/tests/instructions/ptx"})
        for (const auto& file : files_below(repository + folder, ".ptx"))
            // A text with a placeholder is not PTX yet.
            if (contents_of(file).find(".TYPE") == std::string::npos) files.push_back(file);
    return files;
}

/// A text of the app in both maths; another text alone.
std::vector<std::string> in_each_math(const std::string& file) {
    const std::string precise = "/precise/";
    const std::size_t at = file.rfind(precise);
    if (at == file.npos) return {file};
    return {file, std::string(file).replace(at, precise.size(), "/fast/")};
}

/// "kernels_ripple" of …/kernels/ptx/precise/ripple.ptx.
std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(std::string(WARPSCOPE_SOURCE_DIR).size() + 1);
    name.resize(name.size() - std::string(".ptx").size());
    const std::string app = "kernels/ptx/precise/";
    if (name.starts_with(app)) name.replace(0, app.size(), "kernels_");
    std::ranges::replace(name, '/', '_');
    return name;
}

TEST(CommittedTexts, AreFound) {
    EXPECT_GE(committed_texts().size(), 40u) << "below " << WARPSCOPE_SOURCE_DIR;
}

class CommittedKernels : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, CommittedKernels, testing::ValuesIn(committed_texts()), test_name);

TEST_P(CommittedKernels, AreEqualInBothForms) {
    if (!emulator::installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    const auto all = committed_texts();
    const auto number = std::size_t(std::ranges::find(all, GetParam()) - all.begin());
    const auto files = in_each_math(GetParam());
    for (std::size_t k = 0; k < files.size(); ++k)
        if (long_tests() || k == number % files.size())
            expect_equal_kernels(contents_of(files[k]), files[k], rounds());
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
