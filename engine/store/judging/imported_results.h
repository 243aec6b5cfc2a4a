#pragma once

// What other tools say about the same rows, from a CSV that somebody made: they stand in the same tables and plots.
//
//     method,row,predicted_s,low_s,high_s,seconds,methodology
//     my-simulator,0a1b2c3d4e5f,1.23e-4,,,0.8,cycle-accurate
//
// `row` is what `orrery-cli benchmark --questions` and `evaluate --questions` of a judging file write; instead of it
// `device` and `kernel` may stand, word by word. Only `predicted_s` and a way to know the row are needed; `method` is
// the file's name where it is absent. `seconds`: what the answer took.

#include "evaluation/evaluation.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// On a card of results whose file does not say. No method of ours may leave it open, so that it is none of the names.
inline constexpr Methodology unstatedMethodology{0xff};

struct ImportedResults {
    std::string name;                        ///< of the method
    std::string file, hash;                  ///< where from, and of the file's bytes
    std::shared_ptr<const MethodCard> card;  ///< what is known of it; texts live as long as it
    Evaluation evaluation;
    std::size_t unknown = 0;  ///< lines about rows that are not judged here
};

/// One for each method of the file, in the order in which they begin. Fails with `results.…`, file and line: no such
/// column, a time that is none, an unknown methodology, a method with the id of one of ours, two predictions of one
/// row, no line about these rows.
Expected<std::vector<ImportedResults>> readResults(const std::string& file, std::span<const ReferenceTable> tables,
                                                   std::span<const RowRef> rows);

}  // namespace orrery
