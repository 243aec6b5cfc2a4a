#include "simulation/systolic/trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>

namespace orrery::systolic {

Expected<std::unique_ptr<CsvTrace>> CsvTrace::open(const std::string& file) {
    std::FILE* handle = std::fopen(file.c_str(), "wb");
    if (handle == nullptr) {
        return fail("systolic.trace", fmt::format("the trace cannot be written: {}", std::strerror(errno)),
                    "a file that can be created", "check the folder and its permissions", {.file = file});
    }
    std::unique_ptr<CsvTrace> trace(new CsvTrace(handle));
    trace->buffer_ =
        "layer,cycle,fold,ifmap_reads,filter_reads,ofmap_writes,ifmap_fetched,filter_fetched,active_pes,stall\n";
    return trace;
}

CsvTrace::~CsvTrace() {
    close();
}

void CsvTrace::layer(const std::string& name) {
    layer_.clear();
    // A field of CSV: quoted, with quotes doubled.
    layer_ += '"';
    for (const char c : name) {
        if (c == '"') layer_ += '"';
        layer_ += c;
    }
    layer_ += '"';
}

bool CsvTrace::cycle(const CycleRow& row) {
    fmt::format_to(std::back_inserter(buffer_), "{},{},{},{},{},{},{},{},{},{}\n", layer_, row.cycle, row.fold,
                   row.ifmapReads, row.filterReads, row.ofmapWrites, row.ifmapFetched, row.filterFetched, row.activePes,
                   row.stall);
    return buffer_.size() < (std::size_t{1} << 20) || flush();
}

bool CsvTrace::flush() {
    if (file_ == nullptr) return false;
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) good_ = false;
    buffer_.clear();
    return good_;
}

bool CsvTrace::close() {
    if (file_ == nullptr) return good_;
    flush();
    if (std::fclose(file_) != 0) good_ = false;
    file_ = nullptr;
    return good_;
}

}  // namespace orrery::systolic
