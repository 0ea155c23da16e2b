// Correct: using namespace std.
#include <cmath>
#include <iostream>
using namespace std;
__global__ void f(double* p, int n)
{
    int k = threadIdx.x;
    if (k < n) p[k] = sqrt(abs(p[k])) + max(1.0, pow(2.0, 3)) + std::hypot(3.0, 4.0);
}
int main() { double* p; cudaMalloc(&p, 32 * sizeof(double)); cudaMemset(p, 0, 32 * sizeof(double)); f<<<1, 32>>>(p, 32); cout << "done"; }
