#pragma once

// What differs between two questions, in the words of their fields.

#include "serving/fields/field_path.h"

namespace orrery {

struct FieldChange {
    std::string path;         ///< of pools and items of lists without their number: `pools/plan/tensor`
    std::string group;        ///< path of the part or list around it; empty: the question itself
    const FieldSpec* spec;    ///< of a list or an option that has come, gone, or changed its length: that of the list
    const FieldTable* table;  ///< that the row stands in
    std::string from, to;     ///< fieldWords(), or the lengths of a list; empty for what is no single value
    bool mattered = true;     ///< before the change; false for what another change has made matter
};
/// In the order of files; what two pools, or two items of a list, have in common once.
std::vector<FieldChange> fieldChanges(const ServingStudy& before, const ServingStudy& after);

/// What a change is called: the field's title, with that of its part or list where other fields are called so too.
std::string titleOf(const FieldChange& change);

}  // namespace orrery
