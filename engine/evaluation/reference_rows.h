#pragma once

// From the lines of a table to kernels, as an import description says.

#include "base/text/csv_stream.h"
#include "evaluation/import_description.h"
#include "evaluation/reference_table.h"

#include <functional>
#include <map>
#include <string>

namespace orrery {

/// Lines that were left out for one reason: the first of them and how many.
struct LeftOut {
    Diagnostic first;
    std::size_t count = 0;
};

struct RowReading {
    std::string fileDevice;  ///< as the file's name says; may be empty
    /// Catalogue id of a device's name; empty if there is none.
    std::function<std::string(std::string_view)> catalogueId;
    const ReferenceFilter* filter = nullptr;  ///< rows that it does not accept are not kept
    std::size_t most = 0;                     ///< rows to keep at most
};

/// Appends to `table` (whose head is filled already) the rows of the stream. Lines without a sound kernel or a positive
/// finite time are left out and named in the table's warnings, repeated lines too. Fails with `reference.no-column`,
/// `reference.empty` (no lines), `reference.no-rows` (none that is sound), `reference.too-many`,
/// `reference.unreadable`.
Expected<void> readRows(CsvStream& stream, const ImportDescription& description, const RowReading& reading,
                        ReferenceTable& table);

}  // namespace orrery
