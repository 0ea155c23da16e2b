// Bodies that attract each other, in tiles of shared memory, timed by events. NO_LOAD and NO_REUSE
// leave out the barrier after a tile is loaded, and the one before the next is.
#include <cmath>

#include "book.h"

constexpr int n = 512, tile = 128;
constexpr float softening = 0.1f, dt = 0.01f;

__global__ void step(float4* new_position, float4* velocity, const float4* position) {
    __shared__ float4 others[tile];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = position[i];
    float3 f = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += tile) {
        others[threadIdx.x] = position[first + threadIdx.x];
#ifndef NO_LOAD
        __syncthreads();
#endif
        for (int j = 0; j < tile; ++j) {
            const float x = others[j].x - p.x, y = others[j].y - p.y, z = others[j].z - p.z;
            const float inverse = rsqrtf(x * x + y * y + z * z + softening * softening);
            const float s = inverse * inverse * inverse;
            f.x += x * s, f.y += y * s, f.z += z * s;
        }
#ifndef NO_REUSE
        __syncthreads();
#endif
    }
    float4 v = velocity[i];
    v.x += f.x * dt, v.y += f.y * dt, v.z += f.z * dt;
    p.x += v.x * dt, p.y += v.y * dt, p.z += v.z * dt;
    velocity[i] = v;
    new_position[i] = p;
}

int main() {
    std::vector<float4> bodies(n);
    for (int i = 0; i < n; ++i)
        bodies[i] = make_float4(std::sin(1.0f * i), std::cos(2.0f * i), std::sin(3.0f * i), 1);
    float4 *positions[2], *velocities;
    for (float4*& memory : positions) HANDLE_ERROR(cudaMalloc(&memory, n * sizeof(float4)));
    HANDLE_ERROR(cudaMalloc(&velocities, n * sizeof(float4)));
    HANDLE_ERROR(cudaMemset(velocities, 0, n * sizeof(float4)));
    HANDLE_ERROR(
        cudaMemcpy(positions[0], bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    cudaEvent_t start, stop;
    HANDLE_ERROR(cudaEventCreate(&start));
    HANDLE_ERROR(cudaEventCreate(&stop));
    HANDLE_ERROR(cudaEventRecord(start));
    for (int i = 0; i < 4; ++i)
        step<<<n / tile, tile>>>(positions[1 - i % 2], velocities, positions[i % 2]);
    HANDLE_ERROR(cudaEventRecord(stop));
    HANDLE_ERROR(cudaEventSynchronize(stop));
    float milliseconds = -1;
    HANDLE_ERROR(cudaEventElapsedTime(&milliseconds, start, stop));
    std::vector<float4> speeds(n);
    HANDLE_ERROR(
        cudaMemcpy(speeds.data(), velocities, n * sizeof(float4), cudaMemcpyDeviceToHost));
    double momentum = 0;  // the forces of each pair are opposite
    for (const float4& v : speeds) momentum += v.x + v.y + v.z;
    std::printf("%s, %s\n", std::abs(momentum) < 1e-2 ? "momentum kept" : "momentum lost",
                milliseconds > 0 ? "timed" : "not timed");
}
