#pragma once

// Measured kernels as a table: our own portable format, and any CSV through an import description
// (presets/references/import/*.yaml) that maps its columns.

#include "base/diagnostic.h"
#include "evaluation/import_description.h"
#include "evaluation/reference.h"
#include "methods/kernel_method.h"
#include "workload/kernel.h"

#include <map>
#include <memory>
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

/// A row that is a whole model and not a kernel.
struct ModelRow {
    WorkloadRecipe recipe;
    std::string launch, fusion;  ///< how its software ran it, where the source says so
    Task task = Pass{};
    Plan plan = {};           ///< on which devices of the row's design
    std::string publication;  ///< as calibrations that were fitted to such rows name it; empty: none was
};

struct ReferenceTable {
    std::string name, file, software, source, licence, retrieved;
    ReferenceKind kind = ReferenceKind::Measured;
    bool hostTimed = false;   ///< a host called, waited and looked at its clock: its launches are inside
    int weightCopies = 0;     ///< over which each kernel was repeated; 0: not said
    std::string import = {};  ///< ImportDescription::text by which it was read
    std::vector<ReferenceDevice> devices;
    std::vector<ReferenceRow> rows;
    /// Parallel to `rows` where they are whole models: their kernels are of kind Other and have a name alone. Empty:
    /// rows are kernels.
    std::vector<ModelRow> models = {};
    Diagnostics warnings;  ///< rows left out, with why and how many
    std::string hash;
};

/// `device=h100-sxm`, `dtype=bf16`, `kind=gemm`, `variant=…`, `software=…`, `table=…`, `function=…`, `collective=…`,
/// `library=…`, what row_facets.h knows (`platform=GPU`, `class=…`, `level=model`, `truth=measured`), and extents by
/// their field names, as a number or a range (`m=1..64`, `k=4096..`): comma-separated terms must all hold; a term's
/// alternatives stand between `|`. `dtype` is that of all operands: `bf16` does not take products with 8-bit weights,
/// those are `int8_wo`; `fp8` has one scale per tensor, `fp8_block` one per block.
struct ReferenceFilter {
    std::vector<std::pair<std::string, std::vector<std::string>>> terms;
    bool accepts(const ReferenceTable& table, const ReferenceRow& row) const;
};
Expected<ReferenceFilter> parseFilter(std::string_view text);

struct ReadOptions {
    std::string device;       ///< catalogue id for rows whose device the catalogue does not know; empty: none
    std::string description;  ///< id of an import description, or a file that holds one; empty: the one that matches
    ReferenceFilter filter;   ///< rows that it does not accept are not kept
    std::shared_ptr<const ImportDescription> mapping;  ///< instead of a description that is found by name
};
inline constexpr std::size_t mostReferenceRows = 1'500'000;  ///< of all tables together, about 320 B each

/// Reads `*.yaml` (our format: header, with the CSV beside or inside it; or `model-references/1`), or a CSV (plain or
/// gzipped) for which an import description matches its file name or else its columns, or a folder: all tables in it
/// that a description knows. Rows that cannot be true (a hundred times faster than the device's peak) are left out with
/// a warning. Fails with `reference.…`, file and line.
Expected<std::vector<ReferenceTable>> readReferences(std::span<const std::string> files,
                                                     const ReadOptions& options = {});
/// The small tables of kernels and of whole models in presets/references, read once; what cannot be read is named in
/// the warnings of an empty table.
const std::vector<ReferenceTable>& shippedReferences();

/// Rows of the tables, one entry per device of the catalogue, ready to be fitted. Rows of devices that the catalogue
/// lacks, or that are no GPUs, are left out with a warning. Fails with `reference.no-rows`.
Expected<std::vector<KernelRows>> kernelRows(std::span<const ReferenceTable> tables, const ReferenceFilter& filter,
                                             Diagnostics& warnings);

}  // namespace orrery
