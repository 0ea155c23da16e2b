// "sizeof *p" is the size of an element, and that of a pointer is 8: the second array is too small.
__global__ void count(double* p, int n) {
    int i = threadIdx.x;
    if (i < n) p[i] = i;
}

int main() {
    int n = 100;
    double *p, *q;
    cudaMalloc(&p, n * sizeof *p);
    count<<<1, 128>>>(p, n);
    cudaMalloc(&q, sizeof(p));
    count<<<1, 128>>>(q, n);
}
