// Gravity by tiles, in the style of NVIDIA's sample nbody.
#include <cstdio>

template <class T> struct vec3 { typedef float3 Type; };
template <class T> struct vec4 { typedef float4 Type; };

__constant__ float softeningSquared = 0.01F;

template <class T>
__device__ typename vec3<T>::Type interaction(typename vec3<T>::Type ai, const typename vec4<T>::Type& bi,
                                              const typename vec4<T>::Type& bj) {
    typename vec3<T>::Type r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    T distSqr = r.x * r.x + r.y * r.y + r.z * r.z + softeningSquared;
    const T invDist = 1 / distSqr;
    T s = bj.w * invDist;
    if (threadIdx.x == 4 && bj.x == 3)
        printf("values: ai.x=%f bi.x=%f bj.w=%f r.x=%f r.z=%f distSqr=%f invDist=%f s=%f softeningSquared=%f\n",
               ai.x, bi.x, bj.w, r.x, r.z, distSqr, invDist, s, softeningSquared);
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

__global__ void integrate(float4* positions, float4* velocities, float deltaTime, int numTiles) {
    extern __shared__ float4 tilePositions[];
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    float4 position = positions[index];
    float3 acc = {0, 0, 0};
    for (int tile = 0; tile < numTiles; ++tile) {
        tilePositions[threadIdx.x] = positions[tile * blockDim.x + threadIdx.x];
        __syncthreads();
        for (unsigned counter = 0; counter < blockDim.x; ++counter)
            acc = interaction<float>(acc, position, tilePositions[counter]);
        __syncthreads();
    }
    float4 velocity = velocities[index];
    velocity.x += acc.x * deltaTime;
    position.x += velocity.x * deltaTime;
    if (index == 6)
        printf("values: deltaTime=%f numTiles=%d index=%d position.x=%f position.w=%f acc.x=%f acc.z=%f velocity.x=%f tilePositions[2].y=%f positions[3].x=%f velocities[0].x=%f\n",
               deltaTime, numTiles, index, position.x, position.w, acc.x, acc.z, velocity.x, tilePositions[2].y, positions[3].x, velocities[0].x);
    velocities[index] = velocity;
}

int main() {
    float4 host[8], *positions, *velocities;
    for (int k = 0; k < 8; ++k) host[k] = make_float4(k, 0.5F * k, 2, 1 + k);
    cudaMalloc(&positions, sizeof host);
    cudaMalloc(&velocities, sizeof host);
    cudaMemset(velocities, 0, sizeof host);
    cudaMemcpy(positions, host, sizeof host, cudaMemcpyHostToDevice);
    integrate<<<1, 8, sizeof host>>>(positions, velocities, 0.125F, 1);
    return cudaDeviceSynchronize();
}
