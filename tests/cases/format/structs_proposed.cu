struct Cell { short a, b; char c; };
__global__ void structs_proposed(Cell* p) { p[threadIdx.x].a = 1; }
