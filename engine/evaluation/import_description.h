#pragma once

// How a table's columns become kernels: read from `presets/references/import/*.yaml` (format `orrery: import/1`) for
// tables of others, and from the header of our own (`orrery: references/1`).
//
//     orrery: import/1
//     name: aiconfigurator matrix products
//     source: …                           # also licence, retrieved, software ("{stack}": a part of the file's name),
//                                         # kind, note
//     files: ["{device}__{stack}__gemm.csv"]   # .gz may follow, .parquet stand instead; {…} stands for any letters
//     columns: [m, n, k, …]               # only of a table without a header line
//     device: a100-80-sxm                 # else the column `device`, else {device} of the file's name
//     device_column: device
//     devices: {a100_sxm: a100-80-sxm}    # names in the table → ids of the hardware catalogue
//     defaults: {window_size: 0}          # of columns that some tables lack
//     only: devices_per_node // num_workers    # rows for which this is above zero; the others are not this table's
//     time: {value: latency, unit: ms}    # arithmetic over columns
//     noise: {value: std / mean}          # relative standard deviation
//     timing: host                        # from a call until its end was waited for, launch inside; else `device`
//     weight_copies: 5                    # each kernel was repeated over so many copies of its weights
//     kernel: {kind: gemm, m: B*M, n: K, k: N} # fields of kernel_fields.h; `type_bytes` is the size of dtype
//     words:                              # fields that hang on a word in a column; `time` and `noise` may, too
//       gemm_dtype: {fp8_block: {dtype: fp8, weights: fp8, scale_block: 128}}
//     `fp8@vllm` is what `fp8` says in tables of that engine (whose `software` begins with its name)

#include "base/diagnostic.h"
#include "base/text/expression.h"
#include "base/text/yaml_node.h"
#include "evaluation/reference.h"
#include "workload/kernel_fields.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// One field and where its value comes from: arithmetic, a fixed word, or the words of a column.
struct FieldRule {
    const KernelField* field = nullptr;
    Expression number;
    std::string word;    ///< of a word field: the word itself
    std::string column;  ///< of a word field: the column that holds it
};

/// What one word says.
struct WordCase {
    std::vector<FieldRule> fields;
    std::optional<Expression> time, noise;  ///< instead of the description's, in its unit
};

/// What the words of one column say.
struct WordRule {
    std::string column;
    std::map<std::string, WordCase, std::less<>> words;
};

struct ImportDescription {
    std::string id;    ///< file name without extension
    std::string file;  ///< of the description itself, for messages
    std::string text;  ///< of one that was put together here and stands in no file; else empty
    std::string name, source, licence, retrieved, software, note;
    ReferenceKind kind = ReferenceKind::Measured;
    std::vector<std::string> files;                           ///< patterns
    std::vector<std::string> columns;                         ///< empty: the table has a header line
    std::string device, deviceColumn = "device";              ///< the column counts where no device is stated
    std::map<std::string, std::string, std::less<>> devices;  ///< plainName() → catalogue id
    std::map<std::string, std::string, std::less<>> defaults;
    Expression time;
    std::string timeUnit;
    double secondsPerUnit = 1;
    std::optional<Expression> noise, only;
    std::vector<FieldRule> fields;
    std::vector<WordRule> words;
    bool hostTimed = false;
    int weightCopies = 0;  ///< 0: not said
    bool own = false;      ///< columns that are named like a field, and are in no rule, set that field
};

/// Reads the keys above from a map, except `orrery`, `rows` and `file`, which belong to who calls. `own`: of our own
/// format, where columns named like fields need no `kernel`. Codes `reference.description`, `reference.expression`.
Expected<ImportDescription> readDescription(const YamlNode& root, const std::string& file, bool own = false);
/// A description that was put together as text (column_mapping.h); keeps it.
Expected<ImportDescription> importOf(const std::string& text);
/// A file `orrery: import/1`. Refuses a newer version with `reference.version`.
Expected<ImportDescription> readImportFile(const std::string& path);

struct ImportDescriptions {
    std::vector<ImportDescription> all;  ///< sorted by id
    Diagnostics warnings;                ///< files that cannot be read
};
/// Those of presets/references/import, read once.
const ImportDescriptions& shippedImports();

/// What the placeholders of a pattern stand for in a file's name (its folder, and `.gz`, left aside); nothing if it
/// does not match. `{any}` matches and is not kept.
std::optional<std::map<std::string, std::string>> matchFileName(std::string_view pattern, std::string_view path);
/// Lower case, with one dash for every run of other signs: `Tesla V100-PCIE-32GB` → `tesla-v100-pcie-32gb`.
std::string plainName(std::string_view name);

}  // namespace orrery
