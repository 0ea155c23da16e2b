#include "compute/cuda/cluster_launch.h"

namespace warpscope::compute {

CudaStatus launch_clusters(CudaFunction function, const LaunchShape& shape, CudaStream stream,
                           void** arguments) {
    const CudaDriver& driver = *cuda_driver();
    if (!driver.launch_with)
        throw DeviceError("clusters of blocks need an NVIDIA driver of CUDA 11.8 or newer");
    const Dim3 &grid = shape.grid, &block = shape.block, &cluster = shape.cluster;
    const CudaLaunchAttribute attributes[] = {
        {CudaLaunchAttribute::cluster_dimension, 0, {cluster.x, cluster.y, cluster.z}},
        {CudaLaunchAttribute::cooperative, 0, {1}}};
    const CudaLaunch launch{{grid.x, grid.y, grid.z},
                            {block.x, block.y, block.z},
                            shape.dynamic_shared_bytes,
                            stream,
                            attributes,
                            shape.cooperative ? 2u : 1u};
    return driver.launch_with(&launch, function, arguments, nullptr);
}

}  // namespace warpscope::compute
