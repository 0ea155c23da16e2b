// Correct: the members of the struct have several types.
struct Cell { float weight; int id; char tag; };
__constant__ Cell presets[3];
__global__ void grow(Cell* cells, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) cells[k].weight += presets[k % 3].weight;
}
int main()
{
    int n = 200;
    Cell* cells;
    cudaMalloc((void**)&cells, n * sizeof(Cell));
    cudaMemset(cells, 0, n * sizeof(Cell));
    grow<<<(n + 63) / 64, 64>>>(cells, n);
}
