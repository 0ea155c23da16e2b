#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/signature.h"
#include "files/sentence.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// Sets what the PTX shows about the launches of each signature whose kernel is in it: all of
/// LaunchTraits but the dimensions. Throws LaunchError for a kernel whose arrays in shared memory
/// no block can have.
void read_launch_traits(std::string_view ptx, std::span<compiler::Signature> signatures);

/// A file that has nothing yet but the source of `file`, and its place.
launches::LaunchFile file_without_launches(const launches::LaunchFile& file);

struct ProposedLaunch {
    launches::LaunchFile file;
    std::vector<files::Sentence> guesses;  ///< "n", "the size of x", "the grid"
};

/// The file with one more launch, of this kernel, guessed from its signature. Numbers and pointers
/// whose names no scalar and no buffer has get a scalar and a buffer, as do the members of
/// structures, and there are as many threads as elements. Where the kernel reads threadIdx.y,
/// blocks have 16x16 threads, otherwise 256. Where it reads an index in y or has two integers,
/// buffers have rows: its first integer is the width, its second one the height. A kernel that
/// never reads blockIdx gets one block. Dynamic shared memory has an element for each thread. Of
/// `variables`, those that the host fills get a buffer.
ProposedLaunch propose_launch(launches::LaunchFile file, const compiler::Signature& kernel,
                              std::span<const compiler::ModuleVariable> variables = {});

/// The file with a proposed launch of this kernel in the place of its launch `index`. Where that is
/// the only launch, its scalars, buffers and expectations go with it, except the buffers whose
/// names are in `variables`: variables of the source.
launches::LaunchFile replace_launch(launches::LaunchFile file, std::size_t index,
                                    const compiler::Signature& kernel,
                                    std::span<const std::string> variables);

}  // namespace warpscope::experiments
