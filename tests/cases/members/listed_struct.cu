// A structure gets its members from a list, with the limits of numbers, and a kernel by a copy.
#include <cfloat>
#include <climits>
#include <limits>

struct Best {
    float value;
    int at;
};

__global__ void choose(const float* in, int n, Best first, Best* best) {
    Best found = first;
    for (int i = 0; i < n; ++i)
        if (in[i] < found.value) found = {in[i], i};
    if (found.value < best->value && best->at == INT_MAX) *best = found;
}

__global__ void mark(const Best* best, int* out) { out[best->at] = 1; }

int main() {
    float in[5] = {4, 3, 1, 2, 5}, *d_in;
    Best none = {FLT_MAX, -1}, start{std::numeric_limits<float>::max(), INT_MAX}, *best;
    int* out;
    cudaMalloc(&d_in, sizeof(in));
    cudaMalloc(&best, sizeof(Best));
    cudaMalloc(&out, 3 * sizeof(int));
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
    cudaMemcpy(best, &start, sizeof(Best), cudaMemcpyHostToDevice);
    choose<<<1, 1>>>(d_in, 5, none, best);
    mark<<<1, 1>>>(best, out);
}
