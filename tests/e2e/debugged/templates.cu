// Classes, templates and lambdas.
#include <cstdio>

namespace math {
template <class T, int N>
class Polynomial {
  public:
    __device__ Polynomial(T first) {
        for (int k = 0; k < N; ++k) factors[k] = first + k;
    }
    __device__ __noinline__ T operator()(T x) const {
        T result = 0;
        for (int k = N - 1; k >= 0; --k) result = result * x + factors[k];
        const T half = result / 2;
        if (threadIdx.x == 1)
            printf("values: x=%f result=%f half=%f this[0].factors[2]=%f\n", double(x), double(result), double(half),
                   double(factors[2]));
        return result;
    }

    T factors[N];
};
}  // namespace math

template <class T>
struct Shift {
    T by;
    __device__ T operator()(T value) const { return value + by; }
};

template <class T>
__device__ __forceinline__ T squared(T base) {
    const T square = base * base;
    return square;
}

template <class T, class... Rest>
__global__ void evaluate(T* out, Rest... rest) {
    const math::Polynomial<T, 3> polynomial(T(threadIdx.x));
    T x = T(threadIdx.x) / 4;
    const T y = polynomial(x);
    const Shift<T> shift{x};
    auto twice = [](T value) { return 2 * value; };
    T moved = shift(twice(y));
    auto square = squared(moved);
    const int parts[] = {int(rest)...};
    constexpr int count = sizeof...(rest);
    T& slot = out[threadIdx.x];
    slot = square;
    if (threadIdx.x == 1)
        printf("values: x=%f y=%f moved=%f square=%f parts[1]=%d slot=%f out[1]=%f count=%d rest=%d shift.by=%f polynomial.factors[2]=%f\n", double(x), double(y), double(moved),
               double(square), parts[count - 1], double(slot), double(out[1]), count, parts[0], double(shift.by), double(polynomial.factors[2]));
}

int main() {
    double* out;
    cudaMalloc(&out, 64);
    evaluate<double><<<1, 2>>>(out, 3, 4.5F);
    return cudaDeviceSynchronize();
}
