// The arguments of the launches count: each launch gets the next number.
__global__ void store(int* out, int at, int by) {
    if (threadIdx.x == 0) out[at] += by;
}

int main() {
    int *out, *p, level = 0, by = 1;
    cudaMalloc(&out, 6 * sizeof(int));
    cudaMemset(out, 0, 6 * sizeof(int));
    store<<<1, 32>>>(out, level++, by);
    store<<<1, 32>>>(out, level++, by += 2);
    store<<<1, 32>>>(out, ++level, by);
    p = out;
    store<<<1, 32>>>(p++, 4, --by);
    ++p;
    store<<<1, 32>>>(p, 3, by);
    level -= 3;
    store<<<1, 32>>>(p, level, 5);
}
