// Finds the largest number and its place.
// One block after the other takes the lock.
__global__ void largest(const int* in, int* best, int* place, int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // takes it
    if (in[blockIdx.x] > *best) {
        *best = in[blockIdx.x];
        *place = blockIdx.x;
    }
    atomicExch(lock, 0);  // gives it back
}
