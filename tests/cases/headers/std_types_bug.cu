// nvcc: --expt-relaxed-constexpr
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

template <class T, class Enabled = std::enable_if_t<std::is_floating_point_v<T>>>
__global__ void number(T* out, std::size_t n) {
    const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const std::pair<int, float> two{1, 2.0f};
    const std::tuple<int, T> four{3, T(4)};
    using Element = std::remove_reference_t<std::conditional_t<sizeof(T) == 4, T&, int>>;
    if (std::is_same_v<std::decay_t<Element>, float> && i <= n)
        out[std::ptrdiff_t(i)] = two.second + std::get<1>(four) + std::int64_t(i);
}

int main() {
    const std::size_t n = 500;
    float* out;
    cudaMalloc(&out, n * sizeof(float));
    number<float><<<2, 256>>>(out, n);
    cudaDeviceSynchronize();
}
