#include "ui/documents/kernel_documents.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

TEST(KernelDocumentsTest, ADocumentBeginsWithTheTextThatIsBuiltIn) {
    KernelDocuments documents;
    EXPECT_EQ(documents["ripple"].text(), KernelDocuments::shipped("ripple"));
    EXPECT_FALSE(documents["ripple"].edited());
    EXPECT_EQ(documents["ripple"].state(), EditState::shipped);
    EXPECT_EQ(documents.version(), 0U);
    EXPECT_TRUE(documents.edited_sources().empty());
}

TEST(KernelDocumentsTest, AChangeOfAnyTextIsCountedAndListed) {
    KernelDocuments documents;
    documents["ripple"].replace("a");
    documents["ripple"].replace("a");  // no change
    EXPECT_EQ(documents.version(), 1U);
    documents["dot"].replace("b");
    documents["dot"].undo();
    EXPECT_EQ(documents.version(), 3U);
    EXPECT_EQ(documents.edited_sources(), (compute::Sources{{"ripple", "a"}}));
}

TEST(KernelDocumentsTest, TheStateIsThatOfTheTextThatWasTried) {
    KernelDocuments documents;
    KernelDocument& document = documents["ripple"];
    document.replace("a");
    EXPECT_EQ(document.state(), EditState::waiting);
    EXPECT_EQ(documents.files(EditState::waiting), std::vector<std::string>{"ripple"});
    document.set_outcome({EditState::running, document.shared_text(), {}, ""});
    EXPECT_EQ(document.state(), EditState::running);
    document.replace("b");
    EXPECT_EQ(document.state(), EditState::waiting);
    EXPECT_EQ(*document.outcome()->text, "a");
    document.undo();
    EXPECT_EQ(document.state(), EditState::running);
}

TEST(KernelDocumentsTest, ATextThatWasHandedOutDoesNotChange) {
    KernelDocuments documents;
    KernelDocument& document = documents["ripple"];
    document.replace("a");
    const SharedText before = document.shared_text();
    document.typed("ab", 2);
    EXPECT_EQ(*before, "a");
    EXPECT_EQ(document.text(), "ab");
    EXPECT_NE(document.shared_text(), before);
}

}  // namespace
}  // namespace warpscope::ui
