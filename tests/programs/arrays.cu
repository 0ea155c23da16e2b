// Arrays, textures and surfaces. Element (x, y) of the arrays is 10 y + x.
#include <cuda.h>
#include <dlfcn.h>

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

__global__ void sample_slices(cudaTextureObject_t volume, cudaTextureObject_t layers,
                              cudaTextureObject_t cube, float* to) {
    to[0] = tex3D<float>(volume, 1, 1, 1);
    to[1] = tex2DLayered<float>(layers, 1.5f, 0.5f, 4);
    to[2] = texCubemap<float>(cube, -2, 0.5f, 0.5f);
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

// Six slices of 2 x 2 elements: element (x, y, z) is 100 z + 10 y + x.
void slices() {
    float values[24], *results;
    for (int i = 0; i < 24; ++i) values[i] = float(100 * (i / 4) + 10 * (i / 2 % 2) + i % 2);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaTextureObject_t textures[3];
    const unsigned flags[] = {0, cudaArrayLayered, cudaArrayCubemap};
    for (int i = 0; i < 3; ++i) {
        cudaArray_t array;
        HANDLE_ERROR(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, 6), flags[i]));
        cudaMemcpy3DParms copy{};
        copy.srcPtr = make_cudaPitchedPtr(values, 2 * sizeof(float), 2, 2);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(2, 2, 6);
        copy.kind = cudaMemcpyHostToDevice;
        HANDLE_ERROR(cudaMemcpy3D(&copy));
        textures[i] = texture_of(resource_of(array), i ? cudaFilterModePoint : cudaFilterModeLinear,
                                 cudaAddressModeClamp, i == 2);
    }
    HANDLE_ERROR(cudaMallocManaged(&results, 3 * sizeof(float)));
    sample_slices<<<1, 1>>>(textures[0], textures[1], textures[2], results);
    HANDLE_ERROR(cudaDeviceSynchronize());
    // The mean of 0 and 1, of 0 and 10 and of 0 and 100; element (1, 0, 4); and on face 1, at
    // s = 0.5 / 2 and t = -0.5 / 2 of -1 to 1, element (1, 0).
    std::printf("slices: %g %g %g\n", results[0], results[1], results[2]);
}

// The driver API copies the right column of an array of 2 x 2 elements.
void by_driver() {
    float values[] = {1, 2, 3, 4}, back[2] = {};
    CUDA_ARRAY_DESCRIPTOR shape{2, 2, CU_AD_FORMAT_FLOAT, 1};
    CUarray array;
    const int created = DRIVER(cuArrayCreate)(&array, &shape);
    CUDA_MEMCPY2D into{}, out{};
    into.srcMemoryType = CU_MEMORYTYPE_HOST;
    into.srcHost = values;
    into.srcPitch = 2 * sizeof(float);
    into.dstMemoryType = out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    into.dstArray = out.srcArray = array;
    into.WidthInBytes = 2 * sizeof(float);
    into.Height = out.Height = 2;
    const int copied = DRIVER(cuMemcpy2D)(&into);
    out.srcXInBytes = out.dstPitch = out.WidthInBytes = sizeof(float);
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back;
    const int copied_back = DRIVER(cuMemcpy2D)(&out);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC description{};
    description.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CUtexObject texture;
    const int made = DRIVER(cuTexObjectCreate)(&texture, &resource, &description, nullptr);
    std::printf("driver: %d %d %d %d, %g %g, mean %g\n", created, copied, copied_back, made,
                back[0], back[1], sampled(texture, 1, 1));
}

int main() {
    slices();
    by_driver();
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
    constexpr int pitch = 32;
    unsigned char bytes[pitch + 2] = {0, 51, 255, 102}, *device_bytes;
    bytes[pitch] = 255;
    bytes[pitch + 1] = 102;
    float* fetched;
    HANDLE_ERROR(cudaMalloc(&device_bytes, sizeof bytes));
    HANDLE_ERROR(cudaMallocManaged(&fetched, 5 * sizeof(float)));
    HANDLE_ERROR(cudaMemcpy(device_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    cudaResourceDesc linear{};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = device_bytes;
    linear.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    linear.res.linear.sizeInBytes = 4;
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
    std::printf("pitch of 2: %s\n",
                cudaGetErrorName(cudaCreateTextureObject(&square, &rows, &as_floats, nullptr)));
    rows.res.pitch2D.pitchInBytes = pitch;
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
