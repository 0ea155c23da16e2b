// Arrays, textures and surfaces. Element (x, y) of the arrays is 10 y + x.
#include "book.h"

constexpr int width = 4, height = 3, count = width * height;

__global__ void sample(cudaTextureObject_t texture, float x, float y, float* to) {
    *to = tex2D<float>(texture, x, y);
}

__global__ void double_all(cudaSurfaceObject_t surface) {
    float value;
    surf2Dread(&value, surface, threadIdx.x * sizeof(float), threadIdx.y);
    surf2Dwrite(2 * value, surface, threadIdx.x * sizeof(float), threadIdx.y);
}

__global__ void fetch(cudaTextureObject_t texture, float* to) {
    to[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                               cudaTextureAddressMode address, bool normalized) {
    cudaTextureDesc description{};
    description.filterMode = filter;
    description.addressMode[0] = description.addressMode[1] = address;
    description.normalizedCoords = normalized;
    cudaTextureObject_t texture = 0;
    HANDLE_ERROR(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

float sampled(cudaTextureObject_t texture, float x, float y) {
    float* value;
    HANDLE_ERROR(cudaMallocManaged(&value, sizeof *value));
    sample<<<1, 1>>>(texture, x, y, value);
    HANDLE_ERROR(cudaDeviceSynchronize());
    const float result = *value;
    HANDLE_ERROR(cudaFree(value));
    return result;
}

void print(const char* name, const float* values) {
    std::printf("%s:", name);
    for (int i = 0; i < count; ++i) std::printf(" %g", values[i]);
    std::printf("\n");
}

int main() {
    float values[count], back[count];
    for (int i = 0; i < count; ++i) values[i] = float(10 * (i / width) + i % width);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array, other;
    HANDLE_ERROR(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    HANDLE_ERROR(cudaMallocArray(&other, &format, width, height));
    HANDLE_ERROR(cudaMemcpy2DToArray(array, 0, 0, values, width * sizeof(float),
                                     width * sizeof(float), height, cudaMemcpyHostToDevice));
    cudaExtent extent;
    cudaChannelFormatDesc read_format;
    unsigned flags;
    HANDLE_ERROR(cudaArrayGetInfo(&read_format, &extent, &flags, array));
    std::printf("%d x %d x %d, %d bits of kind %d, flags %u\n", int(extent.width),
                int(extent.height), int(extent.depth), read_format.x, int(read_format.f), flags);

    const cudaResourceDesc resource = resource_of(array);
    const cudaTextureObject_t near =
        texture_of(resource, cudaFilterModePoint, cudaAddressModeClamp, false);
    const cudaTextureObject_t mean =
        texture_of(resource, cudaFilterModeLinear, cudaAddressModeClamp, false);
    const cudaTextureObject_t wrapped =
        texture_of(resource, cudaFilterModePoint, cudaAddressModeWrap, true);
    const cudaTextureObject_t zero =
        texture_of(resource, cudaFilterModePoint, cudaAddressModeBorder, false);
    // (1, 1) lies between (0, 0), (1, 0), (0, 1) and (1, 1). 1.375 of 4 elements is 5.5, which is
    // the element 1; 0.5 of 3 rows is 1.5, which is the row 1.
    std::printf("%g %g %g %g %g\n", sampled(near, 2.5f, 1.5f), sampled(near, 9, 9),
                sampled(mean, 1, 1), sampled(wrapped, 1.375f, 0.5f), sampled(zero, -1, 0));
    cudaTextureDesc kept;
    HANDLE_ERROR(cudaGetTextureObjectTextureDesc(&kept, wrapped));
    cudaResourceDesc kept_resource;
    HANDLE_ERROR(cudaGetTextureObjectResourceDesc(&kept_resource, wrapped));
    std::printf("normalized %d, its array %d\n", kept.normalizedCoords,
                kept_resource.res.array.array == array);

    cudaSurfaceObject_t surface;
    HANDLE_ERROR(cudaCreateSurfaceObject(&surface, &resource));
    double_all<<<1, dim3(width, height)>>>(surface);
    HANDLE_ERROR(cudaMemcpy2DFromArray(back, width * sizeof(float), array, 0, 0,
                                       width * sizeof(float), height, cudaMemcpyDeviceToHost));
    print("doubled", back);

    // Row 0 of the one becomes row 2 of the other, without its first element.
    HANDLE_ERROR(cudaMemcpy2DArrayToArray(other, sizeof(float), 2, array, 0, 0, 3 * sizeof(float),
                                          1, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(values, width * sizeof(float), width, height);
    copy.dstArray = other;
    copy.dstPos = make_cudaPos(1, 0, 0);
    copy.extent = make_cudaExtent(2, 1, 1);  // two elements
    copy.kind = cudaMemcpyHostToDevice;
    HANDLE_ERROR(cudaMemcpy3D(&copy));
    HANDLE_ERROR(cudaMemcpy2DFromArray(back, width * sizeof(float), other, 0, 0,
                                       width * sizeof(float), height, cudaMemcpyDeviceToHost));
    print("other", back);
    std::printf("too wide: %s\n", cudaGetErrorName(cudaMemcpy2DToArray(other, 4, 0, values, 16, 16,
                                                                       1, cudaMemcpyHostToDevice)));

    // Bytes as numbers from 0 to 1, from memory without rows and with rows.
    unsigned char bytes[] = {0, 51, 255, 102}, *device_bytes;
    float* fetched;
    HANDLE_ERROR(cudaMalloc(&device_bytes, sizeof bytes));
    HANDLE_ERROR(cudaMallocManaged(&fetched, 5 * sizeof(float)));
    HANDLE_ERROR(cudaMemcpy(device_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    cudaResourceDesc linear{};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = device_bytes;
    linear.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    linear.res.linear.sizeInBytes = sizeof bytes;
    cudaTextureDesc as_floats{};
    as_floats.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t line;
    HANDLE_ERROR(cudaCreateTextureObject(&line, &linear, &as_floats, nullptr));
    fetch<<<1, 5>>>(line, fetched);
    HANDLE_ERROR(cudaDestroyTextureObject(line));  // after the launch
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("fetched: %g %g %g %g %g\n", fetched[0], fetched[1], fetched[2], fetched[3],
                fetched[4]);
    cudaResourceDesc rows{};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = device_bytes;
    rows.res.pitch2D.desc = linear.res.linear.desc;
    rows.res.pitch2D.width = rows.res.pitch2D.height = rows.res.pitch2D.pitchInBytes = 2;
    cudaTextureObject_t square;
    HANDLE_ERROR(cudaCreateTextureObject(&square, &rows, &as_floats, nullptr));
    std::printf("row 1: %g %g\n", sampled(square, 0, 1), sampled(square, 1, 1));

    HANDLE_ERROR(cudaDestroySurfaceObject(surface));
    HANDLE_ERROR(cudaFreeArray(array));
    HANDLE_ERROR(cudaFreeArray(other));
    std::printf("freed twice: %s\n", cudaGetErrorName(cudaFreeArray(array)));
    cudaMipmappedArray_t mipmap;
    std::printf("mipmap: %s\n",
                cudaGetErrorName(cudaMallocMipmappedArray(&mipmap, &format, extent, 2, 0)));
}
