#include "base/text/parquet.h"

#include "base/text/parquet_pages.h"

#include <algorithm>
#include <cstring>

namespace orrery {

namespace {

constexpr std::string_view magic = "PAR1";

Unexpected unreadable(const std::string& path, std::string why) {
    return fail("reference.unreadable", "cannot read the Parquet file: " + std::move(why),
                "a flat table in Parquet, unpacked or with Snappy, gzip or Zstandard",
                "write it as CSV or Parquet again", Place{path, 0, 0, {}});
}

}  // namespace

bool looksLikeParquet(std::string_view head) {
    return head.starts_with(magic);
}

struct ParquetRows::State {
    std::string bytes, path;
    parquet::FileMeta meta;
    std::vector<std::size_t> leaves;  // that are read
    std::vector<parquet::Column> columns;
    std::size_t group = 0, row = 0;
    bool named = false;

    Expected<void> load() {
        const auto& next = meta.groups[group];
        columns.clear();
        for (const std::size_t leaf : leaves) {
            auto column = parquet::readColumn(bytes, meta.leaves[leaf], next.chunks[leaf], next.rows);
            if (!column) return unreadable(path, column.error());
            columns.push_back(std::move(*column));
        }
        return {};
    }
    void names(std::string& lines) const {
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            if (i > 0) lines += ',';
            for (const char c : meta.leaves[leaves[i]].name) {
                lines += static_cast<unsigned char>(c) < ' ' || std::strchr(",;\"", c) ? '_' : c;
            }
        }
        lines += '\n';
    }
};

ParquetRows::ParquetRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
ParquetRows::ParquetRows(ParquetRows&&) noexcept = default;
ParquetRows& ParquetRows::operator=(ParquetRows&&) noexcept = default;
ParquetRows::~ParquetRows() = default;

Expected<ParquetRows> ParquetRows::open(std::string bytes, std::string path) {
    const std::size_t size = bytes.size();
    std::uint32_t footer = 0;
    if (size < 12 || !looksLikeParquet(bytes) || !bytes.ends_with(magic)) {
        return unreadable(path, bytes.ends_with("PARE") ? "it is encrypted" : "it is damaged or cut short");
    }
    std::memcpy(&footer, bytes.data() + size - 8, 4);
    if (footer > size - 12) return unreadable(path, "it is damaged or cut short");
    auto meta = parquet::readFileMeta(std::string_view(bytes).substr(size - 8 - footer, footer));
    if (!meta) return unreadable(path, "its description is damaged");
    auto state = std::make_unique<State>();
    for (std::size_t i = 0; i < meta->leaves.size(); ++i) {
        if (meta->leaves[i].flat) state->leaves.push_back(i);
    }
    if (state->leaves.empty()) return unreadable(path, "it has no column of plain values");
    std::int64_t rows = 0;
    for (const auto& group : meta->groups) {
        if (group.rows > mostRows || (rows += group.rows) > mostRows)
            return unreadable(path, "it has more than 2^25 rows");
        if (group.rows > mostCells / static_cast<std::int64_t>(state->leaves.size()))
            return unreadable(path, "one of its row groups has more than 2^26 cells");
    }
    state->bytes = std::move(bytes);
    state->path = std::move(path);
    state->meta = std::move(*meta);
    return ParquetRows(std::move(state));
}

Expected<bool> ParquetRows::append(std::string& lines) {
    State& s = *state_;
    if (!s.named) {
        s.named = true;
        s.names(lines);
        return true;
    }
    while (s.group < s.meta.groups.size()) {
        if (s.row == 0 && s.meta.groups[s.group].rows > 0) {
            if (auto good = s.load(); !good) return Unexpected(good.error());
        }
        if (s.row < static_cast<std::size_t>(s.meta.groups[s.group].rows)) break;
        ++s.group;
        s.row = 0;
    }
    if (s.group >= s.meta.groups.size()) return false;
    const std::size_t begin = lines.size();
    for (std::size_t i = 0; i < s.columns.size(); ++i) {
        if (i > 0) lines += ',';
        s.columns[i].append(s.row, s.meta.leaves[s.leaves[i]], lines);
    }
    // A line without a mark would be passed over as empty.
    if (lines.size() == begin) lines += "\"\"";
    lines += '\n';
    ++s.row;
    return true;
}

}  // namespace orrery
