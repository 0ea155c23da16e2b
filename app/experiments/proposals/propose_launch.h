#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/signature.h"
#include "experiments/host/host_program.h"
#include "experiments/launch_files/launch_file.h"

namespace warpscope::experiments {

/// A file that has nothing yet but the source of `file`, and its place.
LaunchFile file_without_launches(const LaunchFile& file);

/// A kernel to launch, and its launch in the host program; null: there is none.
struct ProposedKernel {
    const compiler::Signature* kernel = nullptr;
    const HostLaunch* host = nullptr;
    /// The kernel is made of a template, and the host program does not say of which arguments.
    bool guesses_template = false;
};

struct ProposedLaunches {
    LaunchFile file;
    /// By launch, what the host program does not say: "n", "the size of x", "the grid".
    std::vector<std::vector<std::string>> guesses;
    /// By launch, the numbers that it does not say and on which only results depend: no address and
    /// no branch.
    std::vector<std::set<std::string>> chosen;
    /// "n is 3976, the host program has 5000": sizes that were made smaller.
    std::vector<std::string> reduced;
    std::vector<HostFault> faults{};
    /// What a person should know: "several streams: …".
    std::vector<std::string> remarks{};
    /// By buffer, the elements from its beginning on that the host program writes, where it does
    /// not write all of them.
    std::map<std::string, Expression> written{};
};

/// The file with a launch of each of these kernels, in this order. Grid, block, shared memory,
/// scalars, and the sizes and numbers of buffers are as in the host program, where it says them.
/// Else numbers and pointers whose names no scalar and no buffer has get a scalar and a buffer, and
/// there are as many threads as elements. Where the kernel reads threadIdx.y, blocks have 16x16
/// threads, otherwise 256. Where it reads an index in y or has two integers, buffers have rows: its
/// first integer is the width, its second one the height. A kernel that never reads blockIdx gets
/// one block. Dynamic shared memory has an element for each thread. Of `variables`, those that the
/// host fills get a buffer.
///
/// Numbers above 4096 become smaller, so that the first picture comes soon, where all sizes depend
/// on them and none of `device_words`, the words of the device code, is their name. The remainder
/// by the block stays.
ProposedLaunches propose_launches(LaunchFile file, std::span<const ProposedKernel> kernels,
                                  const HostProgram& program,
                                  const std::vector<compiler::ModuleVariable>& variables = {},
                                  const std::set<std::string>& device_words = {});

/// The file with one more launch, of this kernel, as its first launch in the host program.
LaunchFile propose_launch(LaunchFile file, const compiler::Signature& kernel,
                          const HostProgram& program = {},
                          const std::vector<compiler::ModuleVariable>& variables = {});

/// The file with a proposed launch of this kernel in the place of its launch `index`. Where that is
/// the only launch, its scalars, buffers and expectations go with it, except the buffers whose
/// names are in `variables`: variables of the source.
LaunchFile replace_launch(LaunchFile file, std::size_t index, const compiler::Signature& kernel,
                          const HostProgram& program, std::span<const std::string> variables);

/// The launch of this kernel in the host program: by its name and the arguments of its template, or
/// else one by its name, or else one by a pointer to a function with as many parameters. Null:
/// there is none.
const HostLaunch* find_launch(const HostProgram& program, const compiler::Signature& kernel);

}  // namespace warpscope::experiments
