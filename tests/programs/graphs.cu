// Graphs that are built by hand.
#include <cuda.h>
#include <dlfcn.h>

#include "book.h"

__global__ void add(int* data, int value) {
    data[threadIdx.x] += value;
}
__global__ void multiply(int* data, int factor) {
    data[threadIdx.x] *= factor;
}
__global__ void count_down(int* data, cudaGraphConditionalHandle handle) {
    cudaGraphSetConditional(handle, --data[0] > 0);
}

constexpr int n = 4;

void note(void* data) {
    std::printf("host sees %d\n", *static_cast<int*>(data));
}

cudaKernelNodeParams kernel_node(void* kernel, void** arguments) {
    cudaKernelNodeParams p{};
    p.func = kernel;
    p.gridDim = dim3(1);
    p.blockDim = dim3(n);
    p.kernelParams = arguments;
    return p;
}

void print(const char* name, const int* values) {
    std::printf("%s: %d %d %d %d\n", name, values[0], values[1], values[2], values[3]);
}

int main() {
    int *data, host[n] = {}, five = 5, three = 3, two = 2;
    HANDLE_ERROR(cudaMalloc(&data, n * sizeof(int)));
    cudaGraph_t graph, clone;
    cudaGraphExec_t executable;
    cudaGraphNode_t filled, added, multiplied, copied, called, empty;
    HANDLE_ERROR(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill{};
    fill.dst = data;
    fill.value = 1;
    fill.elementSize = sizeof(int);
    fill.width = n;
    fill.height = 1;
    HANDLE_ERROR(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
    void *add_five[] = {&data, &five}, *times_three[] = {&data, &three};
    cudaKernelNodeParams add_node = kernel_node((void*)add, add_five),
                         multiply_node = kernel_node((void*)multiply, times_three);
    // The dependencies say the order, not the order of creation: (1 + 5) * 3.
    HANDLE_ERROR(cudaGraphAddKernelNode(&multiplied, graph, nullptr, 0, &multiply_node));
    HANDLE_ERROR(cudaGraphAddKernelNode(&added, graph, &filled, 1, &add_node));
    HANDLE_ERROR(cudaGraphAddDependencies(graph, &added, &multiplied, nullptr, 1));
    HANDLE_ERROR(cudaGraphAddMemcpyNode1D(&copied, graph, &multiplied, 1, host, data, sizeof host,
                                          cudaMemcpyDeviceToHost));
    cudaHostNodeParams call{note, host};
    HANDLE_ERROR(cudaGraphAddHostNode(&called, graph, &copied, 1, &call));
    HANDLE_ERROR(cudaGraphAddEmptyNode(&empty, graph, &called, 1));
    std::size_t nodes = 0, roots = 0, edges = 0;
    HANDLE_ERROR(cudaGraphGetNodes(graph, nullptr, &nodes));
    HANDLE_ERROR(cudaGraphGetRootNodes(graph, nullptr, &roots));
    HANDLE_ERROR(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    cudaGraphNodeType type;
    HANDLE_ERROR(cudaGraphNodeGetType(filled, &type));
    std::printf("%d nodes, %d roots, %d edges, type %d\n", int(nodes), int(roots), int(edges),
                int(type));
    cudaKernelNodeParams described{};
    cudaMemsetParams filled_by{};
    five = 6;  // the node has its own copy
    HANDLE_ERROR(cudaGraphKernelNodeGetParams(added, &described));
    HANDLE_ERROR(cudaGraphMemsetNodeGetParams(filled, &filled_by));
    std::printf("described: %u threads add %d to %u\n", described.blockDim.x,
                *static_cast<int*>(described.kernelParams[1]), filled_by.value);

    HANDLE_ERROR(cudaGraphInstantiate(&executable, graph, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaDeviceSynchronize());
    print("first", host);

    // The executable graph changes, the graph does not: (1 + 2) * 3.
    void* add_two[] = {&data, &two};
    cudaKernelNodeParams changed = kernel_node((void*)add, add_two);
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));  // before the change
    HANDLE_ERROR(cudaGraphExecKernelNodeSetParams(executable, added, &changed));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaDeviceSynchronize());
    print("changed", host);
    HANDLE_ERROR(cudaGraphNodeSetEnabled(executable, multiplied, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaDeviceSynchronize());
    print("without a node", host);
    HANDLE_ERROR(cudaGraphExecUpdate(executable, graph, nullptr));
    HANDLE_ERROR(cudaGraphNodeSetEnabled(executable, multiplied, 1));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaDeviceSynchronize());
    print("updated", host);

    // A graph that has the clone twice, in a circle at first.
    cudaGraph_t outer;
    cudaGraphNode_t first, second;
    HANDLE_ERROR(cudaGraphClone(&clone, graph));
    HANDLE_ERROR(cudaGraphCreate(&outer, 0));
    HANDLE_ERROR(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, clone));
    HANDLE_ERROR(cudaGraphAddChildGraphNode(&second, outer, &first, 1, clone));
    HANDLE_ERROR(cudaGraphAddDependencies(outer, &second, &first, nullptr, 1));
    cudaGraphExec_t circle;
    std::printf("circle: %s\n", cudaGetErrorName(cudaGraphInstantiate(&circle, outer, 0)));
    HANDLE_ERROR(cudaGraphRemoveDependencies(outer, &second, &first, nullptr, 1));
    HANDLE_ERROR(cudaGraphInstantiate(&executable, outer, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaDeviceSynchronize());
    HANDLE_ERROR(cudaGraphDestroy(graph));
    std::printf("destroyed: %s\n", cudaGetErrorName(cudaGraphDestroy(graph)));

    // Memory of a graph: each launch allocates it again at its address.
    cudaGraph_t memory;
    cudaGraphNode_t allocated, freed, fill_it, copy_it;
    HANDLE_ERROR(cudaGraphCreate(&memory, 0));
    cudaMemAllocNodeParams allocation{};
    allocation.poolProps.allocType = cudaMemAllocationTypePinned;
    allocation.poolProps.location.type = cudaMemLocationTypeDevice;
    allocation.bytesize = n * sizeof(int);
    HANDLE_ERROR(cudaGraphAddMemAllocNode(&allocated, memory, nullptr, 0, &allocation));
    fill.dst = allocation.dptr;
    fill.value = 7;
    HANDLE_ERROR(cudaGraphAddMemsetNode(&fill_it, memory, &allocated, 1, &fill));
    HANDLE_ERROR(cudaGraphAddMemcpyNode1D(&copy_it, memory, &fill_it, 1, host, allocation.dptr,
                                          sizeof host, cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaGraphAddMemFreeNode(&freed, memory, &copy_it, 1, allocation.dptr));
    HANDLE_ERROR(cudaGraphInstantiate(&executable, memory, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaDeviceSynchronize());
    print("graph's memory", host);

    // while (--data[0] > 0) multiply(data, 3), from 3 on in a word that is not counted down.
    cudaGraph_t loop;
    cudaGraphNode_t condition, down, times;
    cudaGraphConditionalHandle handle;
    const int start[n] = {3, 1, 1, 1};
    int* counter = data;
    HANDLE_ERROR(cudaMemcpy(data, start, sizeof start, cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaGraphCreate(&loop, 0));
    HANDLE_ERROR(cudaGraphConditionalHandleCreate(&handle, loop, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 1;
    HANDLE_ERROR(cudaGraphAddNode(&condition, loop, nullptr, nullptr, 0, &p));
    const cudaGraph_t body = p.conditional.phGraph_out[0];
    int* rest = data + 1;
    void *count_arguments[] = {&counter, &handle}, *times_arguments[] = {&rest, &three};
    cudaKernelNodeParams count_node = kernel_node((void*)count_down, count_arguments),
                         times_node = kernel_node((void*)multiply, times_arguments);
    count_node.blockDim = dim3(1);
    times_node.blockDim = dim3(3);
    HANDLE_ERROR(cudaGraphAddKernelNode(&times, body, nullptr, 0, &times_node));
    HANDLE_ERROR(cudaGraphAddKernelNode(&down, body, &times, 1, &count_node));
    HANDLE_ERROR(cudaGraphInstantiate(&executable, loop, 0));
    HANDLE_ERROR(cudaGraphLaunch(executable, 0));
    HANDLE_ERROR(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    print("loop", host);

    // By the driver: a fill, then a copy of the last three words.
    CUgraph by_driver;
    CUgraphNode set, get;
    CUgraphExec ready;
    CUDA_MEMSET_NODE_PARAMS words{};
    words.dst = reinterpret_cast<CUdeviceptr>(data);
    words.value = 4;
    words.elementSize = sizeof(int);
    words.width = n;
    words.height = 1;
    CUDA_MEMCPY3D words_back{};
    words_back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    words_back.srcDevice = words.dst;
    words_back.srcXInBytes = sizeof(int);
    words_back.dstMemoryType = CU_MEMORYTYPE_HOST;
    words_back.dstHost = host;
    words_back.WidthInBytes = 3 * sizeof(int);
    words_back.Height = words_back.Depth = 1;
    DRIVER(cuGraphCreate)(&by_driver, 0);
    DRIVER(cuGraphAddMemsetNode)(&set, by_driver, nullptr, 0, &words, nullptr);
    DRIVER(cuGraphAddMemcpyNode)(&get, by_driver, &set, 1, &words_back, nullptr);
    CUgraphNode last;
    CUgraphNodeParams copy_first{};
    copy_first.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    copy_first.memcpy.copyParams = words_back;
    copy_first.memcpy.copyParams.srcXInBytes = 0;
    copy_first.memcpy.copyParams.dstHost = host + 3;
    copy_first.memcpy.copyParams.WidthInBytes = sizeof(int);
    DRIVER(cuGraphAddNode)(&last, by_driver, &get, nullptr, 1, &copy_first);
    DRIVER(cuGraphInstantiateWithFlags)(&ready, by_driver, 0);
    DRIVER(cuGraphLaunch)(ready, nullptr);
    HANDLE_ERROR(cudaDeviceSynchronize());
    print("driver", host);

    // Both arguments of a kernel in one buffer, by functions of CUDA 11, which programs find by
    // their names alone.
    struct {
        int *data, value;
    } packed{data, 5};
    std::size_t bytes = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUfunction function;
    HANDLE_ERROR(cudaGetFuncBySymbol(&function, (void*)add));
    CUDA_KERNEL_NODE_PARAMS_v1 add_packed{function, 1, 1, 1, n, 1, 1, 0, nullptr, extra};
    CUgraphNode node;
    const auto add_node_of_11 =
        (decltype(&cuGraphAddKernelNode_v2))dlsym(RTLD_DEFAULT, "cuGraphAddKernelNode");
    const auto instantiate_of_11 =
        (CUresult(*)(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t))dlsym(
            RTLD_DEFAULT, "cuGraphInstantiate_v2");
    DRIVER(cuGraphCreate)(&by_driver, 0);
    add_node_of_11(&node, by_driver, nullptr, 0,
                   reinterpret_cast<CUDA_KERNEL_NODE_PARAMS*>(&add_packed));
    packed.value = 6;  // the node has its own copy
    instantiate_of_11(&ready, by_driver, nullptr, nullptr, 0);
    DRIVER(cuGraphLaunch)(ready, nullptr);
    HANDLE_ERROR(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    print("packed", host);
}
