#include "jobs/debugger/frames.h"

#include <gtest/gtest.h>

namespace warpscope::jobs {
namespace {

TEST(FrameReader, CutsBytesIntoMessages) {
    FrameReader reader;
    reader.add("Content-Length: 2\r\n\r");
    EXPECT_EQ(reader.next(), std::nullopt);
    reader.add("\n{}Content-Type: x\r\nContent-Length: 3\r\n\r\n[1");
    EXPECT_EQ(reader.next(), "{}");
    EXPECT_EQ(reader.next(), std::nullopt);
    reader.add("]" + framed("") + framed("\r\n\r\n"));
    EXPECT_EQ(reader.next(), "[1]");
    EXPECT_EQ(reader.next(), "");
    EXPECT_EQ(reader.next(), "\r\n\r\n");
    EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(FrameReader, RefusesHeadersOfOtherProtocols) {
    for (const char* header :
         {"\r\n\r\n", "Content-Length: \r\n\r\n", "Content-Length: -1\r\n\r\n",
          "Content-Length: 1x\r\n\r\n", "Content-Length: 99999999999\r\n\r\n",
          "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "Content-Type: x\r\n\r\n"}) {
        FrameReader reader;
        reader.add(header);
        EXPECT_THROW(reader.next(), FrameError) << header;
    }
    FrameReader endless;
    endless.add(std::string(FrameReader::most_header + 1, 'x'));
    EXPECT_THROW(endless.next(), FrameError);
}

}  // namespace
}  // namespace warpscope::jobs
