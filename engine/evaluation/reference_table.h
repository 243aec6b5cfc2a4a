#pragma once

// Measured kernels as a table: our own portable format, and any CSV through an import description
// (presets/references/import/*.yaml) that maps its columns.

#include "base/diagnostic.h"
#include "evaluation/reference.h"
#include "methods/kernel_method.h"
#include "workload/kernel.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ReferenceRow {
    std::int32_t device = 0;  ///< index into ReferenceTable::devices
    Kernel kernel;
    double seconds = 0;
    double noise = 0;       ///< relative standard deviation; 0 if not known
    std::int32_t line = 0;  ///< of the file
};

struct ReferenceDevice {
    std::string name;       ///< as the file says: `Tesla V100-PCIE-32GB`
    std::string catalogue;  ///< id in the hardware catalogue; empty: not there
};

struct ReferenceTable {
    std::string name, file, software, source, licence, retrieved;
    ReferenceKind kind = ReferenceKind::Measured;
    std::vector<ReferenceDevice> devices;
    std::vector<ReferenceRow> rows;
    Diagnostics warnings;  ///< rows left out, with why and how many
    std::string hash;
};

/// Reads `*.yaml` (our format: header, with the CSV beside or inside it) or a CSV (plain or gzipped) for which an
/// import description matches its file name and columns. Fails with `reference.…` and file, line.
Expected<std::vector<ReferenceTable>> readReferences(std::span<const std::string> files);

/// `device=h100-sxm`, `dtype=bf16`, `kind=gemm`, `variant=…`, `software=…`: comma-separated terms must all hold; a
/// term's alternatives stand between `|`.
struct ReferenceFilter {
    std::vector<std::pair<std::string, std::vector<std::string>>> terms;
    bool accepts(const ReferenceTable& table, const ReferenceRow& row) const;
};
Expected<ReferenceFilter> parseFilter(std::string_view text);

/// Rows of the tables by device, with the catalogue's views, ready to be fitted or asked.
Expected<std::vector<KernelRows>> kernelRows(std::span<const ReferenceTable> tables, const ReferenceFilter& filter,
                                             Diagnostics& warnings);

}  // namespace orrery
