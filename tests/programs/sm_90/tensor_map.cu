// Boxes of a matrix are copied into shared memory and back by the copy engine, with every swizzle.
// The matrix has 37 columns in rows of 48, and 20 rows; boxes reach beyond its edges. A store fills
// the 16 bytes in which a row of the matrix ends, which are columns 36 to 39.
#include <cuda.h>

#include <cuda/ptx>

#include "../book.h"

constexpr int width = 37, pitch = 48, height = 20, box_rows = 8;

// Copies the box at (x, y) into shared memory, as it lies there into `raw`, and through `to` to the
// place (x, y) of another matrix.
__global__ void copy(const __grid_constant__ CUtensorMap from,
                     const __grid_constant__ CUtensorMap to, int x, int y, int words, int* raw) {
    namespace ptx = cuda::ptx;
    __shared__ alignas(1024) int box[box_rows * 32];
    __shared__ std::uint64_t full;
    const int at[2] = {x, y};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       words * sizeof(int));
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &from, at, &full);
    }
    __syncthreads();
#ifndef NO_WAIT
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
#endif
    for (int k = threadIdx.x; k < words; k += blockDim.x) raw[k] = box[k];
#ifndef X
    if (x < 0 || y < 0) return;  // only loads may begin before the matrix
#endif
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, box);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                            const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
Encode encode;

CUresult make_map(CUtensorMap* map, int* memory, int columns, CUtensorMapSwizzle swizzle) {
    const cuuint64_t size[] = {width, height}, stride[] = {pitch * sizeof(int)};
    const cuuint32_t box[] = {cuuint32_t(columns), box_rows}, steps[] = {1, 1};
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, size, stride, box, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main() {
    cudaDriverEntryPointQueryResult found;
    HANDLE_ERROR(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                                  cudaEnableDefault, &found));
    int *matrix, *other, *raw;
    HANDLE_ERROR(cudaMallocManaged(&matrix, pitch * height * sizeof(int)));
    HANDLE_ERROR(cudaMallocManaged(&other, pitch * height * sizeof(int)));
    HANDLE_ERROR(cudaMallocManaged(&raw, box_rows * 32 * sizeof(int)));
    for (int k = 0; k < pitch * height; ++k) matrix[k] = k + 1;
#ifdef X
    const int corners[][2] = {{X, 0}};
#else
    const int corners[][2] = {{0, 0}, {4, 12}, {0, 15}, {40, 3}, {8, 2}, {32, 1}, {-8, 0}, {4, -3}};
#endif
    int wrong = 0, wrong_back = 0;
    for (int swizzle = 0; swizzle < 4; ++swizzle)
        for (const auto& [x, y] : corners) {
            const int columns = swizzle ? 4 << swizzle : 32, words = columns * box_rows;
            CUtensorMap from, to;
            make_map(&from, matrix, columns, CUtensorMapSwizzle(swizzle));
            make_map(&to, other, columns, CUtensorMapSwizzle(swizzle));
            for (int k = 0; k < pitch * height; ++k) other[k] = -1;
            copy<<<1, 64>>>(from, to, x, y, words, raw);
            HANDLE_ERROR(cudaDeviceSynchronize());
            for (int k = 0; k < words; ++k) {
                const int column = x + k % columns, row = y + k / columns;
                const bool inside = column >= 0 && column < width && row >= 0 && row < height;
                const int line = k * 4 / 128, chunk = k * 4 / 16 % 8;
                const int place = line * 32 + (chunk ^ (line & ((1 << swizzle) - 1))) * 4 + k % 4;
                wrong += raw[place] != (inside ? matrix[row * pitch + column] : 0);
            }
            for (int row = 0; row < height; ++row)
                for (int column = 0; column < pitch; ++column) {
                    const bool copied = x >= 0 && y >= 0 && column >= x && column < x + columns &&
                                        column < 40 && row >= y && row < y + box_rows;
                    const int k = row * pitch + column, element = column < width ? matrix[k] : 0;
                    wrong_back += other[k] != (copied ? element : -1);
                }
        }
    CUtensorMap map;
    std::printf("%d wrong, %d wrong in the other matrix; odd address %d, long row %d\n", wrong,
                wrong_back, make_map(&map, matrix + 1, 32, CU_TENSOR_MAP_SWIZZLE_NONE),
                make_map(&map, matrix, 32, CU_TENSOR_MAP_SWIZZLE_64B));
}
