struct Node {
    int value;
    Node* next;
};
// The sum of a list, by each thread from its own node on.
__global__ void list_sums(const Node* nodes, int* out) {
    int sum = 0;
    for (const Node* node = nodes + threadIdx.x; node; node = node->next) sum += node->value;
    out[threadIdx.x] = sum;
}
__global__ void add_rows(float** rows, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = rows[0][i] + rows[1][i];
}
