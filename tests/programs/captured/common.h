__device__ inline float twice(float value) {
    return 2 * value;
}
