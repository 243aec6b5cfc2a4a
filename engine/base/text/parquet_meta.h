#pragma once

// What a Parquet file says of itself, read from Thrift's compact protocol (apache/thrift, thrift-compact-protocol.md;
// structures of apache/parquet-format, parquet.thrift). Bounds on every length; fields that nobody asked for are
// passed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::parquet {

enum class Physical : std::int8_t { Boolean, Int32, Int64, Int96, Float, Double, ByteArray, FixedBytes };
enum class Repetition : std::int8_t { Required, Optional, Repeated };

struct Leaf {
    std::string name;
    Physical physical = Physical::Int32;
    int fixedBytes = 0;
    bool flat = false;  ///< a child of the root that is not repeated
    bool optional = false;
    bool unsignedInteger = false;
    int decimals = 0;  ///< of a decimal: its integer ÷ 10^decimals
};

struct Chunk {  ///< one column of a row group
    int codec = 0;
    std::int64_t values = 0;
    std::int64_t begin = 0, bytes = 0;  ///< in the file
};

struct RowGroup {
    std::int64_t rows = 0;
    std::vector<Chunk> chunks;  ///< as the leaves
};

struct FileMeta {
    std::int64_t rows = 0;
    std::vector<Leaf> leaves;
    std::vector<RowGroup> groups;
};

struct PageHeader {
    int type = -1;  ///< 0 data, 2 dictionary, 3 data of the second version
    std::int64_t unpackedBytes = 0, packedBytes = 0;
    std::int64_t values = 0;
    int encoding = 0;
    std::int64_t definitionBytes = 0, repetitionBytes = 0;  ///< of the second version
    bool packed = true;
    std::size_t headerBytes = 0;
};

std::optional<FileMeta> readFileMeta(std::string_view footer);
std::optional<PageHeader> readPageHeader(std::string_view bytes);

}  // namespace orrery::parquet
