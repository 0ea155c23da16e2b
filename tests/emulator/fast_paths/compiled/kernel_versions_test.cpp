#include "emulator/fast_paths/compiled/kernel_versions.h"

#include "emulator/fast_paths/compiled/both_forms.h"

namespace warpscope::emulator {
namespace {

TEST(LlvmLibrary, AFileThatIsMissingIsNamed) {
    expect_contains(error_of([] { Llvm::load("/nonexistent/libLLVM.so"); }),
                    "/nonexistent/libLLVM.so cannot be loaded");
}

TEST(LlvmLibrary, ALibraryThatIsNotLlvmIsNamed) {
    expect_contains(error_of([] { Llvm::load("libm.so.6"); }),
                    "libm.so.6 has no LLVMContextCreate(): the emulator compiles kernels with LLVM "
                    "15 to 19");
}

class KernelVersionsTest : public LlvmTest {
  protected:
    std::shared_ptr<KernelVersions> versions() {
        return std::make_shared<KernelVersions>(*compiler_, module_, *module_->kernels().front());
    }
    std::shared_ptr<KernelCompiler> compiler_ = std::make_shared<KernelCompiler>();
    std::shared_ptr<const Module> module_ =
        Module::parse(kernel_text("st.global.u32 [%rd1], %r1;"), "test");
};

TEST_F(KernelVersionsTest, AKernelIsCompiledOnceItHasCost100Milliseconds) {
    using namespace std::chrono_literals;
    const auto kernel = versions();
    EXPECT_EQ(kernel->choose(Execution::automatic), nullptr);
    kernel->add_cost(99ms);
    kernel->add_cost(500us);
    EXPECT_FALSE(kernel->is_asked());
    kernel->add_cost(500us);
    EXPECT_TRUE(kernel->is_asked());
    kernel->wait();
    EXPECT_NE(kernel->choose(Execution::automatic), nullptr);
    EXPECT_EQ(kernel->choose(Execution::interpreted), nullptr);
}

TEST_F(KernelVersionsTest, CompiledExecutionWaitsForTheCompiler) {
    EXPECT_NE(versions()->choose(Execution::compiled), nullptr);
    EXPECT_EQ(compiler_->problem(), "");
}

TEST_F(KernelVersionsTest, ALaunchThatWaitsForTheCompilerRunsCompiledCodeAtOnce) {
    EXPECT_NE(versions()->choose_compiled(), nullptr);
    const auto asked = versions();
    asked->add_cost(std::chrono::seconds(1));
    EXPECT_NE(asked->choose_compiled(), nullptr);
}

TEST_F(KernelVersionsTest, TheCompilerIsIdleBeforeAndAfterAKernel) {
    EXPECT_FALSE(compiler_->is_compiling());
    const auto kernel = versions();
    kernel->add_cost(std::chrono::seconds(1));
    while (!compiler_->is_compiling() && !kernel->choose(Execution::automatic))
        std::this_thread::yield();
    while (compiler_->is_compiling()) std::this_thread::yield();
    EXPECT_NE(kernel->choose(Execution::automatic), nullptr);
}

TEST_F(KernelVersionsTest, AKernelMayEndWhileItIsCompiled) {
    for (int k = 0; k < 5; ++k) {
        const auto kernel = versions();
        kernel->add_cost(std::chrono::seconds(1));
    }
    compiler_.reset();  // waits for its thread
}

}  // namespace
}  // namespace warpscope::emulator
