// A product of matrices by tiles, in the style of NVIDIA's sample matrixMul.
#include <cstdio>

template <int BLOCK_SIZE>
__global__ void multiply(float* C, const float* A, const float* B, int wA, int wB) {
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int aBegin = wA * BLOCK_SIZE * by, aEnd = aBegin + wA - 1, aStep = BLOCK_SIZE;
    const int bBegin = BLOCK_SIZE * bx, bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    double exact = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            const float product = As[ty][k] * Bs[k][tx];
            Csub += product;
            exact += double(As[ty][k]) * Bs[k][tx];
            if (a == aBegin && k == 2 && tx == 1 && ty == 3)
                printf("values: wA=%d wB=%d bx=%d by=%d tx=%d ty=%d aBegin=%d aEnd=%d aStep=%d bBegin=%d bStep=%d Csub=%f exact=%f a=%d b=%d k=%d product=%f As[1][2]=%f A[6]=%f B[6]=%f C[0]=%f\n",
                       wA, wB, bx, by, tx, ty, aBegin, aEnd, aStep, bBegin, bStep, Csub, exact, a, b, k, product, As[1][2], A[6], B[6], C[0]);
        }
        __syncthreads();
    }
    const int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

int main() {
    float host[64], *A, *B, *C;
    for (int k = 0; k < 64; ++k) host[k] = 0.5F * (k % 11);
    cudaMalloc(&A, sizeof host);
    cudaMalloc(&B, sizeof host);
    cudaMalloc(&C, sizeof host);
    cudaMemset(C, 0, sizeof host);
    cudaMemcpy(A, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(B, host, sizeof host, cudaMemcpyHostToDevice);
    multiply<4><<<dim3(2, 2), dim3(4, 4)>>>(C, A, B, 8, 8);
    return cudaDeviceSynchronize();
}
