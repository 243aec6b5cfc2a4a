#pragma once

// An edit is a pure function from one project state to the next, with words for the undo list. Document::apply turns
// it into one undo command. To add an edit: one small file pair here that returns Expected<Edit>, nothing else.

#include "app/document/project_state.h"
#include "base/diagnostic.h"
#include "hardware/edit/tree_edit.h"

#include <QString>

namespace orrery::app {

struct Edit {
    ProjectState after;
    QString subject;           ///< `hbm3 bandwidth`, or the whole sentence if there are no values: `Add buffer l1`
    QString from, to;          ///< printed values; empty if the edit has none
    QString target;            ///< edits of one gesture with equal targets become one undo entry; empty: never
    ComponentPaths made = {};  ///< what should be selected now, as paths in the design of `after`

    /// `hbm3 bandwidth 3.35 → 4 TB/s`: a unit that both values share is said once.
    QString text() const;
};

/// A copy of the state in which design `index` is what `change` makes of it. `change` returns Expected<void>.
template <class Change>
Expected<ProjectState> withDesign(const ProjectState& state, int index, const Change& change) {
    if (index < 0 || index >= static_cast<int>(state.hardware.size())) {
        return fail("document.no-hardware", "the project has no hardware to edit", "an open design",
                    "choose a device in the library");
    }
    Hardware design = *state.hardware[static_cast<std::size_t>(index)];
    if (Expected<void> done = change(design); !done) return Unexpected(done.error());
    ProjectState after = state;
    after.hardware[static_cast<std::size_t>(index)] = std::make_shared<const Hardware>(std::move(design));
    return after;
}

/// The component, or a diagnostic that the path leads nowhere.
Expected<Component*> componentOf(Hardware& design, const ComponentPath& path);
/// `0/2/1`, for Edit::target.
QString pathKey(const ComponentPath& path);

}  // namespace orrery::app
