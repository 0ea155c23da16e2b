#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/kernel_edit.h"
#include "ui/documents/kernel_document.h"

namespace warpscope::ui {

/// The documents of all kernel files, each made when it is first asked for.
class KernelDocuments {
  public:
    /// The text of kernels/`file`.cu that is built in; empty where there is no such file.
    static std::string_view shipped(std::string_view file);

    /// The document of kernels/`file`.cu, such as "ripple" or "gallery/life".
    KernelDocument& operator[](const std::string& file);
    /// The document of the source file at `path`, which has this text. The document begins anew
    /// with it unless it has this text of this file already.
    KernelDocument& open(const std::string& file, std::string_view text, const std::string& path);

    /// nullptr: nobody has asked for it.
    const KernelDocument* find(const std::string& file) const;
    /// KernelDocument::shipped() of a file.
    std::string_view text_before_edits(const std::string& file) const;

    /// Counts the changes of all texts.
    std::uint64_t version() const;
    /// Every text that differs from the one that is built in.
    compute::Sources edited_sources() const;
    /// Every text, by file, without a copy.
    std::map<std::string, SharedText> texts() const;
    std::map<std::string, std::shared_ptr<const EditOutcome>> outcomes() const;
    /// The files with this state.
    std::vector<std::string> files(EditState state) const;

  private:
    std::map<std::string, KernelDocument, std::less<>> documents_;
    std::uint64_t closed_ = 0;  ///< the part of version() of documents that began anew
};

}  // namespace warpscope::ui
