#pragma once

// A `.param` file of ncnn as it stands: layers with the blobs that they read and write and their numbered parameters.
// https://github.com/Tencent/ncnn/wiki/param-and-model-file-structure

#include "base/diagnostic.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orrery {

struct NcnnLayer {
    std::string type, name;
    std::vector<std::string> inputs, outputs;
    std::map<int, double> values;               ///< `0=64`
    std::map<int, std::vector<double>> arrays;  ///< `-23300=2,58,-233` as 0 → {58, −233}; −23330 as 30
    int line = 0;

    std::int64_t whole(int key, std::int64_t otherwise) const;
};

struct NcnnFile {
    std::vector<NcnnLayer> layers;
};

/// Fails with `ncnn.not-param`, `ncnn.bad-line`, `ncnn.bad-number`, `ncnn.truncated`, `ncnn.unknown-blob`, with line.
Expected<NcnnFile> readNcnnParam(const std::string& path);

}  // namespace orrery
