// Correct: complex numbers and pairs of Thrust in device code, vectors in host code.
#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/pair.h>
__global__ void turn(thrust::complex<float>* z, float* r)
{
    thrust::pair<int, float> p(1, 2.0f);
    z[threadIdx.x] = thrust::exp(z[threadIdx.x]) * p.second;
    r[threadIdx.x] = thrust::abs(z[threadIdx.x]);
}
int main()
{
    thrust::complex<float>* z;
    cudaMalloc(&z, 32 * sizeof(thrust::complex<float>));
    cudaMemset(z, 0, 32 * sizeof(thrust::complex<float>));
    thrust::device_vector<float> r(32);
    turn<<<1, 32>>>(z, thrust::raw_pointer_cast(r.data()));
}
