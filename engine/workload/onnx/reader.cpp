#include "workload/onnx/reader.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <new>

namespace orrery::onnx_import {
namespace {

constexpr std::uintmax_t largestFile = 2147483647;  // protobuf's own limit

std::string guess(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 64> head{};
    file.read(head.data(), head.size());
    const std::string_view text(head.data(), static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    if (text.starts_with("version https://git-lfs"))
        return "this is a Git LFS pointer: fetch the file with `git lfs pull`";
    if (text.starts_with("PK")) return "this is a zip archive: a PyTorch file must be exported to ONNX first";
    if (text.starts_with("<")) return "this looks like a web page: the download may have gone wrong";
    if (text.starts_with("{")) return "this looks like JSON: a Hugging Face config.json opens as such";
    const bool printable = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
    });
    if (printable) return "this looks like a text file";
    return "the file may be truncated or not ONNX at all: download or export it again";
}

}  // namespace

Expected<std::shared_ptr<const ::onnx::ModelProto>> readModel(const std::string& path) {
    const Place place{path};
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (error || !std::filesystem::exists(status)) {
        return fail("onnx.missing-file", "the file does not exist", "an ONNX file", "check the path", place);
    }
    if (!std::filesystem::is_regular_file(status)) {
        return fail("onnx.not-a-file", "this is not a regular file", "an ONNX file", "choose a file, not a folder",
                    place);
    }
    const auto size = std::filesystem::file_size(path, error);
    if (error || size == 0) {
        return fail("onnx.empty", "the file is empty", "an ONNX model", "download or export it again", place);
    }
    if (size > largestFile) {
        return fail("onnx.too-large", fmt::format("the file has {} bytes", size), "2 GiB at most",
                    "store the weights as external data: only shapes are read", place);
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return fail("onnx.unreadable", "the file cannot be opened", "a readable file", "check its permissions", place);
    }
    const google::protobuf::LogSilencer quiet;
    auto model = std::make_shared<::onnx::ModelProto>();
    try {
        google::protobuf::io::IstreamInputStream stream(&file, 1 << 20);
        google::protobuf::io::CodedInputStream coded(&stream);
        coded.SetTotalBytesLimit(static_cast<int>(largestFile));
        if (!model->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
            return fail("onnx.parse", "the file is not a whole ONNX message", "an ONNX model", guess(path), place);
        }
    } catch (const std::bad_alloc&) {
        return fail("onnx.memory", "the file needs more memory than there is", "a smaller model", {}, place);
    }
    if (!model->has_graph() || (model->graph().node_size() == 0 && model->graph().output_size() == 0)) {
        return fail("onnx.no-graph", "the file holds no graph", "a model with a graph", guess(path), place);
    }
    return std::shared_ptr<const ::onnx::ModelProto>(std::move(model));
}

std::string extentsProblem(const Extents& extents) {
    if (extents.size() > largestRank) return fmt::format("it has {} dimensions", extents.size());
    double product = 1;
    for (const std::int64_t extent : extents) {
        if (extent < 0 && extent != unknown) return fmt::format("it has an extent of {}", extent);
        if (extent > largestExtent) return fmt::format("it has an extent of {}", extent);
        if (extent > 0) product *= static_cast<double>(extent);
    }
    const bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
    if (product > largestCount && !empty) return fmt::format("{} has more than 2^53 elements", toText(extents));
    return {};
}

}  // namespace orrery::onnx_import
