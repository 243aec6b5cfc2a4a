#pragma once

// The difference of two designs as parts and times, old → new: what each change alone does to the old design's answer,
// and what they do together.

#include "hardware/edit/difference.h"
#include "study/comparison/cases.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct ChangeEffect {
    Difference difference;
    std::string text;             ///< `hbm3 bandwidth 3.35 → 4 TB/s`
    std::string path;             ///< of the part, in the old design where it is there: `system/h100/hbm3`
    std::optional<Ranged> alone;  ///< the time of the old design with this change alone; nothing: see `why`
    std::string why;              ///< parts added, removed or moved cannot be taken alone; or the answer's refusal
};

struct ChangeEffects {
    Ranged before, after;               ///< times of the old design and of the new one
    std::vector<ChangeEffect> changes;  ///< in the order of differences()
};

/// At most so many changes are answered alone, the first ones.
inline constexpr std::size_t mostChangesAlone = 64;

/// Both cases are answered by the first one's method. Fails with `compare.no-answer`, `compare.question`
/// for two kinds of question, `study.cancelled`.
Expected<ChangeEffects> changeEffects(const AnsweredCase& before, const AnsweredCase& after,
                                      const CompareOptions& options);

}  // namespace orrery
