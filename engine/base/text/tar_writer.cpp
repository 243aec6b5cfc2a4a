#include "base/text/tar_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <numeric>

namespace orrery {

namespace {

constexpr std::size_t tarBlock = 512, longestName = 99;

// POSIX.1-1988: fields at fixed places, numbers in octal digits, the sum over the header with its own field blank.
std::string tarHeader(const TarText& member, long long modified) {
    std::string header(tarBlock, '\0');
    const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
    put(0, member.name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", member.text.size()));
    put(136, fmt::format("{:011o}", modified));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar");
    put(263, "00");
    const unsigned sum = std::accumulate(header.begin(), header.end(), 0U,
                                         [](unsigned all, char c) { return all + static_cast<unsigned char>(c); });
    put(148, fmt::format("{:06o}", sum));
    header[154] = '\0';
    return header;
}

std::string gzipped(std::string& text) {
    z_stream stream{};
    constexpr int gzip = 15 + 16, usualMemory = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip, usualMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

}  // namespace

Expected<std::string> packedTar(const std::vector<TarText>& texts, long long modified) {
    std::string archive;
    for (const TarText& each : texts) {
        if (each.name.empty() || each.name.size() > longestName || each.name.front() == '/' ||
            each.name.find("..") != std::string::npos || each.name.find('\0') != std::string::npos) {
            return fail("archive.name", fmt::format("`{}` cannot be the name of a member", each.name),
                        fmt::format("at most {} bytes, below the folder of the archive", longestName),
                        "give the file a shorter name");
        }
        archive += tarHeader(each, modified);
        archive += each.text;
        archive.resize((archive.size() + tarBlock - 1) / tarBlock * tarBlock, '\0');
    }
    archive.append(2 * tarBlock, '\0');
    return gzipped(archive);
}

}  // namespace orrery
