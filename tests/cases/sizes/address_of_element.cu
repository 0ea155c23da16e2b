// FAULT: nobody writes `p`. A launch gets the address of an element, another one a pointer made from it.
__global__ void before(const int* p, int* out) { out[threadIdx.x] = p[-1 - int(threadIdx.x)]; }
int main()
{
    const int half = 32;
    int *p, *out;
    cudaMalloc(&p, 2 * half * sizeof(int));
    cudaMalloc(&out, half * sizeof(int));
    before<<<1, half>>>(&p[half], out);
    int* end = p + 2 * half;
    before<<<1, half>>>(end - half / 2, out);
}
