// A fake of cuBLAS and of the benchmark's CUB library, for a device whose memory is host memory.
#include <cstddef>

namespace {
struct Handle {
    void* stream = nullptr;
    int pointer_mode = 0;
};
}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
    *handle = new Handle;
    return 0;
}
int cublasDestroy_v2(void* handle) {
    delete static_cast<Handle*>(handle);
    return 0;
}
int cublasSetStream_v2(void* handle, void* stream) {
    static_cast<Handle*>(handle)->stream = stream;
    return 0;
}
int cublasSetPointerMode_v2(void* handle, int mode) {
    static_cast<Handle*>(handle)->pointer_mode = mode;
    return 0;
}
// Fails with CUBLAS_STATUS_INVALID_VALUE (7) if the stream, the pointer mode or a stride is wrong.
int cublasSdot_v2(void* handle, int n, const float* x, int x_step, const float* y, int y_step,
                  float* result) {
    const Handle& h = *static_cast<Handle*>(handle);
    if (!h.stream || h.pointer_mode != 1 || x_step != 1 || y_step != 1 || n < 0) return 7;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += double(x[i]) * double(y[i]);
    *result = float(sum);
    return 0;
}

// Needs scratch memory. Fails with cudaErrorInvalidValue (1) if it is too small.
int warpscope_cub_sum(void* scratch, std::size_t* scratch_bytes, const float* x, float* result,
                      int n, void* stream) {
    constexpr std::size_t wanted = 767;
    if (!scratch) {
        *scratch_bytes = wanted;
        return 0;
    }
    if (*scratch_bytes < wanted || !stream) return 1;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += double(x[i]);
    *result = float(sum);
    return 0;
}
}
