#include "compiler/target.h"

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

}  // namespace
}  // namespace warpscope::compiler
