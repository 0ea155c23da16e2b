#include "compiler/nvrtc.h"

#include <gtest/gtest.h>

namespace warpscope::compiler {
namespace {

TEST(Target, IsThatOfTheOldestGpusForOrdinaryKernels) {
    EXPECT_EQ(target_of("__global__ void add(float* a) { __syncthreads(); }"), 75u);
    // A kernel of k-means has clusters, too.
    EXPECT_EQ(target_of("__global__ void nearest(int* cluster_of) {}"), 75u);
}

TEST(Target, IsThatOfGpusWithAsynchronousCopiesWhereTheSourceHasSome) {
    EXPECT_EQ(target_of("#include <cuda_pipeline.h>\n"), 80u);
    EXPECT_EQ(target_of("asm volatile(\"cp.async.commit_group;\");"), 80u);
    EXPECT_EQ(target_of("cuda::barrier<cuda::thread_scope_block> b;"), 80u);
    EXPECT_EQ(target_of("int sum = __reduce_add_sync(~0u, x);"), 80u);
}

TEST(Target, IsThatOfGpusWithBulkCopiesAndClustersWhereTheSourceHasSome) {
    EXPECT_EQ(target_of("asm volatile(\"cp.async.bulk.commit_group;\");"), 90u);
    EXPECT_EQ(target_of("__global__ void __cluster_dims__(2) k() {}"), 90u);
    EXPECT_EQ(target_of("auto cluster = cooperative_groups::this_cluster();"), 90u);
}

TEST(Target, IsReadFromMessagesOfTheCompiler) {
    EXPECT_EQ(target_named_in("identifier \"x\" is undefined"), 0u);
    EXPECT_EQ(target_named_in("Unresolved extern function "
                              "'__cuda_ptx_mbarrier_try_wait_is_not_supported_before_SM_90__'"),
              90u);
    EXPECT_EQ(target_named_in("static assertion failed: needs compute capability 8.0"), 80u);
    EXPECT_EQ(target_named_in("requires sm_80 or sm_90"), 90u);
    EXPECT_EQ(target_named_in("this needs sm_120"), 0u) << "not a target of this program";
}

}  // namespace
}  // namespace warpscope::compiler
