struct Cell { short a, b; char c; };
__global__ void buffer_of_structs(Cell* p) { p[threadIdx.x].a = 1; }
