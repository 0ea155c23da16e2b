#pragma once

// The functions of cooperative_groups::cluster_group that the kernels of this folder call. The
// header of cooperative groups takes the compiler two seconds, for each row of cases.tsv;
// pipelines.cu includes it.
struct ClusterGroup {
    __device__ void barrier_arrive() const { __cluster_barrier_arrive(); }
    __device__ void barrier_wait() const { __cluster_barrier_wait(); }
    __device__ void sync() const {
        barrier_arrive();
        barrier_wait();
    }
    __device__ unsigned num_blocks() const { return __clusterSizeInBlocks(); }
    __device__ unsigned block_rank() const { return __clusterRelativeBlockRank(); }
    __device__ unsigned query_shared_rank(const void* address) const {
        return __cluster_query_shared_rank(address);
    }
    template <class T>
    __device__ T* map_shared_rank(T* address, unsigned rank) const {
        return static_cast<T*>(__cluster_map_shared_rank(address, rank));
    }
};

__device__ inline ClusterGroup this_cluster() {
    return {};
}
