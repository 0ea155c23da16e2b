// Kernels with bulk copies (cp.async.bulk): what a block must wait for.

using Mbarrier = unsigned long long;

#define KERNEL extern "C" __global__ void

__device__ unsigned address_of(const void* p) {
    return unsigned(__cvta_generic_to_shared(p));
}

__device__ void store_tile(unsigned* out, const unsigned* tile) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;\n"
            "cp.async.bulk.commit_group;" ::"l"(out),
            "r"(address_of(tile))
            : "memory");
}

__device__ void wait_for_reads() {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ void wait_for_copies() {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The block ends when the copy has read its shared memory.
KERNEL ends_behind_reads(unsigned* out) {
    __shared__ alignas(16) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    store_tile(out, tile);
    wait_for_reads();
}

// The block ends while the copy still reads its shared memory.
KERNEL ends_while_read(unsigned* out) {
    __shared__ alignas(16) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    store_tile(out, tile);
}

// The tile may change when the copy has read it.
KERNEL changed_behind_reads(unsigned* out) {
    __shared__ alignas(16) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    store_tile(out, tile);
    wait_for_reads();
    __syncthreads();
    tile[threadIdx.x] = 0;
}

// wait_group.read waits for the reads only: what the copy writes is not there yet.
KERNEL result_read_behind_reads(unsigned* out) {
    __shared__ alignas(16) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    store_tile(out, tile);
    wait_for_reads();
    __syncthreads();
    out[threadIdx.x + 64] = out[threadIdx.x];
}

KERNEL result_read_behind_copies(unsigned* out) {
    __shared__ alignas(16) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    store_tile(out, tile);
    wait_for_copies();
    __syncthreads();
    out[threadIdx.x + 64] = out[threadIdx.x];
}

// 256 bytes are copied, and `announced` are expected.
template <int announced>
__device__ void fetch(unsigned* out) {
    __shared__ alignas(16) unsigned tile[64];
    __shared__ Mbarrier full;
    if (threadIdx.x == 0)
        asm volatile(
            "mbarrier.init.shared::cta.b64 [%0], 1;\n"
            "fence.proxy.async.shared::cta;" ::"r"(address_of(&full))
            : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %3;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 256, "
            "[%0];" ::"r"(address_of(&full)),
            "r"(address_of(tile)), "l"(out), "n"(announced)
            : "memory");
    asm volatile(
        "{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
        "@!p bra again;\n}" ::"r"(address_of(&full))
        : "memory");
    out[threadIdx.x + 64] = tile[threadIdx.x];
}
KERNEL fetched(unsigned* out) {
    fetch<256>(out);
}
KERNEL hangs_for_bytes(unsigned* out) {
    fetch<512>(out);
}
