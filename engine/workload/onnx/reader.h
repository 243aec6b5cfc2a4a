#pragma once

// From bytes to protobuf messages and from tensor messages to values, with everything checked that a hostile file could
// get wrong. Data outside the file is never read.

#include "base/diagnostic.h"
#include "workload/onnx/value.h"

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>

namespace orrery::onnx_import {

/// The message of a file: at most 2 GiB, not empty, with a graph. Fails saying what else the file seems to be.
Expected<std::shared_ptr<const ::onnx::ModelProto>> readModel(const std::string& path);

/// What is wrong with a tensor: message, expectation.
struct TensorProblem {
    std::string code, message, expected;
};

/// Type, extents and (if few) elements of a stored tensor. Its data may be absent or external: then only the extents
/// are known. Fails on negative or endless extents, on data that disagrees with them, and on a path that leaves the
/// model's folder.
tl::expected<Value, TensorProblem> readTensor(const ::onnx::TensorProto& tensor);

/// Checks a rank and extents against what the importer takes on; empty if all is well.
std::string extentsProblem(const Extents& extents);

}  // namespace orrery::onnx_import
