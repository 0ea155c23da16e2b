// The address of a function from a variable of the device is a member of a struct.
using Op = int (*)(int);
static __device__ int far(int i) { return i + 40; }
static __device__ Op device_far = &far;
struct Step {
    int first;
    Op op;
};

__global__ void walk(int* p, Step step) { p[step.op(threadIdx.x + step.first)] = 1; }

int main() {
    Step step;
    step.first = 0;
    cudaMemcpyFromSymbol(&step.op, device_far, sizeof(void*));
    int* p;
    cudaMalloc(&p, 64 * sizeof(int));
    walk<<<1, 32>>>(p, step);
    cudaDeviceSynchronize();
}
