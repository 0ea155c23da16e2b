// FAULT: the root of a negative number.
__global__ void roots(float* p) { p[threadIdx.x] = sqrtf(30.0f - threadIdx.x); }
int main()
{
    float* p;
    cudaMalloc(&p, 32 * sizeof(float));
    roots<<<1, 32>>>(p);
}
