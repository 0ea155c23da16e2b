#pragma once

#include <vector>

#include "emulator/observe/findings.h"

namespace warpscope::emulator {

/// Makes the findings that one change of the source would repair one finding.
///
/// One barrier repairs races of a block whose Finding::barrier have a place in common, and reads of
/// unwritten shared memory at the line of a read that came too early. One atomic operation repairs
/// all races of the accesses with which threads change a word (Finding::needs_atomic).
///
/// A second launch repairs races between blocks as a barrier repairs those of a block, and words
/// that are released and acquired repair those of one pair of lines.
///
/// A barrier of the grid or of a cluster repairs what one of the block repairs, so its race stands
/// for them. Otherwise the plainest pair stands for all: an error before a warning, a read behind a
/// write in the order of the program, the nearest lines. The others become its
/// Finding::repaired_too, and its count is that of all races among them. It takes the place of the
/// most harmful one in the list.
std::vector<Finding> by_repair(const std::vector<Finding>& findings);

}  // namespace warpscope::emulator
