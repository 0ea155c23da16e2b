#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace warpscope::programs {

/// One image of a kernel file that a program hands to the driver.
struct Image {
    unsigned architecture = 0;     ///< 75 for sm_75; 0 if it is not known
    std::string ptx;               ///< empty: the image is machine code only
    bool of_machine_code = false;  ///< the PTX stood beside machine code, without line information
    std::string problem;           ///< why an image with PTX could not be read; empty: none
};

/// Reads what cuModuleLoadData(), cuLibraryLoadData() and __cudaRegisterFatBinary() take: PTX text
/// that ends with a zero byte, an ELF file of machine code ("cubin"), a fat binary, or the wrapper
/// of fat binaries. A cubin that nvcc has made with -lineinfo or -G holds its PTX. The data carry
/// their own lengths, and are read as far as these say. The texts of nvcc -rdc=true are linked to
/// one image. Throws CallError where they cannot be linked.
std::vector<Image> read_images(const void* data);

/// Returns the newest compute capability that has PTX text in what __cudaRegisterFatBinary() takes,
/// 75 for 7.5, from its headers alone; 0 if none has.
int newest_architecture_with_ptx(const void* wrapper);

/// Returns the newest image that has PTX; null if none has.
const Image* newest_with_ptx(const std::vector<Image>& images);

/// Reads the images of one fat binary, which must not reach beyond `bytes`. Damaged data give an
/// image with a problem.
std::vector<Image> read_fat_binary(std::span<const std::byte> bytes);
/// Returns the PTX that an ELF file of machine code holds, with the lines of the source; empty if
/// it holds none or is damaged.
std::string ptx_of_cubin(std::span<const std::byte> bytes);

}  // namespace warpscope::programs
